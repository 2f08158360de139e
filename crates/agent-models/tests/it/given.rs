//! What the tests begin with.

use agent_core::{Money, Rates};
use agent_models::{Catalogue, ModelEntry, PerMillion, SheetRates};

/// The model of a name in the bundled catalogue.
pub(crate) fn model(name: &str) -> ModelEntry {
    Catalogue::bundled().model(name).unwrap()
}

/// Dollars for a million tokens.
pub(crate) fn per_million(dollars: f64) -> PerMillion {
    PerMillion::dollars(dollars).unwrap()
}

/// Dollars for a million tokens, as what a token costs.
pub(crate) fn token(dollars: f64) -> Money {
    per_million(dollars).token()
}

pub(crate) fn sheet_rates(input: f64, output: f64) -> SheetRates {
    SheetRates::new(per_million(input), per_million(output))
}

/// Core's rates: input, output, cache read, cache write for five minutes, for an hour.
pub(crate) fn rates([input, output, read, write, hour]: [f64; 5]) -> Rates {
    let mut rates = Rates::new(token(input), token(output));
    (rates.cache_read, rates.cache_write_5m, rates.cache_write_1h) = (token(read), token(write), token(hour));
    rates
}
