//! The wire: its settings, its credentials, and core's `Wire` over the encoder and the decoder.

use std::{collections::BTreeMap, sync::Arc};

use agent_core::{
    ChainHash, Credential, Encoded, ModelCall, ModelFacts, Origin, ProviderError, ProviderErrorKind, Segments, Wire,
};
use http::{HeaderMap, HeaderName, HeaderValue, Uri, header, request::Parts, uri::InvalidUri};

use crate::{ChatDecoder, PROTOCOL, Profile, TextSyntax, chat};

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
    pub(crate) provider: String,
    pub(crate) base: String,
    /// Where calls go; nothing where no address was given.
    pub(crate) endpoint: Option<Uri>,
    pub(crate) profile: Profile,
    /// Of everything in the profile that may change how messages are encoded.
    pub(crate) encoding: ChainHash,
    pub(crate) headers: HeaderMap,
    pub(crate) text_syntax: Option<TextSyntax>,
    pub(crate) strict_tools: bool,
    models: BTreeMap<String, Arc<ModelFacts>>,
    unknown: Arc<ModelFacts>,
}

impl ChatWire {
    /// OpenAI's own service.
    pub fn openai() -> Self {
        Self::of(Profile::named("openai").unwrap_or(Profile::compatible()))
    }

    /// A vendor, where its profile says it is.
    pub fn of(profile: Profile) -> Self {
        Self {
            provider: profile.name.to_string(),
            base: profile.base.to_string(),
            endpoint: endpoint(&profile.base),
            encoding: ChainHash::of(&[b"openai-chat 1", format!("{profile:?}").as_bytes()]),
            unknown: Arc::new(unknown(&profile.name)),
            profile,
            headers: HeaderMap::new(),
            text_syntax: None,
            strict_tools: false,
            models: BTreeMap::new(),
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

    /// Sets the address.
    ///
    /// # Errors
    /// [`InvalidUri`] where it is none.
    pub fn at(self, base: &str) -> Result<Self, InvalidUri> {
        let base = base.trim().trim_end_matches('/');
        base.parse::<Uri>()?;
        Ok(Self { base: base.to_owned(), endpoint: endpoint(base), ..self })
    }

    /// Names the provider, for origins and for the extras of a call: the profile's name if it isn't set.
    #[must_use]
    pub fn provider(self, name: impl Into<String>) -> Self {
        let provider = name.into();
        Self { unknown: Arc::new(unknown(&provider)), provider, ..self }
    }

    /// Adds a header to every request. With `authorization` no credential is added.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
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

    /// Says what is known of a model.
    #[must_use]
    pub fn model(mut self, facts: ModelFacts) -> Self {
        self.models.insert(facts.model.clone(), Arc::new(facts));
        self
    }

    /// What is known of a model; of one that nobody told of, that it may see images.
    pub fn facts(&self, model: &str) -> Arc<ModelFacts> {
        self.models.get(model).unwrap_or(&self.unknown).clone()
    }
}

fn endpoint(base: &str) -> Option<Uri> {
    format!("{base}/chat/completions").parse().ok().filter(|_| !base.is_empty())
}

fn unknown(provider: &str) -> ModelFacts {
    let mut facts = ModelFacts::new(provider, "");
    (facts.abilities.images, facts.abilities.reasoning) = (true, true);
    facts
}

impl Wire for ChatWire {
    type Decoder = ChatDecoder;

    fn origin(&self, model: &str) -> Origin {
        Origin::new(PROTOCOL, &*self.provider, model)
    }

    fn encode(&self, call: &ModelCall) -> Result<Encoded, ProviderError> {
        chat::encode(self, call)
    }

    fn authorize(&self, parts: &mut Parts, _: &Segments, credential: &Credential, _: u64) -> Result<(), ProviderError> {
        if parts.headers.contains_key(header::AUTHORIZATION) {
            return Ok(());
        }
        let secret = match credential {
            Credential::Anonymous => return Ok(()),
            Credential::ApiKey(secret) | Credential::Bearer(secret) => secret,
            other => {
                let text = format!("Chat Completions cannot use {other}; give it an API key or a bearer token");
                return Err(ProviderError::new(ProviderErrorKind::Auth, text));
            }
        };
        let value = HeaderValue::from_str(&format!("Bearer {}", secret.expose().trim()));
        let mut value = value.map_err(|_| {
            let text = format!("{credential} has characters that no header can hold");
            ProviderError::new(ProviderErrorKind::Auth, text)
        })?;
        value.set_sensitive(true);
        parts.headers.insert(header::AUTHORIZATION, value);
        Ok(())
    }

    fn decoder(&self, _: &HeaderMap) -> ChatDecoder {
        ChatDecoder::new(self)
    }
}
