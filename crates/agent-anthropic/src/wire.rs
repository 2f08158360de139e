//! The wire: its settings, its credentials, and core's `Wire` over the encoder and the decoder.

use std::collections::BTreeMap;

use agent_core::{
    CacheLifetime, Credential, Encoded, ModelCall, ModelFacts, Origin, ProviderError, ProviderErrorKind, Secret,
    Segments, Wire, classify,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header, request::Parts, uri::InvalidUri};

use crate::{
    PROTOCOL,
    decode::{AnthropicDecoder, with_request_id},
    models::facts_of,
    request::{self, Purpose, ToolLosses},
    revision::{KeyHeader, Revision},
};

const DEFAULT_BASE: &str = "https://api.anthropic.com/v1";
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// What becomes of readable reasoning that another model made, or that nobody signed. Redacted reasoning of another
/// model is always left out. Either is reported as a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ForeignThinking {
    /// It is left out.
    #[default]
    Drop,
    /// It is shown to the model as text of the assistant, between `<thinking>` tags.
    Text,
}

/// The Messages protocol at one address. Cheap to clone in no hot place: make one and share it in its provider.
///
/// ```
/// use agent_anthropic::AnthropicWire;
/// use agent_core::Wire;
/// let wire = AnthropicWire::new().beta("context-management-2025-06-27");
/// assert_eq!(wire.origin("claude-sonnet-5").provider, "anthropic");
/// ```
#[derive(Debug, Clone)]
pub struct AnthropicWire {
    pub(crate) provider: String,
    pub(crate) base: String,
    pub(crate) revision: Revision,
    key: Option<KeyHeader>,
    pub(crate) headers: HeaderMap,
    pub(crate) betas: Vec<String>,
    models: BTreeMap<String, ModelFacts>,
    answers_as: BTreeMap<String, String>,
    pub(crate) foreign: ForeignThinking,
    pub(crate) prefix_cache: Option<CacheLifetime>,
    pub(crate) strict_tools: bool,
    pub(crate) tool_losses: ToolLosses,
}

impl Default for AnthropicWire {
    fn default() -> Self {
        Self {
            provider: "anthropic".to_owned(),
            base: DEFAULT_BASE.to_owned(),
            revision: Revision::default(),
            key: None,
            headers: HeaderMap::new(),
            betas: Vec::new(),
            models: BTreeMap::new(),
            answers_as: BTreeMap::new(),
            foreign: ForeignThinking::default(),
            prefix_cache: None,
            strict_tools: false,
            tool_losses: ToolLosses::default(),
        }
    }
}

impl AnthropicWire {
    /// The vendor's own service.
    pub fn new() -> Self {
        Self::default()
    }

    /// A compatible server or gateway. `base` is the address before `/messages`; slashes at its end do not count, and
    /// the vendor's bare host gets its `/v1`.
    ///
    /// # Errors
    /// [`InvalidUri`] where `base` is no address.
    pub fn at(base: &str) -> Result<Self, InvalidUri> {
        let base = match base.trim().trim_end_matches('/') {
            "https://api.anthropic.com" => DEFAULT_BASE,
            base => base,
        };
        base.parse::<Uri>()?;
        Ok(Self { base: base.to_owned(), ..Self::default() })
    }

    /// Names the provider, for origins and for the extras of a call: `anthropic` if it isn't set.
    #[must_use]
    pub fn provider(self, name: impl Into<String>) -> Self {
        Self { provider: name.into(), ..self }
    }

    /// Sets the revision of the protocol; the newest if it isn't set.
    #[must_use]
    pub fn revision(self, revision: Revision) -> Self {
        Self { revision, ..self }
    }

    /// Says where an API key goes, whatever the revision says.
    #[must_use]
    pub fn key_header(self, key: KeyHeader) -> Self {
        Self { key: Some(key), ..self }
    }

    /// Adds a header to every request. With `authorization` or `x-api-key` no credential is added.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Switches a beta on, by its name in `anthropic-beta`; one call can add more under `betas` in its extras.
    #[must_use]
    pub fn beta(mut self, name: impl Into<String>) -> Self {
        self.betas.push(name.into());
        self
    }

    /// Sets what is known of a model, instead of what its name tells ([`facts_of`]). Quirks that this wire knows are
    /// [`BUDGET_THINKING`](crate::BUDGET_THINKING), [`ALWAYS_THINKS`](crate::ALWAYS_THINKS) and
    /// [`NO_FORCED_TOOL`](crate::NO_FORCED_TOOL).
    #[must_use]
    pub fn model(mut self, facts: ModelFacts) -> Self {
        self.models.insert(facts.model.clone(), facts);
        self
    }

    /// Says under which name a model answers, where it isn't the one that is asked for: a deployment, a route of a
    /// gateway. Without it the reasoning of such a model counts as another model's.
    #[must_use]
    pub fn answers_as(mut self, asked: impl Into<String>, answers: impl Into<String>) -> Self {
        self.answers_as.insert(asked.into(), answers.into());
        self
    }

    /// Says what becomes of reasoning of other models.
    #[must_use]
    pub fn foreign_thinking(self, foreign: ForeignThinking) -> Self {
        Self { foreign, ..self }
    }

    /// Caches tools and system prompt for longer than the messages. The vendor wants longer lifetimes first, so a
    /// shorter one than the messages' is ignored.
    #[must_use]
    pub fn prefix_cache(self, lifetime: CacheLifetime) -> Self {
        Self { prefix_cache: Some(lifetime), ..self }
    }

    /// Makes the vendor keep the arguments of every tool to its schema (`strict`). Schemas are lowered as
    /// [`lower_output_schema`](crate::lower_output_schema) does, with what was lost reported.
    #[must_use]
    pub fn strict_tools(self) -> Self {
        Self { strict_tools: true, ..self }
    }

    /// What is known of a model.
    pub fn facts(&self, model: &str) -> ModelFacts {
        self.models.get(model).cloned().unwrap_or_else(|| facts_of(&self.provider, model))
    }

    /// Whether the facts of a model were given, and not read from its name.
    pub(crate) fn knows(&self, model: &str) -> bool {
        self.models.contains_key(model)
    }

    /// Who blocks have to be of to go back as they are.
    pub(crate) fn target(&self, model: &str) -> Origin {
        let answers = self.answers_as.get(model).map_or(model, String::as_str);
        Origin::new(PROTOCOL, &*self.provider, answers)
    }

    pub(crate) fn put_credential(&self, parts: &mut Parts, credential: &Credential) -> Result<(), ProviderError> {
        if parts.headers.contains_key(header::AUTHORIZATION) || parts.headers.contains_key(API_KEY) {
            return Ok(());
        }
        let (name, text) = match credential {
            Credential::Anonymous => return Ok(()),
            Credential::Bearer(token) => (header::AUTHORIZATION, bearer(token)),
            // An OAuth token is no key, whatever it was handed in as.
            Credential::ApiKey(key) if key.expose().contains("sk-ant-oat") => (header::AUTHORIZATION, bearer(key)),
            Credential::ApiKey(key) => match self.key.unwrap_or(self.revision.key_header()) {
                KeyHeader::Bearer => (header::AUTHORIZATION, bearer(key)),
                KeyHeader::XApiKey => (API_KEY, key.expose().trim().to_owned()),
            },
            other => {
                let text = format!("the Messages protocol cannot use {other}; give it an API key or a bearer token");
                return Err(ProviderError::new(ProviderErrorKind::Auth, text));
            }
        };
        let mut value = HeaderValue::from_str(&text).map_err(|_| {
            let text = format!("{credential} has characters that no header can hold");
            ProviderError::new(ProviderErrorKind::Auth, text)
        })?;
        value.set_sensitive(true);
        parts.headers.insert(name, value);
        Ok(())
    }
}

fn bearer(secret: &Secret) -> String {
    format!("Bearer {}", secret.expose().trim())
}

impl Wire for AnthropicWire {
    type Decoder = AnthropicDecoder;

    fn origin(&self, model: &str) -> Origin {
        Origin::new(PROTOCOL, &*self.provider, model)
    }

    fn encode(&self, call: &ModelCall) -> Result<Encoded, ProviderError> {
        request::encode(self, call, Purpose::Answer)
    }

    fn authorize(&self, parts: &mut Parts, _: &Segments, credential: &Credential, _: u64) -> Result<(), ProviderError> {
        self.put_credential(parts, credential)
    }

    fn decoder(&self, _: &HeaderMap) -> AnthropicDecoder {
        AnthropicDecoder::new(&self.provider)
    }

    fn classify(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ProviderError {
        with_request_id(classify(status, headers, body), body)
    }
}
