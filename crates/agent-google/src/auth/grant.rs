//! By what a token is asked for.

use std::fmt;

use agent_core::{Body, ProviderError, RawJson, Secret};
use http::{Request, Uri, header};

use super::{AuthorizedUser, MetadataServer, ServiceAccount, failed};
use crate::json::Members;

pub(super) const TOKEN_URI: &str = "https://oauth2.googleapis.com/token";
pub(super) const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

/// By what a token is asked for.
#[derive(Clone)]
#[non_exhaustive]
pub enum TokenGrant {
    /// The key of a service account.
    ServiceAccount(ServiceAccount),
    /// A person who has logged in.
    AuthorizedUser(AuthorizedUser),
    /// The machine that we run on.
    MetadataServer(MetadataServer),
}

impl TokenGrant {
    /// Reads a credentials file as Google Cloud hands it out (`GOOGLE_APPLICATION_CREDENTIALS`, or
    /// `application_default_credentials.json` of the command line tool): a service account or an authorized user.
    /// Reading the file is the caller's.
    ///
    /// # Errors
    /// [`ProviderError`] of kind `Auth` that says what is missing; of a service account without the feature
    /// `service-account`, which signs.
    pub fn from_json(text: &str) -> Result<Self, ProviderError> {
        let file = Members::read(text).ok_or_else(|| failed("the credentials are no JSON object"))?;
        let field = |name: &str| {
            let missing = || failed(format!("the credentials have no `{name}`"));
            file.text(name).filter(|text| !text.trim().is_empty()).ok_or_else(missing)
        };
        match &*field("type")? {
            "service_account" => {
                let key = Secret::new(&*field("private_key")?);
                let mut account = service_account(&field("client_email")?, &key)?;
                if let Ok(id) = field("private_key_id") {
                    account = account.key_id(id);
                }
                if let Ok(uri) = field("token_uri") {
                    account = account.token_uri(&uri)?;
                }
                Ok(account.into())
            }
            "authorized_user" => {
                let secrets = (Secret::new(&*field("client_secret")?), Secret::new(&*field("refresh_token")?));
                let mut user = AuthorizedUser::new(field("client_id")?, secrets.0, secrets.1);
                if let Ok(uri) = field("token_uri") {
                    user = user.token_uri(&uri)?;
                }
                Ok(user.into())
            }
            kind => Err(failed(format!("credentials of the type `{kind}` are not supported"))),
        }
    }

    /// The request for a token. `now_ms` is in milliseconds since the Unix epoch.
    pub(super) fn request(&self, now_ms: u64) -> Result<Request<Body>, ProviderError> {
        match self {
            Self::ServiceAccount(account) => account.request(now_ms),
            Self::AuthorizedUser(user) => user.request(),
            Self::MetadataServer(server) => server.request(),
        }
    }
}

#[cfg(feature = "service-account")]
fn service_account(email: &str, key: &Secret) -> Result<ServiceAccount, ProviderError> {
    let signer = super::RsaSigner::from_pem(key)?;
    Ok(ServiceAccount::new(email, std::sync::Arc::new(signer)))
}

#[cfg(not(feature = "service-account"))]
fn service_account(_: &str, _: &Secret) -> Result<ServiceAccount, ProviderError> {
    Err(failed("a service account signs: switch the feature `service-account` of agent-google on"))
}

/// An address that a secret may be sent to: over TLS, or to this machine.
pub(super) fn safe(address: &str) -> Result<String, ProviderError> {
    let address = address.trim();
    let uri: Uri = address.parse().map_err(|e| failed("the address of the token server is none").with_source(e))?;
    let local = matches!(uri.host(), Some("127.0.0.1" | "localhost" | "[::1]"));
    match uri.scheme_str() {
        Some("https") => Ok(address.to_owned()),
        Some("http") if local => Ok(address.to_owned()),
        _ => Err(failed("the address of the token server has to begin with `https://`")),
    }
}

/// A form as the body of a request to a token server.
pub(super) fn form(address: &str, fields: &[(&str, &str)]) -> Result<Request<Body>, ProviderError> {
    let mut body = String::new();
    for (i, (name, value)) in fields.iter().enumerate() {
        body.push_str(if i > 0 { "&" } else { "" });
        body.push_str(name);
        body.push('=');
        body.push_str(&crate::place::escape_segment(value));
    }
    let length = body.len();
    Request::post(address)
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(header::CONTENT_LENGTH, length)
        .body(Body::full(body))
        .map_err(|e| failed("the address of the token server is none").with_source(e))
}

/// The JSON of something that cannot fail to have one.
pub(super) fn json<T: serde::Serialize>(value: &T) -> Result<RawJson, ProviderError> {
    RawJson::of(value).map_err(|e| failed("a token cannot be written").with_source(e))
}

impl From<ServiceAccount> for TokenGrant {
    fn from(account: ServiceAccount) -> Self {
        Self::ServiceAccount(account)
    }
}

impl From<AuthorizedUser> for TokenGrant {
    fn from(user: AuthorizedUser) -> Self {
        Self::AuthorizedUser(user)
    }
}

impl From<MetadataServer> for TokenGrant {
    fn from(server: MetadataServer) -> Self {
        Self::MetadataServer(server)
    }
}

impl fmt::Display for TokenGrant {
    /// Who is asked, for errors.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ServiceAccount(account) => write!(f, "the token server of the service account {}", account.email()),
            Self::AuthorizedUser(_) => f.write_str("the token server of the authorized user"),
            Self::MetadataServer(server) => write!(f, "the metadata server {}", server.address()),
        }
    }
}

impl fmt::Debug for TokenGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenGrant({self})")
    }
}
