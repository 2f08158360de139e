//! Look-up: from a name to what is known, row over row.

use std::collections::{BTreeMap, BTreeSet};

use agent_core::ModelFacts;

use crate::{
    Assumed, Assumption, CacheStyle, Catalogue, Fact, InstructionsRole, ModelEntry, ModelKind, ModelRow, PerMillion,
    PriceSheet, Protocol, ProviderRow, SheetRates, Source, StructuredMode, ThinkingMode, TokenField, file::split,
    glob::undated,
};

/// Why a name names no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// No provider is named, and the catalogue doesn't know the model.
    #[error("no provider of the model `{model}` is known; write `provider/model`")]
    NoProvider {
        /// The name.
        model: String,
    },
    /// No provider is named, and several have the model.
    #[error("several providers have the model `{model}`: {}; write `provider/model`", providers.join(", "))]
    Ambiguous {
        /// The name.
        model: String,
        /// The providers.
        providers: Vec<String>,
    },
}

/// What is taken where nobody states anything.
const WINDOW: u64 = 128_000;
const MAX_OUTPUT: u64 = 4_096;

pub(crate) fn model(catalogue: &Catalogue, name: &str) -> Result<ModelEntry, LookupError> {
    let name = name.trim();
    // A name that begins with a provider is that provider's, whatever else it might be.
    if let Some((provider, model)) = split(name) {
        return Ok(entry(catalogue, &provider_id(catalogue, provider), model));
    }
    let rows = catalogue.models.iter().flat_map(BTreeMap::keys);
    let providers: BTreeSet<&String> = rows.map(|(provider, _)| provider).collect();
    let has = |provider: &&String| find(catalogue, provider, name).is_some();
    let providers: Vec<String> = providers.into_iter().filter(has).cloned().collect();
    match providers.as_slice() {
        [provider] => Ok(entry(catalogue, provider, name)),
        [] => Err(LookupError::NoProvider { model: name.to_owned() }),
        _ => Err(LookupError::Ambiguous { model: name.to_owned(), providers }),
    }
}

/// The id of a provider; what is neither an id nor an alias is taken as an id, in lower case.
pub(crate) fn provider_id(catalogue: &Catalogue, name: &str) -> String {
    let name = name.trim().to_ascii_lowercase();
    if catalogue.providers.iter().any(|layer| layer.contains_key(&name)) {
        return name;
    }
    let mut rows = catalogue.providers.iter().rev().flatten();
    let has = |row: &ProviderRow| row.aliases.iter().flatten().any(|alias| *alias == name);
    rows.find(|(_, row)| has(row)).map_or(name, |(id, _)| id.clone())
}

/// The model that a name means at a provider: the same, else by alias, else without its date.
fn find<'a>(catalogue: &'a Catalogue, provider: &str, model: &'a str) -> Option<&'a str> {
    let is_there = |model: &&str| {
        let key = (provider.to_owned(), (*model).to_owned());
        catalogue.models.iter().any(|layer| layer.contains_key(&key))
    };
    let exact = Some(model).filter(is_there);
    exact.or_else(|| of_alias(catalogue, provider, model)).or_else(|| Some(undated(model)).filter(is_there))
}

/// The model that has an alias at a provider.
pub(crate) fn of_alias<'a>(catalogue: &'a Catalogue, provider: &str, alias: &str) -> Option<&'a str> {
    let first = (provider.to_owned(), String::new());
    let of_provider = |layer: &'a BTreeMap<(String, String), ModelRow>| layer.range(first.clone()..);
    let mut rows =
        catalogue.models.iter().rev().flat_map(|layer| of_provider(layer).take_while(|((of, _), _)| of == provider));
    let named = rows.find(|(_, row)| row.aliases.iter().flatten().any(|own| own == alias));
    named.map(|((_, model), _)| model.as_str())
}

pub(crate) fn entry(catalogue: &Catalogue, provider: &str, asked: &str) -> ModelEntry {
    let provider_row = catalogue.provider_row(provider).unwrap_or_default();
    let found = find(catalogue, provider, asked);
    // A dated name is sent as it was asked for; an alias is ours, so its model is sent.
    let dated = found.is_some_and(|model| model != asked && undated(asked) == model);
    let model = if dated { asked } else { found.unwrap_or(asked) };

    let mut merged = Merged { catalogue, row: ModelRow::default(), sources: BTreeMap::new() };
    let id = found.unwrap_or(asked);
    for row in catalogue.providers.iter().filter_map(|layer| layer.get(provider)) {
        let (profile, source) = (row.profile.clone(), row.source.clone());
        merged.lay(&ModelRow { protocol: row.protocol, profile, source, ..ModelRow::default() });
        row.defaults.iter().for_each(|row| merged.lay(row));
    }
    let families = provider_row.families.iter().flatten().filter(|family| family.holds(id));
    families.for_each(|family| merged.lay(&family.row));
    let of_provider: BTreeSet<Fact> = merged.row.stated().into_iter().collect();
    let mut stated = BTreeSet::new();
    // A dated id may have a row of its own; it lies over that of the model.
    let mut ids = vec![undated(id), id];
    ids.dedup();
    for layer in &catalogue.models {
        for row in ids.iter().filter_map(|id| layer.get(&(provider.to_owned(), (*id).to_owned()))) {
            stated.extend(row.stated());
            merged.lay(row);
        }
    }
    let assumed = Fact::ALL.iter().filter(|fact| !stated.contains(fact) && !is_optional(**fact)).map(|fact| {
        let from = if of_provider.contains(fact) { Assumed::Provider } else { Assumed::Library };
        Assumption { fact: *fact, from }
    });
    let assumed = assumed.collect();
    let Merged { row, sources, .. } = merged;
    build(&provider_row, provider, model, row, Rest { known: found.is_some(), assumed, sources })
}

/// Facts whose absence says all there is to say.
const fn is_optional(fact: Fact) -> bool {
    matches!(
        fact,
        Fact::Name
            | Fact::Aliases
            | Fact::DefaultEffort
            | Fact::Quirks
            | Fact::Profile
            | Fact::Price
            | Fact::Retires
            | Fact::MaxImageTokens
            | Fact::MessageOverhead
    )
}

struct Merged<'a> {
    catalogue: &'a Catalogue,
    row: ModelRow,
    sources: BTreeMap<Fact, Source>,
}

impl Merged<'_> {
    fn lay(&mut self, over: &ModelRow) {
        self.row.overlay(over);
        for fact in over.stated() {
            self.sources.insert(fact, self.catalogue.source(over.source_of(fact)));
        }
    }
}

struct Rest {
    known: bool,
    assumed: Vec<Assumption>,
    sources: BTreeMap<Fact, Source>,
}

fn build(from: &ProviderRow, provider: &str, model: &str, row: ModelRow, rest: Rest) -> ModelEntry {
    let price = row.price.map(|sheet| with_hour_writes(sheet, from.hour_write_per_input));
    let structured = row.structured_output.unwrap_or(StructuredMode::None);
    let mut facts = ModelFacts::new(provider, model);
    facts.context_window = Some(row.window.unwrap_or(WINDOW));
    facts.max_output = Some(row.max_output.unwrap_or(MAX_OUTPUT));
    facts.abilities.tools = row.tools.unwrap_or(facts.abilities.tools);
    facts.abilities.parallel_calls = row.parallel_calls.unwrap_or(facts.abilities.parallel_calls);
    facts.abilities.images = row.images.unwrap_or(facts.abilities.images);
    facts.abilities.documents = row.documents.unwrap_or(facts.abilities.documents);
    facts.abilities.tool_images = row.tool_images.unwrap_or(facts.abilities.tool_images);
    facts.abilities.reasoning = row.reasoning.unwrap_or(facts.abilities.reasoning);
    facts.abilities.temperature = row.temperature.unwrap_or(facts.abilities.temperature);
    facts.abilities.honours_max_output = row.honours_max_output.unwrap_or(facts.abilities.honours_max_output);
    facts.abilities.structured_output =
        matches!(structured, StructuredMode::JsonSchema | StructuredMode::OpenApiSchema | StructuredMode::ForcedTool);
    facts.efforts = row.efforts.unwrap_or_default();
    facts.efforts.sort_unstable();
    facts.quirks = row.quirks.unwrap_or_default();
    facts.profile = row.profile;
    facts.price = price.as_ref().map(PriceSheet::price);
    facts.max_image_tokens = row.max_image_tokens;
    facts.message_overhead = row.message_overhead;
    ModelEntry {
        name: row.name.unwrap_or_else(|| model.to_owned()),
        aliases: row.aliases.unwrap_or_default(),
        known: rest.known,
        kind: row.kind.unwrap_or(ModelKind::Chat),
        protocol: row.protocol.unwrap_or(Protocol::OpenAiChat),
        thinking: row.thinking.unwrap_or(ThinkingMode::None),
        always_thinks: row.always_thinks.unwrap_or(false),
        default_effort: row.default_effort,
        structured_output: structured,
        cache: row.cache.unwrap_or(CacheStyle::None),
        instructions: row.instructions.unwrap_or(InstructionsRole::System),
        token_field: row.token_field.unwrap_or(TokenField::MaxTokens),
        price,
        retires: row.retires,
        note: row.note,
        assumed: rest.assumed,
        sources: rest.sources,
        facts,
    }
}

/// Fills in what an hour in the cache costs where a price list doesn't say it and the provider's rule does.
fn with_hour_writes(mut sheet: PriceSheet, per_input: Option<u32>) -> PriceSheet {
    let Some(per_input) = per_input else { return sheet };
    let fill = |rates: &mut SheetRates| {
        let token = rates.input.token().times(u64::from(per_input));
        rates.cache_write_1h = rates.cache_write_1h.or(Some(PerMillion::of_token(token)));
    };
    fill(&mut sheet.rates);
    sheet.bands.iter_mut().for_each(|band| fill(&mut band.rates));
    sheet.periods.iter_mut().for_each(|period| fill(&mut period.rates));
    sheet
}
