//! Retry advice in all its spellings.

use std::time::Duration;

use agent_core::RetryAfter;
use http::{HeaderMap, HeaderName, HeaderValue};

fn read(pairs: &[(&'static str, &'static str)]) -> Option<RetryAfter> {
    let pair =
        |(name, value): &(&'static str, &'static str)| (HeaderName::from_static(name), HeaderValue::from_static(value));
    RetryAfter::from_headers(&pairs.iter().map(pair).collect::<HeaderMap>())
}

fn delay(ms: u64) -> Option<RetryAfter> {
    Some(RetryAfter::Delay(Duration::from_millis(ms)))
}

#[test]
fn spellings() {
    let check = |value, expected| assert_eq!(read(&[("retry-after", value)]), expected, "{value}");
    check("0", delay(0));
    check("7", delay(7_000));
    check(" 7 ", delay(7_000));
    check("0.25", delay(250));
    check("34.5", delay(34_500));
    check("86400", delay(86_400_000));
    for nonsense in ["", "-1", "-0.5", "soon", "7s", "1,5", "NaN", "inf", "-inf", "1e30", "0x10"] {
        check(nonsense, None);
    }
    // RFC 9110 section 5.6.7: the three forms of a date.
    let at = Some(RetryAfter::At(784_111_777_000));
    check("Sun, 06 Nov 1994 08:49:37 GMT", at);
    check("Sunday, 06-Nov-94 08:49:37 GMT", at);
    check("Sun Nov  6 08:49:37 1994", at);
    check("Sun, 06 Nov 1994 08:49:37", None);
    check("Wed, 31 Dec 1969 23:59:59 GMT", None);
    assert_eq!(read(&[]), None);
}

#[test]
fn milliseconds_win() {
    let check = |ms, seconds, expected| {
        assert_eq!(read(&[("retry-after", seconds), ("retry-after-ms", ms)]), expected, "{ms}");
    };
    check("1500", "7", delay(1_500));
    check("0.5", "7", Some(RetryAfter::Delay(Duration::from_micros(500))));
    check("soon", "7", delay(7_000));
    check("-1", "7", delay(7_000));
    check("-1", "never", None);
    assert_eq!(read(&[("retry-after-ms", "20")]), delay(20));
}

#[test]
fn not_text() {
    let mut headers = HeaderMap::new();
    headers.insert("retry-after", HeaderValue::from_bytes(b"\xff7").unwrap());
    assert_eq!(RetryAfter::from_headers(&headers), None);
}

#[test]
fn waits() {
    let check = |advice: RetryAfter, now, ms| {
        assert_eq!(advice.wait(now), Duration::from_millis(ms));
    };
    check(RetryAfter::Delay(Duration::from_secs(7)), u64::MAX, 7_000);
    check(RetryAfter::At(10_000), 4_000, 6_000);
    check(RetryAfter::At(10_000), 10_000, 0);
    check(RetryAfter::At(10_000), u64::MAX, 0); // over
    check(RetryAfter::At(u64::MAX), 0, u64::MAX);
}
