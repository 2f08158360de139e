//! The vendor's token counter: `POST /messages/count_tokens`
//! (<https://docs.claude.com/en/docs/build-with-claude/token-counting>).

use std::sync::Arc;

use agent_core::{
    BoxFuture, CancelToken, Credential, CredentialSource, Encoded, HttpClient, HttpProvider, ModelCall, ModelEvent,
    Origin, Provider, ProviderError, ProviderErrorKind, Segments, Timer, TokenCounter, Wire,
};
use http::{HeaderMap, StatusCode, request::Parts};

use crate::{
    decode::AnthropicDecoder,
    request::{self, Purpose},
    wire::AnthropicWire,
};

/// The counting endpoint as a wire of its own: its requests have the messages, system prompt and tools of the call, its
/// answer is one usage.
#[derive(Debug, Clone, Default)]
pub struct CountTokensWire(AnthropicWire);

impl From<AnthropicWire> for CountTokensWire {
    fn from(wire: AnthropicWire) -> Self {
        Self(wire)
    }
}

impl Wire for CountTokensWire {
    type Decoder = AnthropicDecoder;

    fn origin(&self, model: &str) -> Origin {
        self.0.origin(model)
    }

    fn encode(&self, call: &ModelCall) -> Result<Encoded, ProviderError> {
        request::encode(&self.0, call, Purpose::Count)
    }

    fn authorize(
        &self,
        parts: &mut Parts,
        segments: &Segments,
        credential: &Credential,
        now_ms: u64,
    ) -> Result<(), ProviderError> {
        self.0.authorize(parts, segments, credential, now_ms)
    }

    fn decoder(&self, headers: &HeaderMap) -> AnthropicDecoder {
        self.0.decoder(headers)
    }

    fn classify(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ProviderError {
        self.0.classify(status, headers, body)
    }
}

/// Counts the input tokens of a call at the vendor, which does not bill for it.
///
/// Each count is one request; dropping its future ends it. The vendor calls its count an estimate.
#[derive(Debug, Clone)]
pub struct AnthropicTokenCounter(HttpProvider<CountTokensWire>);

impl AnthropicTokenCounter {
    /// A counter at the address of a wire.
    pub fn new(
        wire: AnthropicWire,
        http: HttpClient,
        credentials: Arc<dyn CredentialSource>,
        timer: Arc<dyn Timer>,
    ) -> Self {
        Self(HttpProvider::new(wire.into(), http, credentials, timer))
    }
}

impl TokenCounter for AnthropicTokenCounter {
    fn count<'a>(&'a self, call: &'a ModelCall) -> BoxFuture<'a, Result<u64, ProviderError>> {
        Box::pin(async move {
            let prepared = self.0.prepare(call.clone()).await?;
            let mut stream = prepared.send(CancelToken::new()).await?;
            let mut tokens = None;
            while let Some(event) = stream.next().await {
                if let ModelEvent::Usage(usage) = event? {
                    tokens = Some(usage.prompt());
                }
            }
            let missing = || ProviderError::new(ProviderErrorKind::Protocol, "the answer has no `input_tokens`");
            tokens.ok_or_else(missing)
        })
    }
}
