//! The wire: its settings, its credentials, and core's `Wire` over the encoder and the decoder.

use agent_core::{ChainHash, Credential, Encoded, ModelCall, Origin, ProviderError, Segments, Wire};
use http::{HeaderMap, request::Parts, uri::InvalidUri};

use crate::{
    ChatDecoder, PROTOCOL, Profile, TextSyntax, chat,
    server::{Server, server_settings},
};

/// Chat Completions at one address.
///
/// ```
/// use agent_core::Wire;
/// use agent_openai::ChatWire;
/// let wire = ChatWire::compatible("http://localhost:8080/v1/")?;
/// assert_eq!(wire.origin("tiny").provider, "compatible");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ChatWire {
    pub(crate) server: Server,
    pub(crate) profile: Profile,
    /// Of everything in the profile that may change how messages are encoded.
    pub(crate) encoding: ChainHash,
    pub(crate) text_syntax: Option<TextSyntax>,
    pub(crate) strict_tools: bool,
}

server_settings!(ChatWire, "/chat/completions");

impl ChatWire {
    /// OpenAI's own service.
    pub fn openai() -> Self {
        Self::of(Profile::named("openai").unwrap_or(Profile::compatible()))
    }

    /// A vendor, where its profile says it is.
    pub fn of(profile: Profile) -> Self {
        Self {
            server: Server::new(&profile.name, &profile.base, "/chat/completions"),
            encoding: ChainHash::of(&[b"openai-chat 1", format!("{profile:?}").as_bytes()]),
            profile,
            text_syntax: None,
            strict_tools: false,
        }
    }

    /// A server that speaks the protocol. `base` is the address before `/chat/completions`; slashes at its end do not
    /// count.
    ///
    /// # Errors
    /// [`InvalidUri`] where `base` is no address.
    pub fn compatible(base: &str) -> Result<Self, InvalidUri> {
        Self::of(Profile::compatible()).at(base)
    }

    /// Looks for tool calls and reasoning in the text of answers, in the words of local models' templates. Servers that
    /// know the template need it not: it is off if it isn't set. A text that only looks like a call is one, then.
    #[must_use]
    pub fn text_syntax(self, syntax: TextSyntax) -> Self {
        Self { text_syntax: Some(syntax), ..self }
    }

    /// Makes the vendor keep the arguments of every tool to its schema (`strict`), where its profile says that it can.
    /// Schemas are lowered as [`lower_strict_schema`](crate::lower_strict_schema) does, and what is lost is reported;
    /// a schema that cannot be strict stays as it is.
    #[must_use]
    pub fn strict_tools(self) -> Self {
        Self { strict_tools: true, ..self }
    }
}

impl Wire for ChatWire {
    type Decoder = ChatDecoder;

    fn origin(&self, model: &str) -> Origin {
        Origin::new(PROTOCOL, &*self.server.provider, model)
    }

    fn encode(&self, call: &ModelCall) -> Result<Encoded, ProviderError> {
        chat::encode(self, call)
    }

    fn authorize(&self, parts: &mut Parts, _: &Segments, credential: &Credential, _: u64) -> Result<(), ProviderError> {
        self.server.authorize(parts, credential)
    }

    fn decoder(&self, _: &HeaderMap) -> ChatDecoder {
        ChatDecoder::new(self)
    }
}
