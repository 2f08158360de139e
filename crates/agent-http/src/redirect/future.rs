//! The response of [`Redirect`](super::Redirect).

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use agent_core::{Body, HttpError};
use http::{Method, Request, Response, StatusCode, Uri, header::LOCATION, request::Parts};
use http_body::Body as _;
use pin_project_lite::pin_project;
use tower_service::Service;

use super::target;

/// How many redirects in a row are followed.
const MOST: u32 = 5;

pin_project! {
    /// Resolves to the first response that is no redirect; dropping it drops the exchange.
    pub struct RedirectFuture<S>
    where
        S: Service<Request<Body>>,
    {
        // The service and the request, if it may be sent again.
        again: Option<(S, Parts)>,
        // Where the request went, to judge a location by.
        uri: Uri,
        followed: u32,
        #[pin]
        calling: Option<S::Future>,
    }
}

impl<S: Service<Request<Body>> + Clone> RedirectFuture<S> {
    pub(super) fn new(service: &mut S, request: Request<Body>) -> Self {
        let (parts, body) = request.into_parts();
        let harmless = matches!(parts.method, Method::GET | Method::HEAD) && body.is_end_stream();
        let again = harmless.then(|| (service.clone(), parts.clone()));
        let uri = parts.uri.clone();
        let calling = Some(service.call(Request::from_parts(parts, body)));
        Self { again, uri, followed: 0, calling }
    }
}

impl<S> Future for RedirectFuture<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = HttpError>,
{
    type Output = Result<Response<Body>, HttpError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            if let Some(calling) = this.calling.as_mut().as_pin_mut() {
                let response = ready!(calling.poll(cx))?;
                let Some(location) = redirects(&response) else {
                    return Poll::Ready(Ok(response));
                };
                let to =
                    target::resolve(this.uri, location).ok_or_else(|| refused(String::new(), "it is no address"))?;
                if !target::same_origin(this.uri, &to) {
                    let reason = "it is another origin; if it is the right one, use it as the address";
                    return Poll::Ready(Err(refused(target::origin(&to), reason)));
                }
                let path = to.path().to_owned();
                let Some((_, parts)) = this.again else {
                    let reason = "only GET and HEAD without a body are; if it is the right one, use it as the address";
                    return Poll::Ready(Err(refused(path, reason)));
                };
                if *this.followed == MOST {
                    return Poll::Ready(Err(refused(path, "it is the sixth redirect in a row")));
                }
                *this.followed += 1;
                parts.uri = to.clone();
                *this.uri = to;
                this.calling.set(None);
            }
            let Some((service, parts)) = this.again else {
                // Polled again after its end.
                return Poll::Pending;
            };
            ready!(service.poll_ready(cx))?;
            this.calling.set(Some(service.call(Request::from_parts(parts.clone(), Body::empty()))));
        }
    }
}

fn refused(to: String, reason: &'static str) -> HttpError {
    HttpError::Redirect { to, reason }
}

/// Where a response sends its request.
fn redirects(response: &Response<Body>) -> Option<&[u8]> {
    let moved = matches!(
        response.status(),
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    if moved { response.headers().get(LOCATION).map(http::HeaderValue::as_bytes) } else { None }
}

impl<S: Service<Request<Body>>> fmt::Debug for RedirectFuture<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedirectFuture").field("followed", &self.followed).finish_non_exhaustive()
    }
}
