//! Cancelling: children, guards, races.

use std::{
    future::{pending, poll_fn, ready},
    sync::Arc,
    task::Poll,
};

use agent_core::CancelToken;
use futures_util::FutureExt;

#[test]
fn children_stop_with_their_parent_and_alone() {
    let parent = CancelToken::new();
    let (child, sibling, copy) = (parent.child(), parent.child(), parent.clone());
    let grandchild = child.child();
    let state = || [&parent, &copy, &child, &grandchild, &sibling].map(CancelToken::is_cancelled);
    assert_eq!(state(), [false; 5]);
    child.cancel();
    assert_eq!(state(), [false, false, true, true, false]);
    copy.cancel();
    assert_eq!(state(), [true; 5]);
    assert!(parent.child().is_cancelled());
}

#[test]
fn a_guard_cancels_when_it_is_dropped() {
    let token = CancelToken::new();
    let guard = token.clone().drop_guard();
    assert!(!token.is_cancelled());
    drop(guard);
    assert!(token.is_cancelled());
}

#[tokio::test]
async fn races() {
    let token = CancelToken::new();
    assert_eq!(token.race(ready(1)).await, Some(1));
    // Pending on both sides.
    let mut race = Box::pin(token.race(pending::<()>()));
    assert!((&mut race).now_or_never().is_none());
    token.cancel();
    assert_eq!(race.await, None);
    token.cancelled().await;
}

#[tokio::test]
async fn what_was_cancelled_before_it_began_does_not_begin() {
    let token = CancelToken::new();
    token.cancel();
    let mut polled = false;
    let work = poll_fn(|_| {
        polled = true;
        Poll::Ready(())
    });
    assert_eq!(token.race(work).await, None);
    assert!(!polled);
}

#[tokio::test]
async fn a_race_drops_its_future() {
    let held = Arc::new(());
    for cancelled in [true, false] {
        let token = CancelToken::new();
        if cancelled {
            token.cancel();
        }
        let inside = held.clone();
        let work = async move {
            let _inside = inside;
        };
        assert_eq!(token.race(work).await.is_none(), cancelled);
        assert_eq!(Arc::strong_count(&held), 1);
    }
}

#[tokio::test]
async fn a_waiting_race_is_woken() {
    let token = CancelToken::new();
    let cancel = async {
        tokio::task::yield_now().await;
        token.cancel();
    };
    let (raced, ()) = futures_util::future::join(token.race(pending::<()>()), cancel).await;
    assert_eq!(raced, None);
}
