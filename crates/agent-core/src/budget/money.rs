//! Money in whole pico-dollars.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An amount of US dollars, in whole pico-dollars (10⁻¹² dollars); at most 18.4 million dollars.
///
/// Vendors price a million tokens in dollars with up to six decimals, so that the price of a single
/// token is a whole number of pico-dollars and no sum is ever rounded.
///
/// ```
/// use agent_core::Money;
/// let price = Money::from_dollars(0.000_003)?; // 3 dollars for a million tokens
/// assert_eq!(price.times(1_000).to_string(), "$0.003");
/// # Ok::<(), agent_core::MoneyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(u64);

/// A number that is no amount of money.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{dollars} is no amount of money: it has to be from 0 to 18,000,000 dollars")]
pub struct MoneyError {
    dollars: f64,
}

const PICO: u64 = 1_000_000_000_000;

impl Money {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// The largest amount.
    pub const MAX: Self = Self(u64::MAX);

    /// An amount in pico-dollars.
    pub const fn from_pico_dollars(pico: u64) -> Self {
        Self(pico)
    }

    /// An amount in micro-dollars (10⁻⁶ dollars); saturates at [`Money::MAX`].
    pub const fn from_micro_dollars(micro: u64) -> Self {
        Self(micro.saturating_mul(1_000_000))
    }

    /// An amount in dollars, to the nearest pico-dollar.
    ///
    /// # Errors
    /// [`MoneyError`] for what is negative, not a number, or above 18 million.
    pub fn from_dollars(dollars: f64) -> Result<Self, MoneyError> {
        if !(0.0..=18_000_000.0).contains(&dollars) {
            return Err(MoneyError { dollars });
        }
        // Checked to be in range above; a decimal string is the way from float to integer that
        // neither truncates nor wraps. Of a negative zero only the zero counts.
        let pico = format!("{:.0}", dollars.abs() * 1e12);
        pico.parse().map(Self).map_err(|_| MoneyError { dollars })
    }

    /// The amount in pico-dollars.
    pub const fn pico_dollars(self) -> u64 {
        self.0
    }

    /// The sum; saturates.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference; nothing where `other` is more.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// This many times the amount; saturates.
    #[must_use]
    pub const fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }
}

/// Dollars with as many decimals as are needed, at least two.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = format!("{:012}", self.0 % PICO);
        let needed = decimals.trim_end_matches('0');
        write!(f, "${}.{:0<2}", self.0 / PICO, needed)
    }
}

impl std::iter::Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Self::plus)
    }
}
