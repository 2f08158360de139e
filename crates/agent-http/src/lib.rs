//! The native HTTP transport of Mainspring: hyper and rustls as one tower service, the layers around
//! it, and credentials from the environment, files and commands.
//!
//! ```no_run
//! use agent_core::{Body, HttpClient};
//! use agent_http::HttpStack;
//!
//! # async fn example() -> Result<(), agent_core::HttpError> {
//! let client = HttpClient::from(HttpStack::shared());
//! let request = http::Request::get("https://api.example/v1/models").body(Body::empty()).map_err(|e| {
//!     agent_core::HttpError::InvalidRequest { reason: e.to_string() }
//! })?;
//! let response = client.send(request).await?;
//! let body = response.into_body().collect(1 << 20).await?;
//! # Ok(())
//! # }
//! ```
//!
//! A stack is an ordinary [`tower_service::Service`]: put your own layers around it, or any other
//! service in its place (`HttpClient::new`). The parts are open, too: every layer here goes around any
//! service of [`agent_core::Body`].
//!
//! It needs a tokio runtime with I/O and time: the connections live in tasks of it, each of which ends
//! with its connection. A TLS crypto provider comes by feature: `ring` (default) or `aws-lc-rs`; where
//! both are on, ring is used. No process-wide default is read or set then. Two further features, both
//! off by default, cost crates that a bare agent does without: `command` (`CommandCredential`) and
//! `native-certs` (`Roots::Platform`).

#![expect(clippy::disallowed_methods, reason = "the native transport: clocks, tasks, files, environment, processes")]

mod connect;
mod connect_retry;
mod credentials;
mod gzip;
mod host_limit;
mod idle_read;
mod proxy;
mod redirect;
mod stack;
mod timer;
mod tls;
mod trace;
mod transport;
mod transport_error;
mod user_agent;

#[cfg(feature = "command")]
pub use crate::credentials::CommandCredential;
pub use crate::{
    connect_retry::{ConnectRetry, ConnectRetryFuture, ConnectRetryLayer},
    credentials::{CredentialForm, EnvCredential, Fetch, FileCredential, SingleFlight},
    gzip::{Gzip, GzipFuture, GzipLayer},
    host_limit::{HostLimit, HostLimitFuture, HostLimitLayer},
    idle_read::{IdleRead, IdleReadFuture, IdleReadLayer},
    proxy::Proxies,
    redirect::{Redirect, RedirectFuture, RedirectLayer},
    stack::{BuildError, HttpStack, HttpStackBuilder, ResponseFuture},
    timer::TokioTimer,
    tls::Roots,
    trace::{Trace, TraceFuture, TraceLayer},
    transport_error::{TransportError, TransportErrorKind},
    user_agent::{UserAgent, UserAgentLayer},
};
