//! Why a transport failed, typed: the cause inside of an `HttpError`.

use std::{error::Error, fmt, io, sync::Arc};

use agent_core::BoxError;

/// What happened on the way to a server or back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TransportErrorKind {
    /// The name has no address, or could not be looked up.
    Dns,
    /// Nobody listens at the address.
    Refused,
    /// The address cannot be reached from here.
    Unreachable,
    /// This process or machine has no file descriptor left for a connection: lower the limit of
    /// connections per host, or raise `ulimit -n`.
    TooManyFiles,
    /// The server's certificate was not accepted: its issuer, its name or its dates.
    Certificate,
    /// The TLS handshake failed in another way, or TLS is not set up.
    Tls,
    /// The proxy answered CONNECT with this status.
    ProxyRefused(u16),
    /// The proxy cannot be used: its address, its scheme, or what it says.
    Proxy,
    /// The connection was reset.
    Reset,
    /// The connection was closed before its end.
    Closed,
    /// The server closes this HTTP/2 connection (GOAWAY) and did not answer the request.
    GoAway,
    /// The server or we ended the HTTP/2 stream.
    StreamReset,
    /// An HTTP/2 connection did not answer its keep-alive ping.
    Dead,
    /// What arrived is no HTTP, or a head larger than the limit.
    Protocol,
    /// The content encoding of the body is broken.
    Encoding,
    /// Anything else; the source says it.
    Other,
}

impl TransportErrorKind {
    /// Whether another connection may fare better, so that it is worth trying.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::Dns | Self::Refused | Self::Unreachable | Self::TooManyFiles | Self::Reset | Self::Closed)
    }

    /// What an error of the operating system means.
    pub(crate) fn of_io(error: &io::Error) -> Self {
        // EMFILE and ENFILE have no kind of their own; the numbers are those of Linux, macOS and BSD,
        // 10024 is Windows' WSAEMFILE.
        if matches!(error.raw_os_error(), Some(23 | 24 | 10024)) {
            return Self::TooManyFiles;
        }
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Self::Refused,
            io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::NetworkDown
            | io::ErrorKind::AddrNotAvailable
            | io::ErrorKind::TimedOut => Self::Unreachable,
            io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe => {
                Self::Reset
            }
            io::ErrorKind::UnexpectedEof => Self::Closed,
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => Self::Protocol,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for TransportErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dns => "the name could not be looked up",
            Self::Refused => "the connection was refused",
            Self::Unreachable => "the address cannot be reached",
            Self::TooManyFiles => "no file descriptor is left for a connection",
            Self::Certificate => "the certificate was not accepted",
            Self::Tls => "the TLS handshake failed",
            Self::ProxyRefused(status) => return write!(f, "the proxy refused the tunnel with status {status}"),
            Self::Proxy => "the proxy cannot be used",
            Self::Reset => "the connection was reset",
            Self::Closed => "the connection was closed before its end",
            Self::GoAway => "the server gave the connection up without an answer",
            Self::StreamReset => "the stream was reset",
            Self::Dead => "the connection did not answer a ping",
            Self::Protocol => "what arrived is not the protocol",
            Self::Encoding => "the content encoding is broken",
            Self::Other => "the connection failed",
        })
    }
}

/// A failure of the transport: what, with whom, and the cause below. A clone is the same failure.
///
/// It stands in the chain of sources of an [`HttpError`](agent_core::HttpError), which says in which
/// phase it happened; [`find`](Self::find) gets it out.
#[derive(Debug, Clone)]
pub struct TransportError(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    kind: TransportErrorKind,
    peer: String,
    source: Option<BoxError>,
}

impl TransportError {
    pub(crate) fn new(kind: TransportErrorKind, peer: impl Into<String>, source: Option<BoxError>) -> Self {
        Self(Arc::new(Inner { kind, peer: peer.into(), source }))
    }

    pub(crate) fn io(peer: impl Into<String>, error: io::Error) -> Self {
        Self::new(TransportErrorKind::of_io(&error), peer, Some(error.into()))
    }

    /// The transport's part of an error: itself, or the first in its chain of sources.
    pub fn find<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e Self> {
        std::iter::successors(Some(error), |&error| error.source()).find_map(|error| error.downcast_ref())
    }

    /// What happened.
    pub fn kind(&self) -> TransportErrorKind {
        self.0.kind
    }

    /// With whom: a host and port, without path, query or credentials.
    pub fn peer(&self) -> &str {
        &self.0.peer
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.peer, self.0.kind)
    }
}

impl Error for TransportError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
