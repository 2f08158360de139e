//! The wire: its settings, its credentials, and core's `Wire` over the encoder and the decoder.

use std::collections::BTreeMap;

use agent_core::{
    Credential, Encoded, ModelCall, ModelFacts, Origin, ProviderError, ProviderErrorKind, Segments, Wire,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header, request::Parts, uri::InvalidUri};

use crate::{
    PROTOCOL,
    decode::GoogleDecoder,
    error,
    models::{facts_of, quirks_of},
    place::{ApiVersion, GEMINI_BASE, Place, vertex_base},
    request::{self, ToolLosses},
    schema::SchemaDialect,
};

const API_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

/// Gemini models at one address. Make one and share it in its provider.
///
/// Fields of a request that have no place in core's options go into the extras of a call, under the provider's name,
/// as the vendor's request has them: `safetySettings`, `cachedContent`, `labels` and others stand as they are,
/// `generationConfig` and `toolConfig` are merged field by field, `tools` come behind the functions. With
/// `cachedContent` the vendor wants neither system prompt nor tools, which then have to stand in what is cached.
///
/// ```
/// use agent_core::Wire;
/// use agent_google::GoogleWire;
/// let wire = GoogleWire::gemini().safety("HARM_CATEGORY_HARASSMENT", "BLOCK_ONLY_HIGH");
/// assert_eq!(wire.origin("gemini-3.8-flash").protocol, "gemini");
/// ```
#[derive(Debug, Clone)]
pub struct GoogleWire {
    pub(crate) provider: String,
    pub(crate) base: String,
    pub(crate) place: Place,
    pub(crate) version: ApiVersion,
    pub(crate) dialect: SchemaDialect,
    pub(crate) safety: Vec<(String, String)>,
    pub(crate) headers: HeaderMap,
    models: BTreeMap<String, ModelFacts>,
    answers_as: BTreeMap<String, String>,
    pub(crate) tool_losses: ToolLosses,
}

impl GoogleWire {
    /// The Gemini API, at its version `v1beta`, which has all features.
    pub fn gemini() -> Self {
        Self::of("google", GEMINI_BASE.to_owned(), Place::Gemini, ApiVersion::V1Beta)
    }

    /// Vertex AI, at its version `v1`. `location` is a region such as `europe-west4`, a multi-region (`us`, `eu`), or
    /// `global`.
    pub fn vertex(project: impl Into<String>, location: impl Into<String>) -> Self {
        let (project, location) = (project.into(), location.into());
        let base = vertex_base(&location);
        Self::of("vertex", base, Place::Vertex { project, location }, ApiVersion::V1)
    }

    fn of(provider: &str, base: String, place: Place, version: ApiVersion) -> Self {
        Self {
            provider: provider.to_owned(),
            base,
            place,
            version,
            dialect: SchemaDialect::default(),
            safety: Vec::new(),
            headers: HeaderMap::new(),
            models: BTreeMap::new(),
            answers_as: BTreeMap::new(),
            tool_losses: ToolLosses::default(),
        }
    }

    /// Sets the address: what stands before the version. Slashes at its end do not count, and a version at its end
    /// sets the version.
    ///
    /// # Errors
    /// [`InvalidUri`] where it is no address.
    pub fn at(mut self, base: &str) -> Result<Self, InvalidUri> {
        let base = base.trim().trim_end_matches('/');
        let versions = [("/v1", ApiVersion::V1), ("/v1beta", ApiVersion::V1Beta), ("/v1beta1", ApiVersion::V1Beta)];
        let found = versions.into_iter().find_map(|(end, version)| Some((base.strip_suffix(end)?, version)));
        let base = match found {
            Some((base, version)) => {
                self.version = version;
                base.trim_end_matches('/')
            }
            None => base,
        };
        base.parse::<Uri>()?;
        Ok(Self { base: base.to_owned(), ..self })
    }

    /// Names the provider, for origins and for the extras of a call: `google` or `vertex` if it isn't set.
    #[must_use]
    pub fn provider(self, name: impl Into<String>) -> Self {
        Self { provider: name.into(), ..self }
    }

    /// Sets the version of the API.
    #[must_use]
    pub fn version(self, version: ApiVersion) -> Self {
        Self { version, ..self }
    }

    /// Sets the dialect in which schemas are sent.
    #[must_use]
    pub fn dialect(self, dialect: SchemaDialect) -> Self {
        Self { dialect, ..self }
    }

    /// Sets from which threshold on content of a category is blocked, by the vendor's names
    /// (<https://ai.google.dev/gemini-api/docs/safety-settings>). `safetySettings` in the extras of a call win.
    #[must_use]
    pub fn safety(mut self, category: impl Into<String>, threshold: impl Into<String>) -> Self {
        let (category, threshold) = (category.into(), threshold.into());
        self.safety.retain(|(known, _)| *known != category);
        self.safety.push((category, threshold));
        self
    }

    /// Adds a header to every request. With `authorization` or `x-goog-api-key` no credential is added.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Sets what is known of a model, instead of what its name tells ([`facts_of`]). A model with steps of effort is
    /// told a level of thinking, one without a budget of tokens. Quirks are [`BEFORE_3`](crate::BEFORE_3) and
    /// [`ALWAYS_THINKS`](crate::ALWAYS_THINKS); those that the name tells are added.
    #[must_use]
    pub fn model(mut self, facts: ModelFacts) -> Self {
        self.models.insert(facts.model.clone(), facts);
        self
    }

    /// Says under which name a model answers, where it isn't the one that is asked for: a tuned model, an endpoint, a
    /// route of a gateway. Without it the signatures of such a model count as another model's.
    #[must_use]
    pub fn answers_as(mut self, asked: impl Into<String>, answers: impl Into<String>) -> Self {
        self.answers_as.insert(asked.into(), answers.into());
        self
    }

    /// What is known of a model.
    pub fn facts(&self, model: &str) -> ModelFacts {
        let Some(known) = self.models.get(model) else { return facts_of(&self.provider, model) };
        let mut facts = known.clone();
        let told = quirks_of(model).into_iter().filter(|quirk| !known.quirks.contains(quirk));
        facts.quirks.extend(told);
        facts
    }

    /// Who blocks have to be of to go back as they are.
    pub(crate) fn target(&self, model: &str) -> Origin {
        let answers = self.answers_as.get(model).map_or(model, String::as_str);
        Origin::new(PROTOCOL, &*self.provider, answers)
    }
}

impl Wire for GoogleWire {
    type Decoder = GoogleDecoder;

    fn origin(&self, model: &str) -> Origin {
        Origin::new(PROTOCOL, &*self.provider, model)
    }

    fn encode(&self, call: &ModelCall) -> Result<Encoded, ProviderError> {
        request::encode(self, call)
    }

    fn authorize(&self, parts: &mut Parts, _: &Segments, credential: &Credential, _: u64) -> Result<(), ProviderError> {
        if parts.headers.contains_key(header::AUTHORIZATION) || parts.headers.contains_key(API_KEY) {
            return Ok(());
        }
        // Never in the address, which ends up in logs.
        let (name, text) = match credential {
            Credential::Anonymous => return Ok(()),
            Credential::ApiKey(key) => (API_KEY, key.expose().to_owned()),
            Credential::Bearer(token) => (header::AUTHORIZATION, format!("Bearer {}", token.expose())),
            other => {
                let text = format!("Gemini cannot use {other}; give it an API key or a bearer token");
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

    fn decoder(&self, _: &HeaderMap) -> GoogleDecoder {
        GoogleDecoder::new(&self.provider)
    }

    fn classify(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ProviderError {
        error::of_response(status, headers, body)
    }
}
