//! Money and prices.

use agent_core::{Money, Price, Rates, TokenBound, Usage, WorstCaseError};
use proptest::prelude::*;

fn pico(n: u64) -> Money {
    Money::from_pico_dollars(n)
}

#[test]
fn shown() {
    let check = |amount: u64, text: &str| assert_eq!(pico(amount).to_string(), text);
    check(0, "$0.00");
    check(1, "$0.000000000001");
    check(10_000_000_000, "$0.01");
    check(100_000_000_000, "$0.10");
    check(123_000_000_000, "$0.123");
    check(1_000_000_000_000, "$1.00");
    check(1_500_000_000_000, "$1.50");
    check(12_345_678_900_000_000, "$12345.6789");
    check(u64::MAX, "$18446744.073709551615");
}

#[test]
fn of_dollars() {
    let check = |dollars: f64, expected: Option<u64>| {
        assert_eq!(Money::from_dollars(dollars).ok(), expected.map(pico), "{dollars}");
    };
    check(0.0, Some(0));
    check(-0.0, Some(0));
    check(3.0 / 1e6, Some(3_000_000));
    check(0.1, Some(100_000_000_000));
    check(0.000_000_000_001, Some(1));
    check(0.000_000_000_000_4, Some(0));
    check(0.000_000_000_000_6, Some(1));
    check(18_000_000.0, Some(18_000_000_000_000_000_000));
    check(18_000_000.1, None);
    check(-0.000_001, None);
    check(f64::NAN, None);
    check(f64::INFINITY, None);
    check(f64::NEG_INFINITY, None);
    let error = Money::from_dollars(-1.0).unwrap_err().to_string();
    assert_eq!(error, "-1 is no amount of money: it has to be from 0 to 18,000,000 dollars");
}

#[test]
fn saturates() {
    assert_eq!(Money::MAX.plus(pico(1)), Money::MAX);
    assert_eq!(pico(1).minus(pico(2)), Money::ZERO);
    assert_eq!(pico(u64::MAX / 2).times(3), Money::MAX);
    assert_eq!(Money::from_micro_dollars(u64::MAX), Money::MAX);
    assert_eq!(Money::from_micro_dollars(2), pico(2_000_000));
    assert_eq!([pico(1), pico(2)].into_iter().sum::<Money>(), pico(3));
    assert_eq!(serde_json::to_string(&pico(7)).unwrap(), "7");
    assert_eq!(serde_json::from_str::<Money>("7").unwrap(), pico(7));
}

fn rates([input, output, read, five, hour]: [u64; 5]) -> Rates {
    let mut rates = Rates::new(pico(input), pico(output));
    (rates.cache_read, rates.cache_write_5m) = (pico(read), pico(five));
    rates.cache_write_1h = pico(hour);
    rates
}

fn usage([input, output, reasoning, cache_read, five, hour]: [u64; 6]) -> Usage {
    let mut usage = Usage::new(input, output);
    (usage.reasoning, usage.cache_read) = (reasoning, cache_read);
    (usage.cache_write_5m, usage.cache_write_1h) = (five, hour);
    usage
}

#[test]
fn every_bucket_has_its_rate() {
    let price = Price::new(rates([1, 10, 100, 1_000, 10_000]));
    let check = |buckets, expected| assert_eq!(price.cost(&usage(buckets)), pico(expected));
    check([3, 0, 0, 0, 0, 0], 3);
    check([0, 3, 0, 0, 0, 0], 30);
    check([0, 0, 3, 0, 0, 0], 30);
    check([0, 0, 0, 3, 0, 0], 300);
    check([0, 0, 0, 0, 3, 0], 3_000);
    check([0, 0, 0, 0, 0, 3], 30_000);
    check([1, 2, 3, 4, 5, 6], 65_451);
    check([0; 6], 0);
    check([0, 0, 0, 0, 0, u64::MAX], u64::MAX);
    let plain = Rates::new(pico(2), pico(5));
    assert_eq!(plain, rates([2, 5, 2, 2, 2]));
}

#[test]
fn bands_are_inclusive_and_unordered() {
    let price = Price::new(rates([1; 5])).band(200, rates([9; 5])).band(100, rates([5; 5]));
    let check = |prompt, rate| assert_eq!(price.rates_for(prompt).input, pico(rate), "{prompt}");
    check(0, 1);
    check(99, 1);
    check(100, 5);
    check(199, 5);
    check(200, 9);
    check(u64::MAX, 9);
    // Cached tokens count towards the band, generated ones don't; it prices the whole call.
    assert_eq!(price.cost(&usage([40, 0, 0, 40, 10, 10])), pico(500));
    assert_eq!(price.cost(&usage([40, 60, 60, 40, 10, 9])), pico(219));
}

#[test]
fn worst_cases() {
    use TokenBound::AtMost;
    let price = Price::new(rates([1, 10, 2, 3, 4])).band(100, rates([2, 20, 1, 1, 1]));
    let check = |input, output, expected| {
        assert_eq!(price.worst_case(input, output), expected);
    };
    check(AtMost(0), Some(0), Ok(Money::ZERO));
    check(AtMost(99), Some(7), Ok(pico(99 * 4 + 70)));
    // At 100 both lists can apply: 100 × 4 + 70 below, 100 × 2 + 140 above.
    check(AtMost(100), Some(7), Ok(pico(470)));
    check(AtMost(100), Some(70), Ok(pico(1_600)));
    check(AtMost(u64::MAX), Some(u64::MAX), Ok(Money::MAX));
    check(TokenBound::Unknown, Some(7), Err(WorstCaseError::UnboundedInput));
    check(AtMost(1), None, Err(WorstCaseError::UnboundedOutput));
    check(TokenBound::Unknown, None, Err(WorstCaseError::UnboundedInput));
}

proptest! {
    #[test]
    fn no_cost_is_above_the_worst_case(
        base: [u16; 5],
        bands in prop::collection::vec((0..400u64, any::<[u16; 5]>()), 0..4),
        used in prop::array::uniform6(0..100u64),
        slack in 0..3u64,
    ) {
        let price = bands.into_iter().fold(
            Price::new(rates(base.map(u64::from))),
            |price, (from, band)| price.band(from, rates(band.map(u64::from))),
        );
        let usage = usage(used);
        let bound = TokenBound::AtMost(usage.prompt() + slack);
        let worst = price.worst_case(bound, Some(usage.generated() + slack)).unwrap();
        prop_assert!(price.cost(&usage) <= worst);
    }

    #[test]
    fn sums_are_exact(a in 0..=u64::MAX / 2, b in 0..=u64::MAX / 2) {
        prop_assert_eq!(pico(a).plus(pico(b)).minus(pico(b)), pico(a));
    }
}
