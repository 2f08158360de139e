//! TCP connections: name look-up, and both address families side by side (RFC 8305, simplified).

use std::{
    future::{Future, poll_fn},
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    task::Poll,
    time::Duration,
};

use agent_core::{BoxFuture, Timer};
use tokio::net::TcpStream;

use crate::{TransportError, TransportErrorKind};

/// How long an address has before the next is tried beside it.
const HEAD_START: Duration = Duration::from_millis(250);
/// How long a connection may be silent before the operating system asks whether the peer lives.
const KEEP_ALIVE: Duration = Duration::from_secs(45);

type Attempt = Pin<Box<dyn Future<Output = io::Result<TcpStream>> + Send>>;

/// Connects to a host by name or address; dropping the future closes what was begun.
pub(super) async fn dial(
    host: &str,
    port: u16,
    fixed: Option<SocketAddr>,
    timer: &dyn Timer,
) -> Result<TcpStream, TransportError> {
    let addresses = match (fixed, host.parse::<IpAddr>()) {
        (Some(address), _) => vec![address],
        (None, Ok(ip)) => vec![SocketAddr::new(ip, port)],
        (None, Err(_)) => look_up(host, port).await?,
    };
    let stream = race(addresses, timer).await.map_err(|e| TransportError::io(format!("{host}:{port}"), e))?;
    // Both are improvements, not needs.
    let _ = stream.set_nodelay(true);
    let keep_alive = socket2::TcpKeepalive::new().with_time(KEEP_ALIVE);
    let _ = socket2::SockRef::from(&stream).set_tcp_keepalive(&keep_alive);
    Ok(stream)
}

async fn look_up(host: &str, port: u16) -> Result<Vec<SocketAddr>, TransportError> {
    let failed = |e: io::Error| {
        let kind = match TransportErrorKind::of_io(&e) {
            TransportErrorKind::TooManyFiles => TransportErrorKind::TooManyFiles,
            _ => TransportErrorKind::Dns,
        };
        TransportError::new(kind, format!("{host}:{port}"), Some(e.into()))
    };
    let found: Vec<SocketAddr> = tokio::net::lookup_host((host, port)).await.map_err(failed)?.collect();
    let first_is_v6 = found.first().is_some_and(SocketAddr::is_ipv6);
    let (first, second): (Vec<SocketAddr>, Vec<SocketAddr>) =
        found.iter().partition(|address| address.is_ipv6() == first_is_v6);
    // The families take turns, the system's preferred one first.
    let mut turns = Vec::with_capacity(found.len());
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    loop {
        match (first.next(), second.next()) {
            (None, None) => return Ok(turns),
            (a, b) => turns.extend(a.into_iter().chain(b)),
        }
    }
}

/// The first connection that is made; the first error where none is.
async fn race(addresses: Vec<SocketAddr>, timer: &dyn Timer) -> io::Result<TcpStream> {
    let mut addresses = addresses.into_iter();
    let mut attempts: Vec<Attempt> = Vec::new();
    let mut first_error = None;
    let mut wait: Option<BoxFuture<'static, ()>> = None;
    let mut start_next = true;
    poll_fn(move |cx| {
        loop {
            if start_next {
                start_next = false;
                if let Some(address) = addresses.next() {
                    attempts.push(Box::pin(TcpStream::connect(address)));
                    wait = (addresses.len() > 0).then(|| timer.sleep(HEAD_START));
                }
            }
            let mut failed = false;
            let mut connected = None;
            attempts.retain_mut(|attempt| match attempt.as_mut().poll(cx) {
                Poll::Pending => true,
                Poll::Ready(Ok(stream)) => {
                    connected = Some(stream);
                    false
                }
                Poll::Ready(Err(error)) => {
                    first_error.get_or_insert(error);
                    failed = true;
                    false
                }
            });
            if let Some(stream) = connected {
                return Poll::Ready(Ok(stream));
            }
            let is_over = wait.as_mut().is_some_and(|wait| wait.as_mut().poll(cx).is_ready());
            if (failed || is_over) && addresses.len() > 0 {
                start_next = true;
                continue;
            }
            if attempts.is_empty() {
                let none = || io::Error::new(io::ErrorKind::AddrNotAvailable, "the name has no address");
                return Poll::Ready(Err(first_error.take().unwrap_or_else(none)));
            }
            if is_over {
                wait = None;
            }
            return Poll::Pending;
        }
    })
    .await
}
