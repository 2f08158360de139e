//! Servers of raw bytes, and what the tests ask of a stack.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use agent_core::{Body, HttpClient, HttpError};
use agent_http::{HttpStack, HttpStackBuilder, Proxies, TransportError, TransportErrorKind};
use agent_testkit::PausedTimer;
use http::{Request, Response};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// A listener whose connections go to a function; it counts them.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    open: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    pub(crate) async fn new<F, R>(serve: F) -> Self
    where
        F: Fn(TcpStream, usize) -> R + Send + Sync + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (accepted, open) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let counts = (accepted.clone(), open.clone());
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let number = counts.0.fetch_add(1, Ordering::SeqCst);
                counts.1.fetch_add(1, Ordering::SeqCst);
                let open = counts.1.clone();
                let serving = serve(stream, number);
                tokio::spawn(async move {
                    serving.await;
                    open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self { address, accepted, open, task }
    }

    /// A server that reads a request and writes these bytes, then closes.
    pub(crate) async fn answering(bytes: &'static str) -> Self {
        Self::new(move |mut stream, _| async move {
            if read_head(&mut stream).await.is_some() {
                stream.write_all(bytes.as_bytes()).await.unwrap();
            }
        })
        .await
    }

    /// A server that answers every request on a connection with these bytes.
    pub(crate) async fn keeping(bytes: &'static str) -> Self {
        Self::new(move |mut stream, _| async move {
            while read_head(&mut stream).await.is_some() {
                if stream.write_all(bytes.as_bytes()).await.is_err() {
                    break;
                }
            }
        })
        .await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The connections so far.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// The connections that are being served.
    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The head of a request; `None` where the connection ends before it.
pub(crate) async fn read_head(stream: &mut (impl AsyncReadExt + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8(head).unwrap())
}

/// Resets the connection instead of closing it.
pub(crate) fn reset(stream: TcpStream) {
    stream.set_zero_linger().unwrap();
}

/// Waits for the client to close.
pub(crate) async fn until_closed(stream: &mut (impl AsyncReadExt + Unpin)) {
    let mut rest = [0; 1024];
    while stream.read(&mut rest).await.is_ok_and(|read| read > 0) {}
}

/// A stack without proxies and retries, on a timer that stands.
pub(crate) fn plain() -> (HttpStackBuilder, PausedTimer) {
    let timer = PausedTimer::at(0);
    let builder = HttpStack::builder_with(Arc::new(timer.clone()));
    (builder.proxies(Proxies::none()).connect_retries(0, std::time::Duration::ZERO), timer)
}

pub(crate) fn client() -> HttpClient {
    plain().0.build().into()
}

pub(crate) fn get(url: impl AsRef<str>) -> Request<Body> {
    Request::get(url.as_ref()).body(Body::empty()).unwrap()
}

pub(crate) fn post(url: impl AsRef<str>, body: &'static str) -> Request<Body> {
    Request::post(url.as_ref()).body(Body::full(body)).unwrap()
}

/// The whole text of a response.
pub(crate) async fn text(response: Response<Body>) -> Result<String, HttpError> {
    let bytes = response.into_body().collect(1 << 20).await?;
    Ok(String::from_utf8(bytes.to_vec()).unwrap())
}

/// An error in a form to compare: the phase and what happened.
pub(crate) fn told(error: &HttpError) -> String {
    match error {
        HttpError::Network { phase, source } => {
            let own = TransportError::find(&**source).unwrap_or_else(|| panic!("untyped: {source:?}"));
            assert_ne!(own.kind(), TransportErrorKind::Other, "{own:?}");
            format!("{phase}: {}", own.kind())
        }
        other => other.to_string(),
    }
}

/// Lets all other tasks run until a condition holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..1_000_000 {
        if holds() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("never: {what}");
}
