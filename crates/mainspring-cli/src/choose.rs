//! Which model answers: the one that is named, one whose key is there, a local server's, or none.

use std::{sync::Arc, time::Duration};

use agent_core::{Body, Credential, HttpClient, ModelFacts, Provider};
use agent_http::{CredentialForm, EnvCredential, HttpStack};
use agent_models::Catalogue;
use mainspring::{ModelError, Models};
use serde::Deserialize;

use crate::{
    config::{self, Config},
    error::Error,
    offline::{self, Offline},
};

/// A model that was chosen, and why.
pub(crate) struct Chosen {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) facts: ModelFacts,
    /// `provider/model`.
    pub(crate) name: String,
    /// Why this one, where nobody named it.
    pub(crate) why: Option<String>,
}

/// Which provider is taken first where several keys are there, and its model.
const BY_KEY: [(&str, &str); 11] = [
    ("anthropic", "anthropic/claude-sonnet-5"),
    ("openai", "openai/gpt-6-sol"),
    ("google", "google/gemini-3.1-pro-preview"),
    ("xai", "xai/grok-4.7"),
    ("mistral", "mistral/mistral-large-4"),
    ("deepseek", "deepseek/deepseek-v4-pro"),
    ("groq", "groq/openai/gpt-oss-120b"),
    ("zai", "zai/glm-5.3"),
    ("qwen", "qwen/qwen3.8-max"),
    ("minimax", "minimax/MiniMax-M3"),
    ("meta", "meta/muse-spark-1.3"),
];

/// Servers on this machine, where their documentation puts them, with the provider of the catalogue that speaks to
/// them: Ollama (<https://docs.ollama.com/api>), LM Studio (<https://lmstudio.ai/docs/developer>), llama.cpp
/// (<https://github.com/ggml-org/llama.cpp>).
const LOCAL: [&str; 3] = ["http://127.0.0.1:11434/v1", "http://127.0.0.1:1234/v1", "http://127.0.0.1:8080/v1"];

/// How long a local server may take to say what it has.
const PROBE: Duration = Duration::from_millis(400);

/// Opens models with the addresses of the configuration.
pub(crate) fn models(config: &Config) -> Models {
    let mut models = Models::new();
    for (provider, at) in &config.providers {
        if let Some(address) = &at.base_url {
            models = models.base_url(provider, address);
        }
        if let Some(variable) = &at.key_variable {
            models = models.credential(provider, EnvCredential::new([variable]).form(CredentialForm::ApiKey).source());
        }
    }
    models
}

/// The model that is named, or the best one that is there.
pub(crate) async fn choose(named: Option<&str>, config: &Config) -> Result<Chosen, Error> {
    if let Some(name) = named {
        return open(&models(config), name, None);
    }
    if let Some((variable, name)) = by_key() {
        return open(&models(config), name, Some(format!("{variable} is set")));
    }
    let servers = futures_util::future::join_all(addresses(config).into_iter().map(probe)).await;
    for server in servers.into_iter().flatten() {
        let Some(model) = server.models.first() else { continue };
        let at = if server.address.contains(":11434") { "ollama" } else { "local" };
        let models = models(config).base_url(at, &server.address).credential(at, Credential::Anonymous);
        return open(&models, &format!("{at}/{model}"), Some(format!("a server answers at {}", server.address)));
    }
    Ok(demo(Some("no key in the environment and no local server; `mainspring doctor` says what was looked for".into())))
}

fn open(models: &Models, name: &str, why: Option<String>) -> Result<Chosen, Error> {
    if name == demo_name() {
        return Ok(demo(why));
    }
    let model = models.open(name).map_err(|error| match error {
        ModelError::NoAddress { provider, .. } => Error::NoAddress { provider },
        other => Error::Model(other),
    })?;
    let facts = model.facts().clone();
    Ok(Chosen { provider: model.provider(), name: model.entry().id(), facts, why })
}

/// The name of the model by rules.
pub(crate) fn demo_name() -> String {
    format!("{}/{}", offline::PROVIDER, offline::MODEL)
}

fn demo(why: Option<String>) -> Chosen {
    Chosen { provider: Arc::new(Offline::new()), facts: Offline::facts(), name: demo_name(), why }
}

/// The first provider in our order whose key is in the environment.
fn by_key() -> Option<(String, &'static str)> {
    BY_KEY.into_iter().find_map(|(provider, model)| Some((key_of(provider)?, model)))
}

/// The variable that is set of those that hold a provider's key; never its value.
pub(crate) fn key_of(provider: &str) -> Option<String> {
    let keys = Catalogue::bundled().provider(provider).keys;
    keys.into_iter().find(|variable| config::env(variable).is_some())
}

/// A local server that answers.
pub(crate) struct LocalServer {
    pub(crate) address: String,
    pub(crate) models: Vec<String>,
}

/// Where local servers are looked for: as the environment says, else where the configuration has one, and the usual
/// places.
pub(crate) fn addresses(config: &Config) -> Vec<String> {
    match config::env("MAINSPRING_LOCAL_SERVERS") {
        Some(list) if list.trim() == "none" => Vec::new(),
        Some(list) => list.split(',').map(|address| address.trim().to_owned()).collect(),
        None => {
            let configured = config.providers.get("local").and_then(|at| at.base_url.clone());
            configured.into_iter().chain(LOCAL.map(str::to_owned)).collect()
        }
    }
}

/// What a local server has; `None` where none answers in time.
pub(crate) async fn probe(address: String) -> Option<LocalServer> {
    let http = HttpClient::from(HttpStack::shared());
    let request = http::Request::get(format!("{}/models", address.trim_end_matches('/'))).body(Body::empty()).ok()?;
    let answer = async {
        let response = http.send(request).await.ok()?;
        if !response.status().is_success() {
            return None;
        }
        response.into_body().collect(1024 * 1024).await.ok()
    };
    let body = tokio::time::timeout(PROBE, answer).await.ok()??;
    let list: List = serde_json::from_slice(&body).ok()?;
    Some(LocalServer { address, models: list.data.into_iter().map(|model| model.id).collect() })
}

/// `GET /v1/models` of servers that speak OpenAI's protocol.
#[derive(Deserialize)]
struct List {
    data: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    id: String,
}

#[cfg(test)]
mod tests {
    //! The models that are taken by their key.

    use agent_models::Catalogue;

    use super::BY_KEY;

    #[test]
    fn models_that_are_taken_by_their_key_are_known_and_take_that_key() {
        for (provider, name) in BY_KEY {
            let entry = Catalogue::bundled().model(name).unwrap();
            assert!(entry.known && entry.facts.provider == provider && entry.facts.abilities.tools, "{name}");
            assert!(!Catalogue::bundled().provider(provider).keys.is_empty(), "{provider}");
        }
    }
}
