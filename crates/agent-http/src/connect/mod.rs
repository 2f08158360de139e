//! Connections: look up, dial, tunnel through a proxy, TLS; one deadline over all of it.

mod dial;
mod stream;
mod tunnel;

use std::{
    collections::HashMap,
    future::{Future, poll_fn},
    net::SocketAddr,
    pin::pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use agent_core::{BoxFuture, HttpError, HttpPhase, Timer};
use http::Uri;
use rustls::pki_types::ServerName;

pub(crate) use self::stream::Stream;
use self::stream::Transport;
use crate::{Proxies, TransportError, TransportErrorKind, timer::millis, tls::Tls};

/// Makes connections; a clone makes the same.
#[derive(Clone)]
pub(crate) struct Connector(pub(crate) Arc<ConnectSettings>);

pub(crate) struct ConnectSettings {
    pub(crate) tls: Tls,
    pub(crate) proxies: Proxies,
    pub(crate) resolve: HashMap<String, SocketAddr>,
    pub(crate) timeout: Duration,
    pub(crate) timer: Arc<dyn Timer>,
}

impl Connector {
    /// A connection to the host of an address. Dropping the future gives it up.
    pub(crate) fn connect(&self, uri: Uri) -> BoxFuture<'static, Result<Stream, HttpError>> {
        let settings = self.0.clone();
        Box::pin(async move {
            let mut deadline = settings.timer.sleep(settings.timeout);
            let mut connecting = pin!(settings.connect(&uri));
            poll_fn(|cx| {
                if let Poll::Ready(result) = connecting.as_mut().poll(cx) {
                    let failed = |e: TransportError| HttpError::Network { phase: HttpPhase::Connect, source: e.into() };
                    return Poll::Ready(result.map_err(failed));
                }
                let after_ms = millis(settings.timeout);
                let timed_out = HttpError::Timeout { phase: HttpPhase::Connect, after_ms };
                deadline.as_mut().poll(cx).map(|()| Err(timed_out))
            })
            .await
        })
    }
}

impl ConnectSettings {
    async fn connect(&self, uri: &Uri) -> Result<Stream, TransportError> {
        let https = uri.scheme() == Some(&http::uri::Scheme::HTTPS);
        let (host, port) = target(uri);
        let proxy = self.proxies.for_uri(uri);
        let mut transport: Transport = match &proxy {
            None => Box::new(self.dial(host, port).await?),
            Some(proxy) => {
                let (proxy_host, proxy_port) = target(&proxy.uri);
                let secure = match proxy.uri.scheme_str() {
                    Some("http") => false,
                    Some("https") => true,
                    other => {
                        let text = format!("proxies of the scheme {} are not supported", other.unwrap_or("none"));
                        let peer = format!("{proxy_host}:{proxy_port}");
                        return Err(TransportError::new(TransportErrorKind::Proxy, peer, Some(text.into())));
                    }
                };
                let mut transport: Transport = Box::new(self.dial(proxy_host, proxy_port).await?);
                if secure {
                    transport = self.secure(proxy_host, transport, false).await?.0;
                }
                if https {
                    let peer = format!("{proxy_host}:{proxy_port}");
                    tunnel::open(&mut transport, &peer, host, port, proxy.authorization.as_ref()).await?;
                }
                transport
            }
        };
        let mut http2 = false;
        if https {
            (transport, http2) = self.secure(host, transport, true).await?;
        }
        Ok(Stream::new(transport, http2, proxy.is_some() && !https))
    }

    async fn dial(&self, host: &str, port: u16) -> Result<tokio::net::TcpStream, TransportError> {
        let fixed =
            self.resolve.get(host).map(|to| SocketAddr::new(to.ip(), if to.port() == 0 { port } else { to.port() }));
        dial::dial(host, port, fixed, &*self.timer).await
    }

    /// TLS over a transport, and whether HTTP/2 was agreed upon.
    async fn secure(&self, host: &str, transport: Transport, alpn: bool) -> Result<(Transport, bool), TransportError> {
        let invalid = |e: rustls::pki_types::InvalidDnsNameError| {
            TransportError::new(TransportErrorKind::Certificate, host, Some(e.into()))
        };
        let name = ServerName::try_from(host.to_owned()).map_err(invalid)?;
        let mut config = self.tls.config()?;
        if !alpn {
            Arc::make_mut(&mut config).alpn_protocols.clear();
        }
        let connecting = tokio_rustls::TlsConnector::from(config).connect(name, transport);
        let stream = connecting.await.map_err(|error| {
            let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
            let kind = match tls {
                Some(rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented) => {
                    TransportErrorKind::Certificate
                }
                Some(_) => TransportErrorKind::Tls,
                None => TransportErrorKind::of_io(&error),
            };
            TransportError::new(kind, host, Some(error.into()))
        })?;
        let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        Ok((Box::new(stream), http2))
    }
}

/// Host (without the brackets of IPv6) and port of an address.
fn target(uri: &Uri) -> (&str, u16) {
    let host = uri.host().unwrap_or_default();
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let usual = if uri.scheme() == Some(&http::uri::Scheme::HTTPS) { 443 } else { 80 };
    (host, uri.port_u16().unwrap_or(usual))
}
