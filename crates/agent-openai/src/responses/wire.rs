//! The wire: its settings, and core's `Wire` over the encoder and the decoder.

use agent_core::{Credential, Encoded, ModelCall, Origin, ProviderError, Segments, Wire};
use http::{HeaderMap, request::Parts, uri::InvalidUri};

use super::{RESPONSES_PROTOCOL, ResponsesDecoder, request};
use crate::server::{Server, server_settings};

/// What a model shows of its reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ReasoningSummary {
    /// Nothing. Some organisations have to be verified before they may have more.
    Off,
    /// As much as the model has.
    #[default]
    Auto,
    /// Little.
    Concise,
    /// Much.
    Detailed,
}

/// Responses at one address.
///
/// Nothing is stored at the vendor unless [`store`](Self::store) says so; reasoning goes back encrypted.
///
/// ```
/// use agent_core::Wire;
/// use agent_openai::{RESPONSES_PROTOCOL, ResponsesWire};
/// let wire = ResponsesWire::openai();
/// assert_eq!(wire.origin("gpt-x").protocol, RESPONSES_PROTOCOL);
/// ```
#[derive(Debug, Clone)]
pub struct ResponsesWire {
    pub(crate) server: Server,
    /// Takes the place of the model (Azure's older addresses).
    pub(crate) deployment: Option<String>,
    pub(crate) store: bool,
    pub(crate) summary: ReasoningSummary,
    pub(crate) strict_tools: bool,
}

server_settings!(ResponsesWire, "/responses");

impl ResponsesWire {
    /// OpenAI's own service.
    pub fn openai() -> Self {
        Self {
            server: Server::new("openai", "https://api.openai.com/v1", "/responses"),
            deployment: None,
            store: false,
            summary: ReasoningSummary::default(),
            strict_tools: false,
        }
    }

    /// A server that speaks the protocol. `base` is the address before `/responses`.
    ///
    /// # Errors
    /// [`InvalidUri`] where `base` is no address.
    pub fn compatible(base: &str) -> Result<Self, InvalidUri> {
        Self::openai().provider("compatible").at(base)
    }

    /// Whether the vendor keeps answers, for 30 days or longer. Not, if it isn't set.
    #[must_use]
    pub fn store(self, store: bool) -> Self {
        Self { store, ..self }
    }

    /// Sets what a model shows of its reasoning.
    #[must_use]
    pub fn summary(self, summary: ReasoningSummary) -> Self {
        Self { summary, ..self }
    }

    /// Makes the vendor keep the arguments of every tool to its schema (`strict`). Schemas are lowered as
    /// [`lower_strict_schema`](crate::lower_strict_schema) does, and what is lost is reported; a schema that cannot be
    /// strict stays as it is.
    #[must_use]
    pub fn strict_tools(self) -> Self {
        Self { strict_tools: true, ..self }
    }
}

impl Wire for ResponsesWire {
    type Decoder = ResponsesDecoder;

    fn origin(&self, model: &str) -> Origin {
        Origin::new(RESPONSES_PROTOCOL, &*self.server.provider, model)
    }

    fn encode(&self, call: &ModelCall) -> Result<Encoded, ProviderError> {
        request::encode(self, call)
    }

    fn authorize(&self, parts: &mut Parts, _: &Segments, credential: &Credential, _: u64) -> Result<(), ProviderError> {
        self.server.authorize(parts, credential)
    }

    fn decoder(&self, _: &HeaderMap) -> ResponsesDecoder {
        ResponsesDecoder::new(&self.server.provider)
    }
}
