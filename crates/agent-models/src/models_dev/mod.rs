//! Refreshing the catalogue from a document of models.dev (`https://models.dev/api.json`). The host fetches it.

mod cost;
mod object;
mod read;

use std::collections::{BTreeMap, BTreeSet};

use agent_core::Price;

use crate::{
    Catalogue, Date, ModelRow, PriceSheet, Protocol, ProviderRow, SheetRates, Source, StructuredMode, catalogue::Layer,
    glob, resolve,
};

/// Why a document is none of models.dev.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelsDevError {
    /// It is no JSON object of providers.
    #[error("the document is no object of providers")]
    Json(#[from] serde_json::Error),
    /// It is longer than is read.
    #[error("the document has {bytes} bytes; at most {limit} are read")]
    TooLong {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        limit: usize,
    },
}

/// Something in the document that was not taken over.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Skipped {
    /// The provider or model.
    pub of: String,
    /// The field; empty where all of it was skipped.
    pub field: String,
    /// Why.
    pub reason: &'static str,
}

/// A document of models.dev, as far as it can be read. Whatever has an unexpected shape is skipped and reported;
/// prices that cannot be expressed are skipped, never approximated.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelsDev {
    providers: BTreeMap<String, read::FoundProvider>,
    skipped: Vec<Skipped>,
    more_skipped: usize,
}

/// A price that is another after a refresh.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PriceChange {
    /// `provider/model`.
    pub model: String,
    /// The price before.
    pub before: Option<Price>,
    /// The price now.
    pub after: Option<Price>,
}

/// What a refresh did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RefreshReport {
    /// How many models were taken over.
    pub models: usize,
    /// How many of them were not known before.
    pub new_models: usize,
    /// The providers that were not known before.
    pub new_providers: Vec<String>,
    /// Prices that are others now, those of new models not counted.
    pub price_changes: Vec<PriceChange>,
    /// What was not taken over.
    pub skipped: Vec<Skipped>,
    /// How much more was skipped than is listed.
    pub more_skipped: usize,
}

impl Catalogue {
    /// Lays a document of models.dev over the bundled catalogue, below what the application states. `date` is the
    /// day on which it was fetched.
    ///
    /// The document speaks of limits, abilities and prices; facts of the bundled catalogue that were read on a later
    /// day stay. Where a provider is and which variables hold its key it
    /// says of new providers only, and never a variable that another provider has: no document can send a key
    /// elsewhere.
    pub fn refresh(&mut self, document: &ModelsDev, date: Date) -> RefreshReport {
        let source = format!("models.dev {date}");
        self.add_source(source.clone(), Source::new("https://models.dev/api.json", date));
        let mut report = RefreshReport {
            skipped: document.skipped.clone(),
            more_skipped: document.more_skipped,
            ..RefreshReport::default()
        };
        for (id, provider) in &document.providers {
            let id = resolve::provider_id(self, id);
            if self.provider_row(&id).is_none() {
                let Some(row) = self.new_provider(&id, provider, &source, &mut report) else { continue };
                self.lay_provider(Layer::Fetched, id.clone(), &row);
                report.new_providers.push(id.clone());
            }
            for (model, row) in &provider.models {
                // An alias of ours: what the document says of the model itself counts, where it does.
                let alias_of = resolve::of_alias(self, &id, model).map(str::to_owned);
                match alias_of.filter(|alias_of| alias_of != model) {
                    Some(of) if provider.models.contains_key(&of) => {}
                    Some(of) => self.refresh_model(&id, &of, row, &source, &mut report),
                    None => self.refresh_model(&id, model, row, &source, &mut report),
                }
            }
        }
        report
    }

    fn refresh_model(&mut self, provider: &str, model: &str, row: &ModelRow, source: &str, report: &mut RefreshReport) {
        let before = self.model_at(provider, model);
        // What was fetched earlier is forgotten: the new document counts whole.
        let key = (provider.to_owned(), model.to_owned());
        let [bundled, fetched, _] = &mut self.models;
        fetched.remove(&key);
        let base = (provider.to_owned(), glob::undated(model).to_owned());
        let beneath = bundled.get(&key).or_else(|| bundled.get(&base));
        let audited = beneath.and_then(|row| row.price.as_ref());
        let mut row = row.clone();
        row.source = Some(source.to_owned());
        let day_of = |source: &str| self.sources.get(source).and_then(|source| source.date);
        for fact in beneath.map(ModelRow::stated).unwrap_or_default() {
            let known_on = beneath.and_then(|row| row.source_of(fact)).and_then(day_of);
            if known_on > day_of(source) && row.stated().contains(&fact) {
                row.forget(fact);
                let (of, field) = (format!("{provider}/{model}"), fact.word().to_owned());
                report.skipped.push(Skipped { of, field, reason: "older than what is known already" });
            }
        }
        row.price = row.price.take().and_then(|price| beside(price, audited));
        // That a model can be held to a schema says nothing of how; the provider's way is known better here.
        if row.structured_output == Some(StructuredMode::JsonSchema) {
            let beneath = self.model_at(provider, model);
            row.structured_output = match (beneath.structured_output, beneath.protocol) {
                (StructuredMode::None, Protocol::Gemini | Protocol::Vertex) => Some(StructuredMode::OpenApiSchema),
                (StructuredMode::None, _) => Some(StructuredMode::JsonSchema),
                _ => None,
            };
        }
        self.lay_model(Layer::Fetched, key.0, key.1, &row);
        report.models += 1;
        report.new_models += usize::from(!before.known);
        let after = self.model_at(provider, model);
        if before.known && before.facts.price != after.facts.price {
            let (before, model) = (before.facts.price, after.id());
            report.price_changes.push(PriceChange { model, before, after: after.facts.price });
        }
    }

    fn new_provider(
        &self,
        id: &str,
        found: &read::FoundProvider,
        source: &str,
        report: &mut RefreshReport,
    ) -> Option<ProviderRow> {
        let mut skip = |field: &str, reason| {
            report.skipped.push(Skipped { of: id.to_owned(), field: field.to_owned(), reason });
        };
        let Some(protocol) = found.protocol else {
            skip("", "a provider whose protocol the document does not tell");
            return None;
        };
        let taken: BTreeSet<String> = self.key_variables().into_iter().collect();
        let (taken, keys): (Vec<_>, Vec<_>) = found.keys.iter().cloned().partition(|key| taken.contains(key));
        if !taken.is_empty() {
            skip("env", "a variable that belongs to another provider");
        }
        let row = ProviderRow {
            name: found.name.clone(),
            protocol: Some(protocol),
            base_url: found.base_url.clone(),
            keys: Some(keys).filter(|keys| !keys.is_empty()),
            auth: Some(read::auth_of(protocol)),
            source: Some(source.to_owned()),
            ..ProviderRow::default()
        };
        Some(row)
    }

    /// The day of the document of models.dev that says something of a model; `None` where none does.
    pub fn fetched(&self, provider: &str, model: &str) -> Option<Date> {
        let [_, fetched, _] = &self.models;
        let row = fetched.get(&(resolve::provider_id(self, provider), model.to_owned()))?;
        let source = row.stated().into_iter().find_map(|fact| row.source_of(fact))?;
        self.sources.get(source)?.date
    }
}

/// A fetched price beside an audited one. It says nothing new where the audited list has the same rates, at any time
/// of it; and a band that begins at the same number begins as the audited one does.
fn beside(mut fetched: PriceSheet, audited: Option<&PriceSheet>) -> Option<PriceSheet> {
    let Some(audited) = audited else { return Some(fetched) };
    for band in &mut fetched.bands {
        if let Some(same) = audited.bands.iter().find(|other| other.tokens == band.tokens) {
            band.inclusive = same.inclusive;
        }
    }
    let periods = audited.periods.iter().map(|period| &period.rates);
    let rates = std::iter::once(&audited.rates).chain(periods).any(|rates| says_less(&fetched.rates, rates));
    let bands = fetched.bands.len() == audited.bands.len()
        && fetched.bands.iter().all(|band| {
            audited.bands.iter().any(|other| other.first() == band.first() && says_less(&band.rates, &other.rates))
        });
    (!(rates && bands)).then_some(fetched)
}

/// Whether everything that `fetched` states is in `audited`.
fn says_less(fetched: &SheetRates, audited: &SheetRates) -> bool {
    let same = |one: Option<_>, other: Option<_>| one.is_none() || one == other;
    (fetched.input, fetched.output) == (audited.input, audited.output)
        && same(fetched.cache_read, audited.cache_read)
        && same(fetched.cache_write, audited.cache_write)
}
