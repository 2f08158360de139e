//! The one driver that sends for every protocol.

use std::{
    fmt,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use http::{HeaderValue, Request, header, request::Parts};

use super::{Decoder, Encoded, Events, Segments, Wire};
use crate::{
    BoxFuture, CancelToken, Credential, CredentialSource, HttpClient, ModelCall, ModelEvent, ModelStream, Prepared,
    Provider, Timer,
    error::{ProviderError, ProviderErrorKind},
    http::{Body, request_id},
    message::Origin,
    provider::SendPrepared,
};

/// How much of an error's body is read, in bytes.
const ERROR_BODY: usize = 256 * 1024;

/// A wire bound to a transport, credentials and a clock: a provider.
#[derive(Clone)]
pub struct HttpProvider<W>(Arc<Inner<W>>);

struct Inner<W> {
    wire: W,
    http: HttpClient,
    credentials: Arc<dyn CredentialSource>,
    timer: Arc<dyn Timer>,
}

impl<W: Wire> HttpProvider<W> {
    /// Binds a wire.
    pub fn new(
        wire: W,
        http: HttpClient,
        credentials: impl CredentialSource + 'static,
        timer: impl Timer + 'static,
    ) -> Self {
        let (credentials, timer) = (Arc::new(credentials), Arc::new(timer));
        Self(Arc::new(Inner { wire, http, credentials, timer }))
    }
}

impl<W: Wire> fmt::Debug for HttpProvider<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpProvider").field("wire", &self.0.wire.origin("")).finish_non_exhaustive()
    }
}

impl<W: Wire> Provider for HttpProvider<W> {
    fn origin(&self, model: &str) -> Origin {
        self.0.wire.origin(model)
    }

    fn prepare(&self, call: ModelCall) -> BoxFuture<'_, Result<Prepared, ProviderError>> {
        Box::pin(async move {
            let Encoded { parts, segments, overhead, max_output, losses } = self.0.wire.encode(&call)?;
            let sender = Arc::new(Sender { provider: self.0.clone(), parts });
            let prepared = Prepared::new(segments, sender).overhead(overhead).losses(losses);
            Ok(match max_output {
                Some(tokens) => prepared.max_output(tokens),
                None => prepared,
            })
        })
    }
}

struct Sender<W> {
    provider: Arc<Inner<W>>,
    parts: Parts,
}

impl<W: Wire> SendPrepared for Sender<W> {
    fn send(
        &self,
        segments: Option<&Segments>,
        cancel: CancelToken,
    ) -> BoxFuture<'static, Result<ModelStream, ProviderError>> {
        let (provider, parts) = (self.provider.clone(), self.parts.clone());
        let segments = segments.cloned();
        Box::pin(async move {
            let Some(segments) = segments else {
                let text = "a request without segments cannot be sent";
                return Err(ProviderError::new(ProviderErrorKind::Unsupported, text));
            };
            let exchange = provider.exchange(&parts, &segments);
            let response = match cancel.race(exchange).await {
                Some(response) => response?,
                None => return Err(ProviderError::cancelled()),
            };
            let (head, body) = response.into_parts();
            let reply = Reply {
                decoder: provider.wire.decoder(&head.headers),
                request_id: request_id(&head.headers).map(str::to_owned),
                body,
                events: Events::new(),
                cancelled: Box::pin(async move { cancel.cancelled().await }),
                failed: None,
                state: State::Reading,
            };
            Ok(ModelStream::new(reply))
        })
    }
}

impl<W: Wire> Inner<W> {
    /// One exchange up to the head of a success; after a 401 one more with fresh credentials.
    async fn exchange(&self, parts: &Parts, segments: &Segments) -> Result<http::Response<Body>, ProviderError> {
        let credential = self.credentials.credential().await?;
        match self.attempt(parts, segments, &credential).await {
            Err(error) if error.status() == Some(401) => match self.credentials.refresh(&credential).await? {
                Some(fresh) => self.attempt(parts, segments, &fresh).await,
                None => Err(error),
            },
            result => result,
        }
    }

    async fn attempt(
        &self,
        parts: &Parts,
        segments: &Segments,
        credential: &Credential,
    ) -> Result<http::Response<Body>, ProviderError> {
        let mut parts = parts.clone();
        self.wire.authorize(&mut parts, segments, credential, self.timer.now_ms())?;
        let length = HeaderValue::from(segments.content_length());
        parts.headers.insert(header::CONTENT_LENGTH, length);
        let request = Request::from_parts(parts, Body::segments(segments));
        let response = self.http.send(request).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (head, body) = response.into_parts();
        let body = body.excerpt(ERROR_BODY).await;
        Err(self.wire.classify(head.status, &head.headers, &body))
    }
}

/// A reply as a stream: bytes go in at the poll, events come out; nothing is spawned.
struct Reply<D> {
    decoder: D,
    request_id: Option<String>,
    body: Body,
    events: Events,
    cancelled: BoxFuture<'static, ()>,
    failed: Option<ProviderError>,
    state: State,
}

enum State {
    Reading,
    Draining,
    Done,
}

// No field is pinned in place.
impl<D> Unpin for Reply<D> {}

impl<D: Decoder> Stream for Reply<D> {
    type Item = Result<ModelEvent, ProviderError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(event) = this.events.pop() {
                return Poll::Ready(Some(Ok(event)));
            }
            match this.state {
                State::Done => return Poll::Ready(None),
                State::Draining => {
                    this.state = State::Done;
                    return Poll::Ready(this.failed.take().map(|e| Err(this.named(e))));
                }
                State::Reading => {}
            }
            if pin!(&mut this.cancelled).poll(cx).is_ready() {
                this.fail(ProviderError::cancelled());
                continue;
            }
            let result = match ready!(this.body.poll_data(cx)) {
                Some(Ok(bytes)) => this.decoder.feed(bytes, &mut this.events),
                // A connection that breaks behind the end of the answer breaks nothing.
                Some(Err(error)) => match this.decoder.finish(&mut this.events) {
                    Ok(()) => {
                        this.state = State::Draining;
                        Ok(())
                    }
                    Err(_) => Err(error.into()),
                },
                None => {
                    this.state = State::Draining;
                    this.decoder.finish(&mut this.events)
                }
            };
            if let Err(error) = result {
                this.fail(error);
            }
        }
    }
}

impl<D> Reply<D> {
    /// Ends the stream with an error, behind the events that are there already, and closes the
    /// connection now.
    fn fail(&mut self, error: ProviderError) {
        self.state = State::Draining;
        self.failed = Some(error);
        self.body = Body::empty();
    }

    fn named(&mut self, error: ProviderError) -> ProviderError {
        match (error.request_id(), self.request_id.take()) {
            (None, Some(id)) => error.with_request_id(id),
            _ => error,
        }
    }
}
