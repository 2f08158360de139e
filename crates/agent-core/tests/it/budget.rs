//! The budget tree against a model, and under threads.
#![expect(clippy::indexing_slicing, reason = "what fails here fails the test")]

use agent_core::{Budget, Money, Reservation};
use proptest::prelude::*;

fn money(n: u64) -> Money {
    Money::from_pico_dollars(n)
}

/// Spent, reserved and left.
fn sums(budget: &Budget) -> (u64, u64, u64) {
    let (spent, reserved) = (budget.spent(), budget.reserved());
    (spent.pico_dollars(), reserved.pico_dollars(), budget.left().pico_dollars())
}

#[test]
fn ends_of_a_reservation() {
    let check = |end: fn(Reservation), expected: (u64, u64, u64)| {
        let root = Budget::new(money(100));
        let child = root.child(money(50));
        let reservation = child.reserve(money(30)).unwrap();
        assert_eq!(reservation.amount(), money(30));
        assert_eq!((sums(&child), sums(&root)), ((0, 30, 20), (0, 30, 70)));
        end(reservation);
        let (spent, reserved, left) = expected;
        assert_eq!((sums(&child), sums(&root)), (expected, (spent, reserved, left + 50)));
    };
    check(drop, (0, 0, 50));
    check(Reservation::release, (0, 0, 50));
    check(
        |r| {
            r.settle(money(10));
        },
        (10, 0, 40),
    );
    check(|mut r| r.sent(), (30, 0, 20));
    check(
        |mut r| {
            r.sent();
            r.settle(money(10));
        },
        (10, 0, 40),
    );
    check(
        |mut r| {
            r.sent();
            r.release();
        },
        (0, 0, 50),
    );
}

#[test]
fn refusals() {
    let root = Budget::opened(money(100), money(40));
    let wide = root.child(money(1_000));
    let narrow = root.child(money(10));
    let check = |budget: &Budget, amount, left, limit| {
        let before = [sums(&root), sums(&wide), sums(&narrow)];
        let refused = budget.reserve(money(amount)).unwrap_err();
        let said = (refused.requested, refused.left, refused.limit);
        assert_eq!(said, (money(amount), money(left), money(limit)));
        assert_eq!([sums(&root), sums(&wide), sums(&narrow)], before);
    };
    check(&root, 61, 60, 100);
    check(&wide, 61, 60, 100); // the root refuses
    check(&wide, 1_001, 1_000, 1_000); // its own limit is looked at first
    check(&narrow, 11, 10, 10);
    let all = narrow.reserve(money(10)).unwrap();
    check(&narrow, 1, 0, 10);
    drop(all);
    assert!(root.reserve(money(60)).is_ok());
    assert_eq!((root.limit(), wide.left(), narrow.left()), (money(100), money(60), money(10)));
}

#[test]
fn an_overrun_is_said_and_counts() {
    let root = Budget::new(money(100));
    let settled = root.reserve(money(10)).unwrap().settle(money(25));
    assert_eq!((settled.spent, settled.overrun), (money(25), money(15)));
    assert_eq!(sums(&root), (25, 0, 75));
    let settled = root.reserve(money(10)).unwrap().settle(money(1_000));
    assert_eq!((settled.spent, settled.overrun), (money(1_000), money(990)));
    assert_eq!(sums(&root), (1_025, 0, 0));
    assert!(root.reserve(money(1)).is_err());
    assert!(root.reserve(Money::ZERO).is_ok());
    let max = Budget::opened(Money::MAX, Money::MAX);
    max.reserve(Money::ZERO).unwrap().settle(Money::MAX);
    assert_eq!(max.spent(), Money::MAX);
}

#[test]
fn words() {
    let budget = Budget::opened(Money::from_micro_dollars(2_000_000), money(0));
    let _held = budget.reserve(Money::from_micro_dollars(500_000)).unwrap();
    assert_eq!(format!("{budget:?}"), "Budget { limit: $2.00, spent: $0.00, reserved: $0.50 }");
    let refused = budget.reserve(Money::from_micro_dollars(1_600_000)).unwrap_err();
    let said = "the budget has $1.50 left of $2.00, and the request can cost $1.60";
    assert_eq!(refused.to_string(), said);
}

#[derive(Debug, Clone)]
enum Step {
    Reserve { budget: usize, amount: u64 },
    Sent(prop::sample::Index),
    Settle(prop::sample::Index, u64),
    Release(prop::sample::Index),
    Drop(prop::sample::Index),
}

fn step() -> impl Strategy<Value = Step> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        4 => (0..6usize, 0..60u64).prop_map(|(budget, amount)| Step::Reserve { budget, amount }),
        1 => at().prop_map(Step::Sent),
        1 => (at(), 0..=100u64).prop_map(|(at, percent)| Step::Settle(at, percent)),
        1 => at().prop_map(Step::Release),
        1 => at().prop_map(Step::Drop),
    ]
}

/// Root, two children, and children of those; the parent of each.
const PARENTS: [Option<usize>; 6] = [None, Some(0), Some(0), Some(1), Some(1), Some(3)];

fn path(mut at: usize) -> Vec<usize> {
    let mut path = vec![at];
    while let Some(parent) = PARENTS[at] {
        path.push(parent);
        at = parent;
    }
    path
}

proptest! {
    #[test]
    fn never_above_any_limit(
        limits: [u8; 6],
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let limits = limits.map(u64::from);
        let mut budgets: Vec<Budget> = Vec::new();
        for (at, parent) in PARENTS.iter().enumerate() {
            budgets.push(match parent {
                None => Budget::new(money(limits[at])),
                Some(parent) => budgets[*parent].child(money(limits[at])),
            });
        }
        let (mut spent, mut reserved) = ([0; 6], [0; 6]);
        let mut open: Vec<(usize, Reservation, bool)> = Vec::new();
        for step in steps {
            // What ended: which budget, how much was held, what it cost.
            let ended = match step {
                Step::Reserve { budget, amount } => {
                    let fits = |at: &usize| spent[*at] + reserved[*at] + amount <= limits[*at];
                    let expected = path(budget).iter().all(fits);
                    let got = budgets[budget].reserve(money(amount));
                    prop_assert_eq!(got.is_ok(), expected);
                    if let Ok(reservation) = got {
                        path(budget).into_iter().for_each(|at| reserved[at] += amount);
                        open.push((budget, reservation, false));
                    }
                    None
                }
                Step::Sent(_) | Step::Settle(..) | Step::Release(_) | Step::Drop(_)
                    if open.is_empty() => None,
                Step::Sent(at) => {
                    let (_, reservation, sent) = at.get_mut(&mut open);
                    reservation.sent();
                    *sent = true;
                    None
                }
                Step::Settle(at, percent) => {
                    let (budget, reservation, _) = open.swap_remove(at.index(open.len()));
                    let amount = reservation.amount().pico_dollars();
                    let cost = amount * percent / 100;
                    let settled = reservation.settle(money(cost));
                    prop_assert_eq!(
                        (settled.spent, settled.overrun), (money(cost), Money::ZERO)
                    );
                    Some((budget, amount, cost))
                }
                Step::Release(at) => {
                    let (budget, reservation, _) = open.swap_remove(at.index(open.len()));
                    let amount = reservation.amount().pico_dollars();
                    reservation.release();
                    Some((budget, amount, 0))
                }
                Step::Drop(at) => {
                    let (budget, reservation, sent) = open.swap_remove(at.index(open.len()));
                    let amount = reservation.amount().pico_dollars();
                    drop(reservation);
                    Some((budget, amount, if sent { amount } else { 0 }))
                }
            };
            if let Some((budget, amount, cost)) = ended {
                for at in path(budget) {
                    reserved[at] -= amount;
                    spent[at] += cost;
                }
            }
            for (at, budget) in budgets.iter().enumerate() {
                prop_assert!(spent[at] + reserved[at] <= limits[at]);
                let own = |at: usize| limits[at] - spent[at] - reserved[at];
                let left = path(at).into_iter().map(own).min().unwrap_or_default();
                prop_assert_eq!(sums(budget), (spent[at], reserved[at], left));
            }
        }
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the guarantee is about threads")]
fn threads_never_overspend() {
    const THREADS: u64 = 8;
    const ROUNDS: u64 = 2_000;
    const LIMIT: u64 = 5_000;
    let root = Budget::new(money(LIMIT));
    let spent: Vec<u64> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|seed| {
                let (root, child) = (root.clone(), root.child(money(LIMIT / 4)));
                scope.spawn(move || {
                    let (mut random, mut own) = (seed.wrapping_add(1), 0);
                    for _ in 0..ROUNDS {
                        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        let amount = (random >> 33) % 40;
                        let Ok(mut reservation) = child.reserve(money(amount)) else { continue };
                        // Read in this order: what is reserved can only turn into what is spent.
                        assert!(root.reserved().plus(Money::ZERO) <= money(LIMIT));
                        assert!(root.spent() <= money(LIMIT));
                        match random >> 40 & 3 {
                            0 => drop(reservation),
                            1 => reservation.release(),
                            2 => {
                                reservation.sent();
                                own += amount;
                            }
                            _ => {
                                reservation.settle(money(amount / 2));
                                own += amount / 2;
                            }
                        }
                    }
                    assert_eq!(sums(&child).0, own);
                    own
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let total: u64 = spent.iter().sum();
    assert_eq!(sums(&root), (total, 0, LIMIT - total));
    // The limit was really met: less is left than one reservation can ask for.
    assert!(LIMIT - total < 40, "{total}");
}
