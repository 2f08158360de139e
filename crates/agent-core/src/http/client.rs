//! A boxed, cloneable tower service over HTTP requests.

use std::task::{Context, Poll};
use std::{fmt, future::poll_fn, sync::Arc};

use http::{Request, Response};
use tower_service::Service;

use crate::{Body, BoxError, BoxFuture, HttpError};

/// What sending resolves to.
type Exchange = BoxFuture<'static, Result<Response<Body>, HttpError>>;

/// Sends requests through whatever tower stack it was made of: `agent-http`'s, the application's, a
/// test double.
///
/// Its future resolves when the response head is there. Dropping the future, or the response body,
/// stops the exchange.
///
/// ```
/// use agent_core::Body;
/// use agent_testkit::{HttpReply, ScriptedHttp};
/// use http::StatusCode;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let http = ScriptedHttp::new([HttpReply::new(StatusCode::OK).body(["po", "ng"])]).client();
/// let response = http.send(http::Request::get("https://example.com/ping").body(Body::empty())?).await?;
/// assert_eq!(response.into_body().collect(1_000).await?, "pong");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).map_err(|e| e.to_string())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct HttpClient(Arc<dyn Fn(Request<Body>) -> Exchange + Send + Sync>);

impl HttpClient {
    /// Boxes a stack.
    pub fn new<S>(service: S) -> Self
    where
        S: Service<Request<Body>, Response = Response<Body>, Error: Into<BoxError>, Future: Send>,
        S: Clone + Send + Sync + 'static,
    {
        Self(Arc::new(move |request| {
            // Readiness belongs to the clone that is called (tower-service, "Backpressure").
            let mut service = service.clone();
            Box::pin(async move {
                poll_fn(|cx| service.poll_ready(cx)).await.map_err(HttpError::from_service)?;
                service.call(request).await.map_err(HttpError::from_service)
            })
        }))
    }

    /// Sends a request.
    ///
    /// # Errors
    /// [`HttpError`] where there is no response; a response with an error status is none.
    pub fn send(&self, request: Request<Body>) -> Exchange {
        (self.0)(request)
    }
}

impl Service<Request<Body>> for HttpClient {
    type Response = Response<Body>;
    type Error = HttpError;
    type Future = Exchange;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), HttpError>> {
        // The inner stack is made ready within the call, on the clone that is called.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.send(request)
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HttpClient")
    }
}
