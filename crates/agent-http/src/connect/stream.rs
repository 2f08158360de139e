//! A connection as hyper wants it.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

/// TCP, TLS, or TLS within TLS.
pub(super) type Transport = Box<dyn ReadWrite>;

pub(super) trait ReadWrite: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> ReadWrite for T {}

/// A connection that is ready for HTTP.
pub(crate) struct Stream {
    io: TokioIo<Transport>,
    http2: bool,
    proxied: bool,
}

impl Stream {
    pub(super) fn new(transport: Transport, http2: bool, proxied: bool) -> Self {
        Self { io: TokioIo::new(transport), http2, proxied }
    }

    /// Whether both sides agreed on HTTP/2.
    pub(crate) fn is_http2(&self) -> bool {
        self.http2
    }

    /// Whether a proxy reads the requests.
    pub(crate) fn is_proxied(&self) -> bool {
        self.proxied
    }
}

impl Read for Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl Write for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, bufs)
    }
}
