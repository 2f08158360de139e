//! Money, prices, and budgets that cannot be overspent.

mod limit;
mod money;
mod price;

pub use self::limit::{Budget, BudgetExceeded, Reservation, Settlement};
pub use self::money::{Money, MoneyError};
pub use self::price::{Price, PriceBand, Rates, WorstCaseError};
