//! Token counts: sums, totals, saturation.

use agent_core::Usage;
use proptest::prelude::*;

fn usage([input, output, reasoning, cache_read, five, hour]: [u64; 6]) -> Usage {
    let mut usage = Usage::new(input, output);
    (usage.reasoning, usage.cache_read) = (reasoning, cache_read);
    (usage.cache_write_5m, usage.cache_write_1h) = (five, hour);
    usage
}

#[test]
fn totals() {
    let check = |buckets, (prompt, generated, total): (u64, u64, u64)| {
        let usage = usage(buckets);
        assert_eq!((usage.prompt(), usage.generated(), usage.total()), (prompt, generated, total));
    };
    check([0; 6], (0, 0, 0));
    check([1, 10, 100, 1_000, 10_000, 100_000], (111_001, 110, 111_111));
    check([u64::MAX, 1, 1, 1, 0, 0], (u64::MAX, 2, u64::MAX));
    check([0, u64::MAX, 1, 0, 0, u64::MAX], (u64::MAX, u64::MAX, u64::MAX));
}

#[test]
fn sums() {
    let (a, b) = (usage([1, 2, 3, 4, 5, 6]), usage([10, 20, 30, 40, 50, 60]));
    let both = usage([11, 22, 33, 44, 55, 66]);
    assert_eq!(a.plus(b), both);
    assert_eq!([a, b].into_iter().sum::<Usage>(), both);
    let mut added = a;
    added += b;
    assert_eq!(added, both);
    assert_eq!([].into_iter().sum::<Usage>(), Usage::ZERO);
    let most = usage([u64::MAX; 6]);
    assert_eq!(most.plus(a), most);
}

#[test]
fn json() {
    let check = |usage: Usage, text: &str| {
        assert_eq!(serde_json::to_string(&usage).unwrap(), text);
        assert_eq!(serde_json::from_str::<Usage>(text).unwrap(), usage);
    };
    check(Usage::ZERO, "{}");
    check(
        usage([1, 2, 3, 4, 5, 6]),
        r#"{"input":1,"output":2,"reasoning":3,"cacheRead":4,"cacheWrite5m":5,"cacheWrite1h":6}"#,
    );
    assert_eq!(serde_json::from_str::<Usage>(r#"{"new":7}"#).unwrap(), Usage::ZERO);
    assert!(serde_json::from_str::<Usage>(r#"{"input":-1}"#).is_err());
}

proptest! {
    #[test]
    fn a_sum_keeps_every_token(a: [u32; 6], b: [u32; 6]) {
        let (a, b) = (usage(a.map(u64::from)), usage(b.map(u64::from)));
        prop_assert_eq!(a.plus(b).total(), a.total() + b.total());
        prop_assert_eq!(a.plus(b), b.plus(a));
    }
}
