//! Reading a document of models.dev.

use std::collections::BTreeMap;

use agent_core::Effort;
use serde_json::value::RawValue;

use super::{
    ModelsDev, ModelsDevError, Skipped, cost,
    object::{Object, Place},
};
use crate::{AuthStyle, ModelRow, Protocol, StructuredMode};

/// At most so many bytes are read; in 2026 the document has about 3 MB.
const BYTES: usize = 64 << 20;
/// At most so many models are read.
const MODELS: usize = 100_000;
/// At most so many bytes has a name.
const NAME: usize = 256;

/// What the document says of a provider.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct FoundProvider {
    pub(super) name: Option<String>,
    pub(super) protocol: Option<Protocol>,
    pub(super) base_url: Option<String>,
    pub(super) keys: Vec<String>,
    pub(super) models: BTreeMap<String, ModelRow>,
}

impl ModelsDev {
    /// Reads a document.
    ///
    /// # Errors
    /// [`ModelsDevError`] where it is too long or no object of providers. Everything inside of that is skipped and
    /// reported where it cannot be read.
    pub fn read(document: &[u8]) -> Result<Self, ModelsDevError> {
        if document.len() > BYTES {
            return Err(ModelsDevError::TooLong { bytes: document.len(), limit: BYTES });
        }
        let providers = Object::document(document)?;
        let mut found = Self::default();
        let mut room = MODELS;
        for (id, provider) in providers.iter() {
            let mut place = Place { of: id, document: &mut found };
            match Object::parse(provider) {
                _ if !is_name(id) || id.contains('/') => place.skip("", "a provider whose id is no id"),
                None => place.skip("", "a provider that is no object"),
                Some(provider) => {
                    let read = read_provider(id, &provider, &mut room, &mut found);
                    found.providers.insert(id.to_owned(), read);
                }
            }
        }
        Ok(found)
    }

    /// `provider/model` of every model that could be read, by the ids of the document.
    pub fn models(&self) -> impl Iterator<Item = (&str, &str, &ModelRow)> {
        self.providers.iter().flat_map(|(provider, found)| {
            found.models.iter().map(move |(model, row)| (provider.as_str(), model.as_str(), row))
        })
    }

    /// What could not be read.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }
}

fn read_provider(id: &str, provider: &Object<'_>, room: &mut usize, document: &mut ModelsDev) -> FoundProvider {
    let mut place = Place { of: id, document };
    let mut found = FoundProvider {
        name: provider.field("name", &mut place).filter(|name: &String| is_name(name)),
        keys: provider.field("env", &mut place).unwrap_or_default(),
        base_url: provider.field("api", &mut place),
        ..FoundProvider::default()
    };
    found.keys.retain(|key| is_key_variable(key));
    if found.base_url.as_ref().is_some_and(|url| !is_base_url(url)) {
        place.skip("api", "an address that is incomplete or not encrypted");
        found.base_url = None;
    }
    let package: Option<String> = provider.field("npm", &mut place);
    found.protocol = package.as_deref().and_then(|package| protocol_of(package, found.base_url.is_some()));
    let Some(models) = provider.object("models", &mut place) else { return found };
    for (model, value) in models.iter() {
        let name = format!("{id}/{model}");
        let mut place = Place { of: &name, document };
        if !is_name(model) {
            place.skip("", "a model whose id is no id");
        } else if *room == 0 {
            place.skip("", "more models than are read");
        } else if let Some(row) = Object::parse(value).and_then(|value| read_model(&value, &mut place)) {
            *room -= 1;
            found.models.insert(model.to_owned(), row);
        } else {
            place.skip("", "a model that is no object or does not write text");
        }
    }
    found
}

fn read_model(model: &Object<'_>, place: &mut Place<'_>) -> Option<ModelRow> {
    let mut row =
        ModelRow { name: model.field("name", place).filter(|name: &String| is_name(name)), ..Default::default() };
    if let Some(modalities) = model.object("modalities", place) {
        let has = |list: &Vec<String>, word: &str| list.iter().any(|item| item == word);
        if let Some(output) = modalities.field::<Vec<String>>("output", place)
            && !has(&output, "text")
        {
            return None;
        }
        if let Some(input) = modalities.field::<Vec<String>>("input", place) {
            row.images = Some(has(&input, "image"));
            row.documents = Some(has(&input, "pdf"));
        }
    }
    if let Some(limit) = model.object("limit", place) {
        row.window = limit.tokens("context", place);
        row.max_output = limit.tokens("output", place);
    }
    row.reasoning = model.field("reasoning", place);
    row.temperature = model.field("temperature", place);
    row.structured_output = model
        .field("structured_output", place)
        .map(|can: bool| if can { StructuredMode::JsonSchema } else { StructuredMode::None });
    read_tools(model, &mut row, place);
    read_reasoning(model, &mut row, place);
    if model.field::<String>("status", place).is_some_and(|status| status == "deprecated") {
        row.note = Some("deprecated".to_owned());
    }
    row.price = model.object("cost", place).and_then(|cost| cost::read(&cost, place));
    Some(row)
}

/// `tool_call` is a truth value, in older documents an object.
fn read_tools(model: &Object<'_>, row: &mut ModelRow, place: &mut Place<'_>) {
    if !model.has("tool_call") {
        return;
    }
    match model.field::<&RawValue>("tool_call", place).and_then(Object::parse) {
        Some(calls) => {
            row.tools = calls.field("supported", place);
            row.parallel_calls = calls.field("parallel", place);
        }
        None => row.tools = model.field("tool_call", place),
    }
}

/// `reasoning_options`: switches, steps of effort, budgets.
fn read_reasoning(model: &Object<'_>, row: &mut ModelRow, place: &mut Place<'_>) {
    let options: Vec<&RawValue> = model.field("reasoning_options", place).unwrap_or_default();
    for option in options.into_iter().filter_map(Object::parse) {
        match option.field::<String>("type", place).as_deref() {
            Some("toggle") => row.always_thinks = Some(false),
            Some("effort") => {
                let values: Vec<Option<String>> = option.field("values", place).unwrap_or_default();
                if values.iter().flatten().any(|value| value == "none") {
                    row.always_thinks = Some(false);
                }
                let mut efforts: Vec<Effort> = values.iter().flatten().filter_map(|value| effort_of(value)).collect();
                efforts.sort_unstable();
                efforts.dedup();
                row.efforts = Some(efforts).filter(|efforts| !efforts.is_empty());
            }
            _ => {}
        }
    }
}

fn effort_of(word: &str) -> Option<Effort> {
    Some(match word {
        "minimal" => Effort::Minimal,
        "low" => Effort::Low,
        "medium" => Effort::Medium,
        "high" => Effort::High,
        "xhigh" => Effort::XHigh,
        "max" => Effort::Max,
        _ => return None,
    })
}

/// The protocol that a package of the AI SDK speaks; models.dev names it as `npm`.
fn protocol_of(package: &str, has_address: bool) -> Option<Protocol> {
    Some(match package {
        "@ai-sdk/anthropic" => Protocol::AnthropicMessages,
        "@ai-sdk/openai" => Protocol::OpenAiResponses,
        "@ai-sdk/azure" => Protocol::Azure,
        "@ai-sdk/google" => Protocol::Gemini,
        "@ai-sdk/google-vertex" => Protocol::Vertex,
        "@ai-sdk/amazon-bedrock" => Protocol::Bedrock,
        "@ai-sdk/openai-compatible" | "@openrouter/ai-sdk-provider" if has_address => Protocol::OpenAiChat,
        _ => return None,
    })
}

pub(super) const fn auth_of(protocol: Protocol) -> AuthStyle {
    match protocol {
        Protocol::AnthropicMessages => AuthStyle::XApiKey,
        Protocol::Azure => AuthStyle::ApiKey,
        Protocol::Gemini => AuthStyle::XGoogApiKey,
        Protocol::Vertex => AuthStyle::GoogleToken,
        Protocol::Bedrock => AuthStyle::Aws,
        Protocol::OpenAiChat | Protocol::OpenAiResponses | Protocol::Other => AuthStyle::Bearer,
    }
}

/// Names are short, visible and on one line.
fn is_name(text: &str) -> bool {
    (1..=NAME).contains(&text.len()) && !text.chars().any(char::is_control) && text.trim() == text
}

fn is_key_variable(name: &str) -> bool {
    let shape = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    shape && is_name(name) && ["KEY", "TOKEN", "SECRET"].iter().any(|word| name.contains(word))
}

/// Whole addresses, encrypted or on this machine.
fn is_base_url(url: &str) -> bool {
    let host = |scheme: &str| url.strip_prefix(scheme).and_then(|rest| rest.split(['/', '?', '#']).next());
    let local = |host: &str| host.split(':').next().is_some_and(|host| matches!(host, "localhost" | "127.0.0.1"));
    let encrypted = host("https://").is_some_and(|host| !host.is_empty() && !host.contains('@'));
    let whole = url.len() <= NAME && url.bytes().all(|byte| byte.is_ascii_graphic() && !b"${}<>".contains(&byte));
    whole && (encrypted || host("http://").is_some_and(local))
}
