//! A tunnel through a proxy: CONNECT (RFC 9110 section 9.3.6).

use http::HeaderValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::stream::Transport;
use crate::{TransportError, TransportErrorKind};

/// How large the proxy's answer may be, in bytes.
const ANSWER: usize = 8 * 1024;

/// Asks the proxy for a tunnel; afterwards the transport leads to the host.
pub(super) async fn open(
    transport: &mut Transport,
    peer: &str,
    host: &str,
    port: u16,
    authorization: Option<&HeaderValue>,
) -> Result<(), TransportError> {
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let mut request = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n").into_bytes();
    if let Some(value) = authorization {
        request.extend_from_slice(b"Proxy-Authorization: ");
        request.extend_from_slice(value.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    let io = |e| TransportError::io(peer, e);
    transport.write_all(&request).await.map_err(io)?;
    transport.flush().await.map_err(io)?;

    // Byte by byte: what follows the answer belongs to TLS. It is a short answer, once a connection.
    let mut answer = Vec::with_capacity(128);
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() == ANSWER {
            return Err(nonsense(peer, "its answer is too long"));
        }
        match transport.read_u8().await {
            Ok(byte) => answer.push(byte),
            Err(e) => return Err(io(e)),
        }
    }
    match status(&answer) {
        Some(200..=299) => Ok(()),
        Some(status) => Err(TransportError::new(TransportErrorKind::ProxyRefused(status), peer, None)),
        None => Err(nonsense(peer, "its answer is no HTTP")),
    }
}

fn nonsense(peer: &str, text: &'static str) -> TransportError {
    TransportError::new(TransportErrorKind::Proxy, peer, Some(text.into()))
}

/// The status in `HTTP/1.x NNN …`.
fn status(answer: &[u8]) -> Option<u16> {
    let rest = answer.strip_prefix(b"HTTP/1.")?;
    let code = rest.get(2..5)?;
    let follows = rest.get(5)?;
    if rest.get(1) != Some(&b' ') || !matches!(follows, b' ' | b'\r') {
        return None;
    }
    str::from_utf8(code).ok()?.parse().ok()
}
