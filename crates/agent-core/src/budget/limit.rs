//! A tree of limits, and reservations against it.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Money, macros::getters};

/// A limit on spending, shared by everything that spends from it; a handle, cheap to clone.
///
/// Children have limits of their own and spend from all their ancestors. At every moment, for every
/// budget of the tree: spent + reserved ≤ limit, but for calls whose true cost exceeded their bound.
///
/// ```
/// use agent_core::{Budget, Money};
/// let run = Budget::new(Money::from_dollars(1.0)?);
/// let child = run.child(Money::from_dollars(0.4)?);
/// let reservation = child.reserve(Money::from_dollars(0.3)?)?;
/// assert_eq!(run.left().to_string(), "$0.70");
/// assert!(child.reserve(Money::from_dollars(0.2)?).is_err());
/// reservation.settle(Money::from_dollars(0.1)?);
/// assert_eq!((run.left().to_string(), child.left().to_string()), ("$0.90".into(), "$0.30".into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Budget(Arc<Node>);

struct Node {
    parent: Option<Budget>,
    limit: Money,
    spending: Mutex<Spending>,
}

struct Spending {
    spent: Money,
    reserved: Money,
}

/// A reservation that a budget cannot cover; nothing was reserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the budget has {left} left of {limit}, and the request can cost {requested}")]
#[non_exhaustive]
pub struct BudgetExceeded {
    /// What was asked for.
    pub requested: Money,
    /// What the budget that refused has left.
    pub left: Money,
    /// The limit of that budget.
    pub limit: Money,
}

/// What a settled call cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settlement {
    /// What was spent.
    pub spent: Money,
    /// By how much the true cost exceeded the reservation: zero, or the bound was wrong.
    pub overrun: Money,
}

impl Budget {
    /// A budget of its own.
    pub fn new(limit: Money) -> Self {
        Self::opened(limit, Money::ZERO)
    }

    /// A budget of which some is spent already, for example after a restart.
    pub fn opened(limit: Money, spent: Money) -> Self {
        Self::node(None, limit, spent)
    }

    /// A budget within this one. It may allow more than is left here: what counts is the tightest
    /// budget on the way to the root.
    #[must_use]
    pub fn child(&self, limit: Money) -> Self {
        Self::node(Some(self.clone()), limit, Money::ZERO)
    }

    fn node(parent: Option<Self>, limit: Money, spent: Money) -> Self {
        Self(Arc::new(Node { parent, limit, spending: Mutex::new(Spending { spent, reserved: Money::ZERO }) }))
    }

    /// Sets an amount aside here and in every ancestor, or nowhere.
    ///
    /// # Errors
    /// [`BudgetExceeded`] where some budget on the way to the root has less left.
    pub fn reserve(&self, amount: Money) -> Result<Reservation, BudgetExceeded> {
        self.hold(amount)?;
        Ok(Reservation { budget: self.clone(), amount, cost: Money::ZERO })
    }

    /// Locks from here to the root and keeps every lock until the root has agreed, so that a
    /// refusal above is never seen as a reservation below.
    fn hold(&self, requested: Money) -> Result<(), BudgetExceeded> {
        let mut spending = self.spending();
        let (left, limit) = (self.left_of(&spending), self.0.limit);
        if requested > left {
            return Err(BudgetExceeded { requested, left, limit });
        }
        self.0.parent.as_ref().map_or(Ok(()), |parent| parent.hold(requested))?;
        spending.reserved = spending.reserved.plus(requested);
        Ok(())
    }

    fn end(&self, reserved: Money, cost: Money) {
        let mut spending = self.spending();
        self.0.parent.iter().for_each(|parent| parent.end(reserved, cost));
        spending.reserved = spending.reserved.minus(reserved);
        spending.spent = spending.spent.plus(cost);
    }

    /// What can still be reserved here: the least of what this budget and its ancestors have left.
    pub fn left(&self) -> Money {
        let own = self.left_of(&self.spending());
        self.0.parent.as_ref().map_or(own, |parent| own.min(parent.left()))
    }

    fn left_of(&self, spending: &Spending) -> Money {
        self.0.limit.minus(spending.spent).minus(spending.reserved)
    }

    fn spending(&self) -> MutexGuard<'_, Spending> {
        // A panic elsewhere cannot leave the sums half changed: no code of others runs in here.
        self.0.spending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

getters!(Budget {
    /// What was spent from this budget and its children.
    spent -> Money = |this| this.spending().spent;
    /// What is set aside for calls that are under way.
    reserved -> Money = |this| this.spending().reserved;
    /// The limit of this budget.
    limit -> Money = |this| this.0.limit;
});

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (limit, spent, reserved) = (self.limit(), self.spent(), self.reserved());
        write!(f, "Budget {{ limit: {limit}, spent: {spent}, reserved: {reserved} }}")
    }
}

/// An amount set aside for one call.
///
/// Dropped before [`sent`](Self::sent), it is released; dropped after, it counts as spent whole,
/// because the vendor may have billed it. Either happens at once, in the drop.
#[derive(Debug)]
#[must_use = "dropping a reservation releases it"]
pub struct Reservation {
    budget: Budget,
    amount: Money,
    /// What a drop counts as spent.
    cost: Money,
}

impl Reservation {
    /// How much is set aside.
    pub fn amount(&self) -> Money {
        self.amount
    }

    /// Says that the request is about to leave: from now on the call may be billed.
    pub fn sent(&mut self) {
        self.cost = self.amount;
    }

    /// Ends the reservation with what the call cost.
    pub fn settle(mut self, cost: Money) -> Settlement {
        self.cost = cost;
        Settlement { spent: cost, overrun: cost.minus(self.amount) }
    }

    /// Ends the reservation of a call that was provably not billed.
    pub fn release(self) {
        self.settle(Money::ZERO);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.end(self.amount, self.cost);
    }
}
