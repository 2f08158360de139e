//! The whole stack: the transport and all layers, as one service.

mod builder;

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
};

use agent_core::{Body, HttpClient, HttpError, Timer};
use http::{Request, Response};
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

pub use self::builder::{BuildError, HttpStackBuilder};
use crate::{
    ConnectRetry, ConnectRetryLayer, Gzip, GzipLayer, HostLimit, HostLimitLayer, IdleRead, IdleReadLayer, Redirect,
    RedirectLayer, TokioTimer, Trace, TraceLayer, UserAgent, UserAgentLayer, transport::Transport,
};

/// What a request goes through, outermost first.
type Layers = UserAgent<Trace<Redirect<Gzip<HostLimit<ConnectRetry<IdleRead<Transport>>>>>>>;

/// A pool of connections and the layers around it; a clone shares them.
///
/// Its future resolves when the response head is there. Dropping the future, or the response body, ends
/// the exchange: an HTTP/1 connection is closed, an HTTP/2 stream reset.
#[derive(Debug, Clone)]
pub struct HttpStack(Layers);

impl HttpStack {
    /// The stack of this process, with the defaults; made at the first call. Everything that does not
    /// need its own settings shares its connections and its TLS settings.
    pub fn shared() -> Self {
        static SHARED: OnceLock<HttpStack> = OnceLock::new();
        SHARED.get_or_init(|| Self::builder().build()).clone()
    }

    /// A stack of its own.
    pub fn builder() -> HttpStackBuilder {
        Self::builder_with(Arc::new(TokioTimer::new()))
    }

    /// A stack of its own whose deadlines follow this timer.
    pub fn builder_with(timer: Arc<dyn Timer>) -> HttpStackBuilder {
        HttpStackBuilder::new(timer)
    }
}

impl From<HttpStack> for HttpClient {
    fn from(stack: HttpStack) -> Self {
        Self::new(stack)
    }
}

impl Service<Request<Body>> for HttpStack {
    type Response = Response<Body>;
    type Error = HttpError;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), HttpError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> ResponseFuture {
        ResponseFuture { inner: self.0.call(request) }
    }
}

pin_project! {
    /// Resolves to the head of a response; dropping it ends the exchange.
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture {
        #[pin]
        inner: <Layers as Service<Request<Body>>>::Future,
    }
}

impl Future for ResponseFuture {
    type Output = Result<Response<Body>, HttpError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().inner.poll(cx)
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResponseFuture")
    }
}
