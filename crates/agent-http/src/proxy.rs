//! Which requests go through a proxy.

use std::{fmt, sync::Arc};

use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::Matcher;

/// The proxies of a stack. The default is what the environment says.
#[derive(Clone)]
pub struct Proxies(Option<Arc<Matcher>>);

/// A proxy for one address.
#[derive(Clone)]
pub(crate) struct Proxy {
    pub(crate) uri: Uri,
    pub(crate) authorization: Option<HeaderValue>,
}

impl Proxies {
    /// No proxy, whatever the environment says.
    pub fn none() -> Self {
        Self(None)
    }

    /// What `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` say, or their names in lower case;
    /// read once, here. `http` requests are sent to their proxy as they are, `https` ones through a
    /// tunnel. A user and password in the address of a proxy are sent to the proxy alone.
    ///
    /// Nothing is read where `REQUEST_METHOD` is set: in a CGI program the client chooses the value
    /// of `HTTP_PROXY`. An address that is none is ignored.
    pub fn environment() -> Self {
        let except = ["NO_PROXY", "no_proxy"].iter().find_map(|name| std::env::var(name).ok()).unwrap_or_default();
        if excepts_all(&except) {
            return Self::none();
        }
        Self(Some(Arc::new(Matcher::from_env())))
    }

    /// This proxy for everything but the hosts of `except`, which is written as `NO_PROXY` is: names
    /// (with what is below them), addresses, networks like `10.0.0.0/8`, `*`, with commas between.
    pub fn all(proxy: &str, except: &str) -> Self {
        if excepts_all(except) {
            return Self::none();
        }
        Self(Some(Arc::new(Matcher::builder().all(proxy.to_owned()).no(except.to_owned()).build())))
    }

    pub(crate) fn for_uri(&self, uri: &Uri) -> Option<Proxy> {
        let intercept = self.0.as_ref()?.intercept(uri)?;
        let mut authorization = intercept.basic_auth().cloned();
        if let Some(value) = &mut authorization {
            value.set_sensitive(true);
        }
        Some(Proxy { uri: intercept.uri().clone(), authorization })
    }
}

/// The matcher takes `*` for all names, not for addresses.
fn excepts_all(except: &str) -> bool {
    except.split(',').any(|entry| entry.trim() == "*")
}

impl Default for Proxies {
    fn default() -> Self {
        Self::environment()
    }
}

impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The matcher shows its addresses without users and passwords.
        f.debug_tuple("Proxies").field(&self.0).finish()
    }
}
