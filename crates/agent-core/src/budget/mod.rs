//! Money, prices, and budgets that cannot be overspent.

mod limit;
mod money;
mod price;

pub use self::{
    limit::{Budget, BudgetExceeded, Reservation, Settlement},
    money::{Money, MoneyError},
    price::{Price, PriceBand, Rates, WorstCaseError},
};
