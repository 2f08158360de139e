//! Price lists as vendors publish them, and the prices that core computes with.

use agent_core::{Money, MoneyError, Price, Rates};
use serde::{Deserialize, Serialize};

use crate::Date;

/// Dollars for a million tokens, kept as what one token costs in whole pico-dollars: six decimals are exact,
/// further ones are rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct PerMillion(Money);

impl PerMillion {
    /// So many dollars for a million tokens.
    ///
    /// # Errors
    /// [`MoneyError`] for what is negative, not a number, or beyond all bounds.
    pub fn dollars(dollars: f64) -> Result<Self, MoneyError> {
        Money::from_dollars(dollars / 1e6).map(Self)
    }

    pub(crate) const fn of_token(token: Money) -> Self {
        Self(token)
    }

    /// What one token costs.
    pub const fn token(self) -> Money {
        self.0
    }
}

impl TryFrom<f64> for PerMillion {
    type Error = MoneyError;

    fn try_from(dollars: f64) -> Result<Self, MoneyError> {
        Self::dollars(dollars)
    }
}

impl From<PerMillion> for f64 {
    /// Exact below 2^53 pico-dollars for a token.
    fn from(price: PerMillion) -> Self {
        price.0.pico_dollars() as Self / 1e6
    }
}

/// The rates of a price list. A cache rate that is missing or zero is the input rate: cached tokens are never free
/// unless all are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct SheetRates {
    /// A prompt token outside the cache.
    pub input: PerMillion,
    /// A generated token, reasoning included.
    pub output: PerMillion,
    /// A token read from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<PerMillion>,
    /// A token written to the cache, for five minutes where the vendor lets one choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<PerMillion>,
    /// A token written to the cache for an hour. Where it is missing it is what `cache_write` is.
    #[serde(default, rename = "cacheWrite1h", skip_serializing_if = "Option::is_none")]
    pub cache_write_1h: Option<PerMillion>,
}

impl SheetRates {
    /// Rates without cache rates.
    pub const fn new(input: PerMillion, output: PerMillion) -> Self {
        Self { input, output, cache_read: None, cache_write: None, cache_write_1h: None }
    }

    /// The rates of single tokens.
    pub fn rates(&self) -> Rates {
        let paid = |rate: Option<PerMillion>| rate.map(PerMillion::token).filter(|rate| *rate > Money::ZERO);
        let mut rates = Rates::new(self.input.token(), self.output.token());
        rates.cache_read = paid(self.cache_read).unwrap_or(rates.input);
        rates.cache_write_5m = paid(self.cache_write).unwrap_or(rates.input);
        rates.cache_write_1h = paid(self.cache_write_1h).unwrap_or(rates.cache_write_5m);
        rates
    }
}

/// Other rates for long prompts; they apply to the whole call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BandFile", into = "BandFile")]
#[non_exhaustive]
pub struct SheetBand {
    /// The number of prompt tokens that the vendor names.
    pub tokens: u64,
    /// Whether a prompt of exactly this many tokens is in the band.
    pub inclusive: bool,
    /// The rates.
    pub rates: SheetRates,
}

impl SheetBand {
    /// Rates for prompts of more than this many tokens.
    pub const fn above(tokens: u64, rates: SheetRates) -> Self {
        Self { tokens, inclusive: false, rates }
    }

    /// Rates for prompts of this many tokens and more.
    pub const fn from(tokens: u64, rates: SheetRates) -> Self {
        Self { tokens, inclusive: true, rates }
    }

    /// The smallest prompt of the band.
    pub const fn first(&self) -> u64 {
        if self.inclusive { self.tokens } else { self.tokens.saturating_add(1) }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BandFile {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    above: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<u64>,
    rates: SheetRates,
}

impl TryFrom<BandFile> for SheetBand {
    type Error = &'static str;

    fn try_from(file: BandFile) -> Result<Self, Self::Error> {
        match (file.above, file.from) {
            (Some(tokens), None) => Ok(Self::above(tokens, file.rates)),
            (None, Some(tokens)) => Ok(Self::from(tokens, file.rates)),
            _ => Err("a band has either `above` (exclusive) or `from` (inclusive)"),
        }
    }
}

impl From<SheetBand> for BandFile {
    fn from(band: SheetBand) -> Self {
        let tokens = Some(band.tokens);
        let (above, from) = if band.inclusive { (None, tokens) } else { (tokens, None) };
        Self { above, from, rates: band.rates }
    }
}

/// Lower rates for a time: until a day, or outside of the hours at which the vendor is busy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct PricePeriod {
    /// The last day on which they apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Date>,
    /// The busy hours (UTC), from the first of each pair until before the second; the rates apply outside of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside_utc: Vec<[u8; 2]>,
    /// Whether the hours are busy from Monday to Friday only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weekdays: bool,
    /// The rates.
    pub rates: SheetRates,
}

impl PricePeriod {
    fn holds(&self, unix_ms: u64) -> bool {
        let hours = unix_ms / 3_600_000;
        let (day, hour) = (hours / 24, hours % 24);
        // 1970-01-01 was a Thursday; Sunday is 0.
        let weekday = (1..=5).contains(&((day + 4) % 7));
        let within = |[from, to]: &[u8; 2]| (u64::from(*from)..u64::from(*to)).contains(&hour);
        let busy = (weekday || !self.weekdays) && self.outside_utc.iter().any(within);
        !busy && self.until.is_none_or(|until| unix_ms < until.ends_ms())
    }
}

/// What a model costs, as its vendor says it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct PriceSheet {
    /// The rates of prompts below every band, at the dearest time.
    pub rates: SheetRates,
    /// Bands for longer prompts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bands: Vec<SheetBand>,
    /// Times at which other rates apply to prompts below every band; the first that holds counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub periods: Vec<PricePeriod>,
}

impl PriceSheet {
    /// A price list without bands.
    pub const fn new(rates: SheetRates) -> Self {
        Self { rates, bands: Vec::new(), periods: Vec::new() }
    }

    /// Adds a band.
    #[must_use]
    pub fn band(mut self, band: SheetBand) -> Self {
        self.bands.push(band);
        self
    }

    /// The price to compute with, without periods: what a call costs at the dearest time.
    pub fn price(&self) -> Price {
        self.with(&self.rates)
    }

    /// The price at a time, in milliseconds since 1970.
    pub fn price_at(&self, unix_ms: u64) -> Price {
        let period = self.periods.iter().find(|period| period.holds(unix_ms));
        self.with(period.map_or(&self.rates, |period| &period.rates))
    }

    fn with(&self, rates: &SheetRates) -> Price {
        let price = Price::new(rates.rates());
        self.bands.iter().fold(price, |price, band| price.band(band.first(), band.rates.rates()))
    }
}
