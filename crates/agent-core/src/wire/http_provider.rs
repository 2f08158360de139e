//! The one driver that sends for every protocol.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use http::{HeaderValue, Request, Response, header, request::Parts};

use super::{Decoder, Encoded, Events, Segments, Wire};
use crate::{
    Body, BoxFuture, CancelToken, Credential, CredentialSource, HttpClient, ModelCall, ModelEvent, ModelStream, Origin,
    Prepared, Provider, ProviderError, ProviderErrorKind, SendPrepared, Timer, http::request_id,
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
    pub fn new(wire: W, http: HttpClient, credentials: Arc<dyn CredentialSource>, timer: Arc<dyn Timer>) -> Self {
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
        let (provider, parts, segments) = (self.provider.clone(), self.parts.clone(), segments.cloned());
        Box::pin(async move {
            let Some(segments) = segments else {
                let text = "a request without segments cannot be sent";
                return Err(ProviderError::new(ProviderErrorKind::Unsupported, text));
            };
            let response = cancel.race(provider.exchange(&parts, &segments)).await;
            let (head, body) = response.unwrap_or_else(|| Err(ProviderError::cancelled()))?.into_parts();
            Ok(ModelStream::new(Reply {
                decoder: provider.wire.decoder(&head.headers),
                request_id: request_id(&head.headers).map(str::to_owned),
                body: Some(body),
                events: Events::new(),
                cancelled: Box::pin(async move { cancel.cancelled().await }),
                failed: None,
            }))
        })
    }
}

impl<W: Wire> Inner<W> {
    /// One exchange up to the head of a success; after a 401 one more with fresh credentials.
    async fn exchange(&self, parts: &Parts, segments: &Segments) -> Result<Response<Body>, ProviderError> {
        let credential = self.credentials.credential().await?;
        let result = match self.attempt(parts, segments, &credential).await {
            Err(error) if error.status() == Some(401) => match self.credentials.refresh(&credential).await? {
                Some(fresh) => self.attempt(parts, segments, &fresh).await,
                None => Err(error),
            },
            result => result,
        };
        result.map_err(|error| self.advise(error, parts, &credential))
    }

    /// Says what a newcomer would look at next.
    fn advise(&self, error: ProviderError, parts: &Parts, credential: &Credential) -> ProviderError {
        let host = Host(parts);
        let advice = match (error.kind(), error.status()) {
            (ProviderErrorKind::Auth, _) if matches!(credential, Credential::Anonymous) => {
                format!("no credential was sent to {host}: give one")
            }
            (ProviderErrorKind::Auth, _) => match self.credentials.place() {
                Some(place) => format!("check {place}, whose value was sent to {host}"),
                None => format!("check the credential that the program sent to {host}"),
            },
            (ProviderErrorKind::NotFound, _) => {
                let (method, path) = (&parts.method, parts.uri.path());
                format!("check the name of the model, and the address: it was {method} {path} at {host}")
            }
            (ProviderErrorKind::Network, None) => format!("check the address and that {host} can be reached"),
            _ => return error,
        };
        error.with_advice(advice)
    }

    async fn attempt(
        &self,
        parts: &Parts,
        segments: &Segments,
        credential: &Credential,
    ) -> Result<Response<Body>, ProviderError> {
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

/// Where a request goes, without the name and password that an address may hold.
struct Host<'a>(&'a Parts);

impl fmt::Display for Host<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.uri.host().unwrap_or("no host"))?;
        self.0.uri.port_u16().map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// A reply as a stream: bytes go in at the poll, events come out; nothing is spawned.
struct Reply<D> {
    decoder: D,
    request_id: Option<String>,
    /// Gone once the reply has ended, and its connection with it.
    body: Option<Body>,
    events: Events,
    cancelled: BoxFuture<'static, ()>,
    failed: Option<ProviderError>,
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
            let Some(body) = &mut this.body else {
                return Poll::Ready(this.failed.take().map(Err));
            };
            let result = if this.cancelled.as_mut().poll(cx).is_ready() {
                Err(ProviderError::cancelled())
            } else {
                match ready!(body.poll_data(cx)) {
                    Some(Ok(bytes)) => this.decoder.feed(bytes, &mut this.events),
                    end => {
                        this.body = None;
                        // A connection that breaks behind the end of the answer breaks nothing.
                        let whole = this.decoder.finish(&mut this.events);
                        whole.map_err(|early| end.and_then(Result::err).map_or(early, Into::into))
                    }
                }
            };
            if let Err(error) = result {
                this.body = None;
                let id = this.request_id.take().filter(|_| error.request_id().is_none());
                this.failed = Some(id.into_iter().fold(error, ProviderError::with_request_id));
            }
        }
    }
}
