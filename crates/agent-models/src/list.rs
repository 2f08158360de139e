//! Listings: which models, and in which order.

use std::cmp::Reverse;

use agent_core::Money;

use crate::{Date, ModelEntry, ModelKind, Protocol};

/// In which order models are listed. Models that are alike in it come by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Order {
    /// By provider and model.
    #[default]
    Name,
    /// The longest window first.
    Window,
    /// The cheapest prompt first; those without a price last.
    InputPrice,
    /// The cheapest answer first; those without a price last.
    OutputPrice,
}

/// Which models to list. The default lets every model through that can be talked with.
///
/// ```
/// use agent_models::{Catalogue, Filter, Order};
/// let cheap_first = Filter::new().provider("anthropic").images().order(Order::InputPrice);
/// let models = Catalogue::bundled().models(&cheap_first);
/// assert_eq!(models[0].id(), "anthropic/claude-haiku-5-5");
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use]
pub struct Filter {
    provider: Option<String>,
    protocol: Option<Protocol>,
    text: Option<String>,
    kind: Option<ModelKind>,
    tools: bool,
    images: bool,
    documents: bool,
    reasoning: bool,
    structured_output: bool,
    priced: bool,
    min_window: u64,
    dearest_input: Option<Money>,
    on: Option<Date>,
    order: Order,
}

impl Filter {
    /// Every model that can be talked with.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only those of a provider, by its id.
    pub fn provider(mut self, id: impl Into<String>) -> Self {
        self.provider = Some(id.into());
        self
    }

    /// Only those of a protocol.
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.protocol = Some(protocol);
        self
    }

    /// Only those whose id, name or alias holds this text, in any case.
    pub fn text(mut self, text: &str) -> Self {
        self.text = Some(text.to_lowercase());
        self
    }

    /// Those of another kind than chat.
    pub fn kind(mut self, kind: ModelKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Only those that call tools.
    pub fn tools(mut self) -> Self {
        self.tools = true;
        self
    }

    /// Only those that read images.
    pub fn images(mut self) -> Self {
        self.images = true;
        self
    }

    /// Only those that read documents.
    pub fn documents(mut self) -> Self {
        self.documents = true;
        self
    }

    /// Only those that think.
    pub fn reasoning(mut self) -> Self {
        self.reasoning = true;
        self
    }

    /// Only those that are held to a schema.
    pub fn structured_output(mut self) -> Self {
        self.structured_output = true;
        self
    }

    /// Only those whose price is known.
    pub fn priced(mut self) -> Self {
        self.priced = true;
        self
    }

    /// Only those with a window of this many tokens or more.
    pub fn min_window(mut self, tokens: u64) -> Self {
        self.min_window = tokens;
        self
    }

    /// Only those whose prompt tokens cost so much or less, each, below every band. Those without a price are out.
    pub fn max_input_price(mut self, token: Money) -> Self {
        self.dearest_input = Some(token);
        self
    }

    /// Only those that the vendor has not switched off by this day.
    pub fn alive_on(mut self, day: Date) -> Self {
        self.on = Some(day);
        self
    }

    /// In this order.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    pub(crate) fn lets_through(&self, entry: &ModelEntry) -> bool {
        let can = entry.facts.abilities;
        let input = entry.facts.price.as_ref().map(|price| price.rates.input);
        let holds = |text: &String| {
            let mut names = [entry.id(), entry.name.clone()].into_iter().chain(entry.aliases.iter().cloned());
            names.any(|name| name.to_lowercase().contains(text))
        };
        self.provider.as_ref().is_none_or(|id| *id == entry.facts.provider)
            && self.protocol.is_none_or(|protocol| protocol == entry.protocol)
            && self.kind.unwrap_or(ModelKind::Chat) == entry.kind
            && self.text.as_ref().is_none_or(holds)
            && (can.tools || !self.tools)
            && (can.images || !self.images)
            && (can.documents || !self.documents)
            && (can.reasoning || !self.reasoning)
            && (can.structured_output || !self.structured_output)
            && (input.is_some() || !self.priced)
            && entry.facts.context_window.unwrap_or(0) >= self.min_window
            && self.dearest_input.is_none_or(|most| input.is_some_and(|input| input <= most))
            && self.on.is_none_or(|day| entry.retires.is_none_or(|retires| day < retires))
    }

    /// Sorts what is sorted by name already.
    pub(crate) fn sorted(&self, mut entries: Vec<ModelEntry>) -> Vec<ModelEntry> {
        let rates = |entry: &ModelEntry| entry.facts.price.as_ref().map(|price| price.rates);
        let price =
            |entry: &ModelEntry, of: fn(&agent_core::Rates) -> Money| rates(entry).as_ref().map_or(Money::MAX, of);
        match self.order {
            Order::Name => {}
            Order::Window => entries.sort_by_key(|entry| Reverse(entry.facts.context_window)),
            Order::InputPrice => entries.sort_by_key(|entry| price(entry, |rates| rates.input)),
            Order::OutputPrice => entries.sort_by_key(|entry| price(entry, |rates| rates.output)),
        }
        entries
    }
}
