//! From the name of a model to a provider that can be asked.

use std::{collections::BTreeMap, fmt, sync::Arc};

use agent_anthropic::{ALWAYS_THINKS, AnthropicWire, BUDGET_THINKING, KeyHeader, NO_FORCED_TOOL};
use agent_core::{CallOptions, Credential, CredentialSource, HttpClient, HttpProvider, ModelFacts, Provider, Timer};
use agent_google::GoogleWire;
use agent_http::{CredentialForm, EnvCredential, HttpStack, TokioTimer};
use agent_loop::{Agent, AgentBuilder};
use agent_models::{AuthStyle, Catalogue, LookupError, ModelEntry, Protocol, ProviderFacts, ThinkingMode};
use agent_openai::{ChatWire, Profile, ResponsesWire};

/// Why the name of a model is not enough.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The name says nothing.
    #[error("the model cannot be found")]
    Name(#[from] LookupError),
    /// The catalogue does not know the provider, and nobody said where it is.
    #[error("the provider `{provider}` is not known; say where it is with `Models::base_url`, or write one of {known}")]
    NoAddress {
        /// The provider.
        provider: String,
        /// The providers that are known.
        known: String,
    },
    /// An address that is none.
    #[error("`{address}` is no address for the provider `{provider}`")]
    Address {
        /// The provider.
        provider: String,
        /// The address.
        address: String,
        /// The cause.
        source: agent_core::BoxError,
    },
    /// This build speaks no such protocol.
    #[error("the model `{model}` speaks {protocol}, and this build has no wire for it")]
    NoWire {
        /// The model.
        model: String,
        /// The protocol.
        protocol: Protocol,
    },
}

/// Opens models by their names.
///
/// ```
/// use mainspring::{Models, core::{Credential, Secret}};
/// let models = Models::new()
///     .base_url("anthropic", "http://127.0.0.1:8080/v1")
///     .credential("anthropic", Credential::ApiKey(Secret::new("local")));
/// assert_eq!(models.open("anthropic/claude-sonnet-5")?.facts().model, "claude-sonnet-5");
/// # Ok::<(), mainspring::ModelError>(())
/// ```
#[derive(Clone)]
pub struct Models {
    catalogue: Arc<Catalogue>,
    http: HttpClient,
    timer: Arc<dyn Timer>,
    addresses: BTreeMap<String, String>,
    credentials: BTreeMap<String, Arc<dyn CredentialSource>>,
}

impl Default for Models {
    fn default() -> Self {
        Self::new()
    }
}

impl Models {
    /// The bundled catalogue, over the process's HTTP stack.
    pub fn new() -> Self {
        Self {
            catalogue: Arc::new(Catalogue::bundled().clone()),
            http: HttpClient::from(HttpStack::shared()),
            timer: Arc::new(TokioTimer::new()),
            addresses: BTreeMap::new(),
            credentials: BTreeMap::new(),
        }
    }

    /// Another catalogue: the bundled one with your own rows over it.
    #[must_use]
    pub fn catalogue(self, catalogue: Catalogue) -> Self {
        Self { catalogue: Arc::new(catalogue), ..self }
    }

    /// Another HTTP stack.
    #[must_use]
    pub fn http(self, http: HttpClient) -> Self {
        Self { http, ..self }
    }

    /// Another clock.
    #[must_use]
    pub fn timer(self, timer: Arc<dyn Timer>) -> Self {
        Self { timer, ..self }
    }

    /// Says where a provider is: a gateway, a local server. The key in the environment is its own provider's and is not
    /// sent there: give a [`credential`](Self::credential) too, where one is needed.
    #[must_use]
    pub fn base_url(mut self, provider: impl Into<String>, address: impl Into<String>) -> Self {
        self.addresses.insert(provider.into(), address.into());
        self
    }

    /// Says how a provider is told who asks, in place of the environment's key.
    #[must_use]
    pub fn credential(mut self, provider: impl Into<String>, source: impl CredentialSource + 'static) -> Self {
        self.credentials.insert(provider.into(), Arc::new(source));
        self
    }

    /// Opens `provider/model`, an alias, or the bare name of a model that one provider has. Nothing is sent, and no key
    /// is looked up: a missing one is an error of the first call, before it is sent, that names the variable.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn open(&self, name: &str) -> Result<Model, ModelError> {
        let entry = self.catalogue.model(name)?;
        let at = self.catalogue.provider(&entry.facts.provider);
        let address = self.address(&at)?;
        let credentials = self.source(&at);
        let invalid = |source| ModelError::Address { provider: at.id.clone(), address: address.clone(), source };
        let provider: Arc<dyn Provider> = match entry.protocol {
            Protocol::OpenAiChat => {
                let profile = at.profile.as_deref().unwrap_or(&at.id);
                let wire = ChatWire::of(Profile::named(profile).unwrap_or(Profile::compatible()));
                let wire = wire.at(&address).map_err(|source| invalid(source.into()))?;
                let wire = wire.provider(&at.id).model(entry.facts.clone());
                Arc::new(HttpProvider::new(wire, self.http.clone(), credentials, self.timer.clone()))
            }
            Protocol::OpenAiResponses | Protocol::Azure => {
                let wire = match entry.protocol {
                    Protocol::Azure => ResponsesWire::azure(&address).map(|wire| wire.provider(&at.id)),
                    _ => ResponsesWire::openai().provider(&at.id).at(&address),
                };
                let wire = wire.map_err(|source| invalid(source.into()))?.model(entry.facts.clone());
                Arc::new(HttpProvider::new(wire, self.http.clone(), credentials, self.timer.clone()))
            }
            Protocol::Gemini => {
                let wire = GoogleWire::gemini().at(&address).map_err(|source| invalid(source.into()))?;
                let wire = wire.provider(&at.id).model(entry.facts.clone());
                Arc::new(HttpProvider::new(wire, self.http.clone(), credentials, self.timer.clone()))
            }
            Protocol::AnthropicMessages => {
                let wire = AnthropicWire::at(&address).map_err(|source| invalid(source.into()))?;
                let wire = wire.provider(&at.id).model(anthropic_facts(&entry));
                let wire = match at.auth {
                    AuthStyle::XApiKey => wire,
                    _ => wire.key_header(KeyHeader::Bearer),
                };
                Arc::new(HttpProvider::new(wire, self.http.clone(), credentials, self.timer.clone()))
            }
            protocol => return Err(ModelError::NoWire { model: entry.id(), protocol }),
        };
        Ok(Model { provider, entry, timer: self.timer.clone() })
    }

    /// Begins an agent that asks this model.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn agent(&self, name: &str) -> Result<AgentBuilder, ModelError> {
        Ok(self.open(name)?.agent())
    }

    fn address(&self, at: &ProviderFacts) -> Result<String, ModelError> {
        let given = self.addresses.get(&at.id).or(at.base_url.as_ref());
        given.cloned().ok_or_else(|| {
            let known: Vec<_> = self.catalogue.providers().into_iter().map(|provider| provider.id).collect();
            ModelError::NoAddress { provider: at.id.clone(), known: known.join(", ") }
        })
    }

    fn source(&self, at: &ProviderFacts) -> Arc<dyn CredentialSource> {
        let moved = self.addresses.get(&at.id).is_some_and(|address| Some(address) != at.base_url.as_ref());
        match self.credentials.get(&at.id) {
            Some(given) => given.clone(),
            None if moved || at.keys.is_empty() || at.auth == AuthStyle::None => Arc::new(Credential::Anonymous),
            None => Arc::new(EnvCredential::new(at.keys.clone()).form(CredentialForm::ApiKey).source()),
        }
    }
}

/// What the wire has to know of a model, in its own words.
fn anthropic_facts(entry: &ModelEntry) -> ModelFacts {
    let mut facts = entry.facts.clone();
    let has = |quirk: &str| entry.facts.quirks.iter().any(|known| known == quirk);
    let quirks = [
        (BUDGET_THINKING, entry.thinking == ThinkingMode::Budget),
        (ALWAYS_THINKS, entry.always_thinks),
        (NO_FORCED_TOOL, has("no-forced-tool-choice")),
    ];
    facts.quirks.extend(quirks.into_iter().filter(|(_, set)| *set).map(|(name, _)| name.to_owned()));
    facts
}

/// A model that can be asked.
#[derive(Clone)]
pub struct Model {
    provider: Arc<dyn Provider>,
    entry: ModelEntry,
    timer: Arc<dyn Timer>,
}

impl Model {
    /// Who answers.
    pub fn provider(&self) -> Arc<dyn Provider> {
        self.provider.clone()
    }

    /// What budgets and policies read.
    pub fn facts(&self) -> &ModelFacts {
        &self.entry.facts
    }

    /// All that the catalogue knows, and what it assumes.
    pub fn entry(&self) -> &ModelEntry {
        &self.entry
    }

    /// Options that ask this model for as much as it can say at once.
    pub fn options(&self) -> CallOptions {
        let options = CallOptions::new(&self.entry.facts.model);
        match self.entry.facts.max_output {
            Some(tokens) => options.max_output(tokens),
            None => options,
        }
    }

    /// Begins an agent that asks this model.
    pub fn agent(&self) -> AgentBuilder {
        self.agent_with(self.options())
    }

    /// The same with options of your own: a system prompt, a temperature.
    pub fn agent_with(&self, options: impl Into<Arc<CallOptions>>) -> AgentBuilder {
        Agent::shared(self.provider.clone(), options, self.timer.clone()).facts(self.entry.facts.clone())
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Model({})", self.entry.id())
    }
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Models").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

/// Begins an agent that asks this model: `provider/model`, with the provider's key from the environment.
///
/// # Errors
/// [`ModelError`].
pub fn agent(model: &str) -> Result<AgentBuilder, ModelError> {
    Models::new().agent(model)
}
