//! What tokens cost, and what a request can cost at most.

use serde::{Deserialize, Serialize};

use crate::{Money, TokenBound, Usage};

/// What one token of each bucket costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Rates {
    /// A prompt token outside the cache.
    pub input: Money,
    /// A generated token, reasoning included.
    pub output: Money,
    /// A token read from the cache.
    pub cache_read: Money,
    /// A token written to the cache for five minutes.
    pub cache_write_5m: Money,
    /// A token written to the cache for an hour.
    pub cache_write_1h: Money,
}

impl Rates {
    /// Rates without a cache: cached tokens cost what others cost.
    pub const fn new(input: Money, output: Money) -> Self {
        Self { input, output, cache_read: input, cache_write_5m: input, cache_write_1h: input }
    }

    fn dearest_input(&self) -> Money {
        self.input.max(self.cache_read).max(self.cache_write_5m).max(self.cache_write_1h)
    }
}

/// Other rates for long prompts: they apply to the whole call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PriceBand {
    /// The band applies from this many prompt tokens on, this number included.
    pub from_prompt_tokens: u64,
    /// Its rates.
    pub rates: Rates,
}

/// What a model costs.
///
/// ```
/// use agent_core::{Money, Price, Rates, Usage};
/// let dollars = |d| Money::from_dollars(d / 1e6); // for a million tokens
/// let price = Price::new(Rates::new(dollars(3.0)?, dollars(15.0)?));
/// assert_eq!(price.cost(&Usage::new(1_000, 100)).to_string(), "$0.0045");
/// # Ok::<(), agent_core::MoneyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Price {
    /// The rates of prompts below every band.
    pub rates: Rates,
    /// Bands for longer prompts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bands: Vec<PriceBand>,
}

/// Why nobody can say what a request costs at most; it is not sent under a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorstCaseError {
    /// The model has no price.
    #[error("the price of the model is unknown; state one, or run without a budget")]
    UnknownPrice,
    /// The request holds something without an upper bound.
    #[error(
        "the request holds an address or a server tool whose tokens have no upper bound; \
         send the data itself, set a cap on the tool, or run without a budget"
    )]
    UnboundedInput,
    /// Neither the request nor the model limits the output, or the provider ignores the limit.
    #[error("the output has no limit that the provider honours; set one, or run without a budget")]
    UnboundedOutput,
}

impl Price {
    /// A price without bands.
    pub const fn new(rates: Rates) -> Self {
        Self { rates, bands: Vec::new() }
    }

    /// Adds rates for prompts of `from_prompt_tokens` tokens and more.
    #[must_use]
    pub fn band(mut self, from_prompt_tokens: u64, rates: Rates) -> Self {
        self.bands.push(PriceBand { from_prompt_tokens, rates });
        self
    }

    /// The rates for a prompt of this many tokens.
    pub fn rates_for(&self, prompt_tokens: u64) -> &Rates {
        let highest = self.reached(prompt_tokens).max_by_key(|band| band.from_prompt_tokens);
        highest.map_or(&self.rates, |band| &band.rates)
    }

    fn reached(&self, prompt_tokens: u64) -> impl Iterator<Item = &PriceBand> {
        self.bands.iter().filter(move |band| band.from_prompt_tokens <= prompt_tokens)
    }

    /// What a call cost.
    pub fn cost(&self, usage: &Usage) -> Money {
        let rates = self.rates_for(usage.prompt());
        let uncached = rates.input.times(usage.input).plus(rates.output.times(usage.generated()));
        let read = rates.cache_read.times(usage.cache_read);
        let short = rates.cache_write_5m.times(usage.cache_write_5m);
        let long = rates.cache_write_1h.times(usage.cache_write_1h);
        uncached.plus(read).plus(short).plus(long)
    }

    /// What a call can cost at most: every input token at the dearest rate that can apply, and the
    /// whole output limit. `None` for `max_output` means that nothing limits the output.
    ///
    /// # Errors
    /// [`WorstCaseError`] where something has no bound.
    pub fn worst_case(&self, input: TokenBound, max_output: Option<u64>) -> Result<Money, WorstCaseError> {
        let TokenBound::AtMost(input) = input else { return Err(WorstCaseError::UnboundedInput) };
        let max_output = max_output.ok_or(WorstCaseError::UnboundedOutput)?;
        // A shorter prompt can be dearer than a longer one only in odd price lists, so every band
        // that the bound can reach is looked at.
        let all = std::iter::once(&self.rates).chain(self.reached(input).map(|band| &band.rates));
        let worst = all.map(|rates| rates.dearest_input().times(input).plus(rates.output.times(max_output)));
        Ok(worst.max().unwrap_or(Money::MAX))
    }
}
