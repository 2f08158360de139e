//! The settings of a stack.

use std::{collections::HashMap, fmt, net::SocketAddr, sync::Arc, time::Duration};

use agent_core::{BoxError, Timer};
use http::HeaderValue;
use rustls::pki_types::CertificateDer;

use super::{
    ConnectRetryLayer, GzipLayer, HostLimitLayer, HttpStack, IdleReadLayer, Layer, RedirectLayer, TraceLayer,
    UserAgentLayer,
};
use crate::{
    Proxies, Roots,
    connect::{ConnectSettings, Connector},
    tls::{self, Tls},
    transport::Transport,
};

/// What is wrong with the settings of a stack.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// An added certificate cannot be read.
    #[error("a certificate cannot be read: give PEM or DER")]
    Certificate {
        /// Why.
        source: BoxError,
    },
    /// The build has no crypto provider for TLS.
    #[error("there is no TLS crypto provider: switch the feature `ring` or `aws-lc-rs` of agent-http on")]
    NoCryptoProvider,
}

/// Settings of a stack; what is not set has the default that its setter names.
#[derive(Clone)]
pub struct HttpStackBuilder {
    timer: Arc<dyn Timer>,
    connect_timeout: Duration,
    head_timeout: Duration,
    idle_read_timeout: Duration,
    connect_retries: (u32, Duration),
    exchanges_per_host: usize,
    user_agent: HeaderValue,
    proxies: Option<Proxies>,
    roots: Roots,
    certificates: Vec<CertificateDer<'static>>,
    http2: bool,
    resolve: HashMap<String, SocketAddr>,
}

impl HttpStackBuilder {
    pub(super) fn new(timer: Arc<dyn Timer>) -> Self {
        Self {
            timer,
            connect_timeout: Duration::from_secs(10),
            head_timeout: Duration::from_secs(120),
            idle_read_timeout: Duration::from_secs(120),
            connect_retries: (2, Duration::from_millis(200)),
            exchanges_per_host: 256,
            user_agent: HeaderValue::from_static(concat!("mainspring/", env!("CARGO_PKG_VERSION"))),
            proxies: None,
            roots: Roots::default(),
            certificates: Vec::new(),
            http2: true,
            resolve: HashMap::new(),
        }
    }

    /// How long look-up, connection, tunnel and TLS handshake may take together: 10 seconds.
    #[must_use]
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    /// How long the response head may take once the request was sent: 120 seconds.
    #[must_use]
    pub fn head_timeout(mut self, limit: Duration) -> Self {
        self.head_timeout = limit;
        self
    }

    /// How long a response body may be silent: 120 seconds. Any byte counts, those of comments too.
    #[must_use]
    pub fn idle_read_timeout(mut self, limit: Duration) -> Self {
        self.idle_read_timeout = limit;
        self
    }

    /// How often a failed connection is tried again, and after which delay at first: twice, 200 ms.
    #[must_use]
    pub fn connect_retries(mut self, times: u32, first: Duration) -> Self {
        self.connect_retries = (times, first);
        self
    }

    /// How many exchanges with one host go on at once, and how many of its connections are kept unused: 256.
    #[must_use]
    pub fn exchanges_per_host(mut self, limit: usize) -> Self {
        self.exchanges_per_host = limit;
        self
    }

    /// Who sends, by convention `name/version`.
    #[must_use]
    pub fn user_agent(mut self, value: HeaderValue) -> Self {
        self.user_agent = value;
        self
    }

    /// The proxies: those of the environment.
    #[must_use]
    pub fn proxies(mut self, proxies: Proxies) -> Self {
        self.proxies = Some(proxies);
        self
    }

    /// Which certificate authorities are trusted: Mozilla's.
    #[must_use]
    pub fn roots(mut self, roots: Roots) -> Self {
        self.roots = roots;
        self
    }

    /// Trusts these certificates, too: PEM (one or more) or DER (one).
    ///
    /// # Errors
    /// [`BuildError::Certificate`] where there is none in the bytes, or a broken one.
    pub fn certificate(mut self, bytes: &[u8]) -> Result<Self, BuildError> {
        self.certificates.extend(tls::certificates(bytes)?);
        Ok(self)
    }

    /// Never agrees on HTTP/2, for servers that do it badly. Otherwise the server chooses.
    #[must_use]
    pub fn http1_only(mut self) -> Self {
        self.http2 = false;
        self
    }

    /// Connects to this address where a request names this host, instead of looking it up; port 0
    /// keeps the request's. The certificate is still the host's.
    #[must_use]
    pub fn resolve(mut self, host: impl Into<String>, address: SocketAddr) -> Self {
        self.resolve.insert(host.into(), address);
        self
    }

    /// The stack. Nothing is opened or read before the first request, but for the environment's
    /// proxies.
    pub fn build(self) -> HttpStack {
        let connector = Connector(Arc::new(ConnectSettings {
            tls: Tls::new(self.roots, self.certificates, self.http2),
            proxies: self.proxies.unwrap_or_default(),
            resolve: self.resolve,
            timeout: self.connect_timeout,
            timer: self.timer.clone(),
        }));
        let service = Transport::new(connector, self.head_timeout, self.exchanges_per_host);
        let service = IdleReadLayer::new(self.idle_read_timeout, self.timer.clone()).layer(service);
        let (times, first) = self.connect_retries;
        let service = ConnectRetryLayer::new(times, first, self.timer).layer(service);
        let service = HostLimitLayer::new(self.exchanges_per_host).layer(service);
        let service = GzipLayer::new().layer(service);
        let service = RedirectLayer::new().layer(service);
        let service = TraceLayer::new().layer(service);
        HttpStack(UserAgentLayer::new(self.user_agent).layer(service))
    }
}

impl fmt::Debug for HttpStackBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpStackBuilder")
            .field("connect_timeout", &self.connect_timeout)
            .field("head_timeout", &self.head_timeout)
            .field("idle_read_timeout", &self.idle_read_timeout)
            .field("connect_retries", &self.connect_retries)
            .field("exchanges_per_host", &self.exchanges_per_host)
            .field("proxies", &self.proxies)
            .field("roots", &self.roots)
            .field("http2", &self.http2)
            .finish_non_exhaustive()
    }
}
