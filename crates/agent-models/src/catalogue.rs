//! The catalogue: rows in layers.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use crate::{
    CatalogueError, Filter, LookupError, ModelEntry, ModelRow, PriceSheet, ProviderFacts, ProviderRow, Source,
    file::{File, split},
    resolve,
};

/// Who states a row. What a later layer states counts more, whatever was read first.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Layer {
    /// The catalogue that comes with the crate.
    Bundled,
    /// A document that was fetched.
    Fetched,
    /// The application, by a file or by code.
    Given,
}

/// Facts about models and providers.
///
/// ```
/// use agent_models::Catalogue;
/// let catalogue = Catalogue::bundled();
/// let model = catalogue.model("anthropic/claude-opus-5-5")?;
/// assert_eq!(model.facts.context_window, Some(1_000_000));
/// # Ok::<(), agent_models::LookupError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    pub(crate) sources: BTreeMap<String, Source>,
    pub(crate) providers: [BTreeMap<String, ProviderRow>; 3],
    pub(crate) models: [BTreeMap<(String, String), ModelRow>; 3],
    other_secrets: BTreeSet<String>,
}

static BUNDLED: LazyLock<Catalogue> = LazyLock::new(|| {
    let mut catalogue = Catalogue::default();
    // A test holds that the file of the crate can be read; a crate whose tests fail is not published.
    if let Ok(file) = File::parse(include_bytes!("../data/catalogue.json"), &BTreeMap::new()) {
        catalogue.put(Layer::Bundled, file);
    }
    catalogue
});

impl Catalogue {
    /// The catalogue that comes with the crate. It is read once.
    pub fn bundled() -> &'static Self {
        &BUNDLED
    }

    /// A catalogue that knows nothing.
    pub fn empty() -> Self {
        Self::default()
    }

    /// What is known of a model: `provider/model`, or a model's name alone where one provider has it. Aliases count,
    /// and so do names with a date. A model that the catalogue doesn't know is answered too, with what is assumed.
    ///
    /// # Errors
    /// [`LookupError`] where the name doesn't say which provider is meant.
    pub fn model(&self, name: &str) -> Result<ModelEntry, LookupError> {
        resolve::model(self, name)
    }

    /// What is known of a model at a provider.
    pub fn model_at(&self, provider: &str, model: &str) -> ModelEntry {
        resolve::entry(self, &resolve::provider_id(self, provider), model)
    }

    /// The models that the catalogue has rows of and that a filter lets through, in its order.
    pub fn models(&self, filter: &Filter) -> Vec<ModelEntry> {
        let names: BTreeSet<_> = self.models.iter().flat_map(BTreeMap::keys).collect();
        let entries = names.into_iter().map(|(provider, model)| resolve::entry(self, provider, model));
        filter.sorted(entries.filter(|entry| filter.lets_through(entry)).collect())
    }

    /// What is known of a provider, by its id or an alias. One that the catalogue doesn't know is answered too: it
    /// is assumed to speak Chat Completions.
    pub fn provider(&self, id: &str) -> ProviderFacts {
        let id = resolve::provider_id(self, id);
        self.provider_facts(&id)
    }

    /// All providers that the catalogue has rows of, by id.
    pub fn providers(&self) -> Vec<ProviderFacts> {
        let ids: BTreeSet<_> = self.providers.iter().flat_map(BTreeMap::keys).collect();
        ids.into_iter().map(|id| self.provider_facts(id)).collect()
    }

    /// Every environment variable that may hold a key or another secret of a provider, sorted. For hosts that keep
    /// them from the processes that they start.
    pub fn key_variables(&self) -> Vec<String> {
        let keys = self.providers.iter().flat_map(BTreeMap::values).filter_map(|row| row.keys.as_ref()).flatten();
        let all: BTreeSet<&String> = keys.chain(&self.other_secrets).collect();
        all.into_iter().cloned().collect()
    }

    /// Lays a catalogue in the file form over this one, as the application's word: a file of the user. What it
    /// doesn't state stays as it is.
    ///
    /// # Errors
    /// [`CatalogueError`]; nothing is changed then.
    pub fn overlay(&mut self, text: impl AsRef<[u8]>) -> Result<(), CatalogueError> {
        let file = File::parse(text.as_ref(), &self.sources)?;
        self.put(Layer::Given, file);
        Ok(())
    }

    /// Lays a row over what is known of a model, as the application's word.
    pub fn set_model(&mut self, provider: &str, model: &str, row: &ModelRow) {
        let provider = resolve::provider_id(self, provider);
        self.lay_model(Layer::Given, provider, model.to_owned(), row);
    }

    /// Says what a model costs, as the application's word.
    pub fn set_price(&mut self, provider: &str, model: &str, price: PriceSheet) {
        let row = ModelRow { price: Some(price), ..ModelRow::default() };
        self.set_model(provider, model, &row);
    }

    /// Lays a row over what is known of a provider, as the application's word.
    pub fn set_provider(&mut self, id: &str, row: &ProviderRow) {
        let id = resolve::provider_id(self, id);
        self.lay_provider(Layer::Given, id, row);
    }

    /// Adds a source that rows can name.
    pub fn add_source(&mut self, id: impl Into<String>, source: Source) {
        self.sources.insert(id.into(), source);
    }

    fn provider_facts(&self, id: &str) -> ProviderFacts {
        let row = self.provider_row(id);
        let mut facts = ProviderFacts::of(id, row.as_ref());
        let top = self.providers.iter().rev().find_map(|layer| layer.get(id));
        facts.source = top.map(|row| self.source(row.source.as_deref()));
        if row.is_none_or(|row| row.keys.is_none()) {
            // The variable is made of the id; some id makes the variable of somebody else.
            let taken = self.key_variables();
            facts.keys.retain(|key| !taken.contains(key));
        }
        facts
    }

    /// A source by its id. One that is not listed speaks for itself; a row without one is the application's.
    pub(crate) fn source(&self, id: Option<&str>) -> Source {
        let id = id.unwrap_or("the application");
        self.sources.get(id).cloned().unwrap_or_else(|| Source::new(id, None))
    }

    pub(crate) fn provider_row(&self, id: &str) -> Option<ProviderRow> {
        let mut rows = self.providers.iter().filter_map(|layer| layer.get(id));
        let mut row = rows.next()?.clone();
        rows.for_each(|over| row.overlay(over));
        Some(row)
    }

    pub(crate) fn lay_model(&mut self, layer: Layer, provider: String, model: String, row: &ModelRow) {
        of_layer(&mut self.models, layer).entry((provider, model)).or_default().lay(row);
    }

    pub(crate) fn lay_provider(&mut self, layer: Layer, id: String, row: &ProviderRow) {
        of_layer(&mut self.providers, layer).entry(id).or_default().overlay(row);
    }

    fn put(&mut self, layer: Layer, file: File) {
        self.sources.extend(file.sources);
        self.other_secrets.extend(file.other_secrets);
        for (id, row) in file.providers {
            let id = resolve::provider_id(self, &id);
            self.lay_provider(layer, id, &row);
        }
        for (name, row) in file.models {
            if let Some((provider, model)) = split(&name) {
                let provider = resolve::provider_id(self, provider);
                self.lay_model(layer, provider, model.to_owned(), &row);
            }
        }
    }
}

fn of_layer<T>([bundled, fetched, given]: &mut [T; 3], layer: Layer) -> &mut T {
    match layer {
        Layer::Bundled => bundled,
        Layer::Fetched => fetched,
        Layer::Given => given,
    }
}
