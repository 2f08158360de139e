//! Time moves only when told to, and wakes in order.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use agent_core::Timer;
use agent_testkit::PausedTimer;
use futures_util::{FutureExt, StreamExt, stream::FuturesUnordered};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn sleepers_resolve_in_the_order_of_their_deadlines() {
    let timer = PausedTimer::at(1_000);
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut sleepers: FuturesUnordered<_> = [30, 10, 20, 10]
        .into_iter()
        .enumerate()
        .map(|(number, after)| {
            let (sleep, order) = (timer.sleep(ms(after)), order.clone());
            async move {
                sleep.await;
                order.lock().unwrap().push((after, number));
            }
        })
        .collect();
    assert!(sleepers.next().now_or_never().is_none());
    assert_eq!(timer.sleeping(), 4);
    timer.advance(ms(9));
    assert!(sleepers.next().now_or_never().is_none());
    timer.advance(ms(100));
    assert_eq!(timer.now_ms(), 1_109);
    while let Some(Some(())) = sleepers.next().now_or_never() {}
    assert_eq!(*order.lock().unwrap(), [(10, 1), (10, 3), (20, 2), (30, 0)]);
    assert_eq!(timer.sleeping(), 0);
}

#[test]
fn advance_to_next_goes_from_deadline_to_deadline() {
    let timer = PausedTimer::at(5);
    assert_eq!(timer.advance_to_next(), None);
    let mut late = timer.sleep(ms(50));
    let mut soon = timer.sleep(ms(20));
    assert_eq!(timer.advance_to_next(), Some(ms(20)));
    assert_eq!((late.as_mut().now_or_never(), soon.as_mut().now_or_never()), (None, Some(())));
    // A sleep counts from where it began.
    let mut later = timer.sleep(ms(40));
    assert_eq!(timer.advance_to_next(), Some(ms(30)));
    assert_eq!((late.now_or_never(), later.as_mut().now_or_never()), (Some(()), None));
    assert_eq!((timer.now_ms(), timer.advance_to_next()), (55, Some(ms(10))));
    assert_eq!(later.now_or_never(), Some(()));
}

#[test]
fn a_dropped_sleep_is_gone_and_no_time_is_no_sleep() {
    let timer = PausedTimer::at(0);
    let (one, two) = (timer.sleep(ms(1)), timer.sleep(ms(2)));
    drop(one);
    assert_eq!((timer.sleeping(), timer.advance_to_next()), (1, Some(ms(2))));
    drop(two);
    assert_eq!(timer.sleep(Duration::ZERO).now_or_never(), Some(()));
    assert_eq!(timer.sleeping(), 0);
    // Parts of a millisecond add up.
    timer.advance(Duration::from_micros(500));
    timer.advance(Duration::from_micros(500));
    assert_eq!(timer.now_ms(), 3);
    // Time stands at its end instead of overflowing.
    timer.advance(Duration::MAX);
    timer.advance(Duration::MAX);
    assert_eq!(timer.now_ms(), u64::MAX);
}

#[tokio::test]
async fn a_sleeper_in_a_task_is_woken() {
    let timer = PausedTimer::at(0);
    let sleeper = async {
        timer.sleep(ms(10)).await;
        timer.sleep(ms(5)).await;
        timer.now_ms()
    };
    let test = async {
        for _ in 0..2 {
            timer.wait_for_sleeping(1).await;
            timer.advance_to_next();
        }
    };
    let (now, ()) = tokio::join!(sleeper, test);
    assert_eq!(now, 15);
}

#[test]
fn auto_moves_when_polled() {
    let timer = PausedTimer::auto();
    let sleep = timer.sleep(ms(10));
    assert_eq!(timer.now_ms(), 0);
    assert_eq!(sleep.now_or_never(), Some(()));
    assert_eq!((timer.sleep(ms(5)).now_or_never(), timer.now_ms()), (Some(()), 15));
}
