//! Plays the steps of a reply as a stream of events.

use std::collections::VecDeque;

use agent_core::{CancelToken, ModelStream, ProviderError};
use futures_util::stream;

use super::{
    reply::{Opening, Reply},
    steps::{Stamp, Step},
};

/// Sends: what the opening says, then the stream.
pub(super) async fn send(reply: Reply, stamp: &Stamp, cancel: CancelToken) -> Result<ModelStream, ProviderError> {
    let (opening, steps) = reply.play(stamp);
    match opening {
        Opening::Accept => {}
        Opening::Fail(error) => return Err(error),
        Opening::Hang => {
            cancel.cancelled().await;
            return Err(ProviderError::cancelled());
        }
        Opening::Wait(gate) => {
            cancel.race(gate.pass()).await.ok_or_else(ProviderError::cancelled)?;
        }
    }
    Ok(ModelStream::new(stream::unfold((steps, cancel), next)))
}

type Rest = (VecDeque<Step>, CancelToken);

async fn next((mut steps, cancel): Rest) -> Option<(Result<agent_core::ModelEvent, ProviderError>, Rest)> {
    loop {
        let step = steps.pop_front()?;
        let failed = if cancel.is_cancelled() {
            ProviderError::cancelled()
        } else {
            match step {
                Step::Event(event) => return Some((Ok(event), (steps, cancel))),
                Step::Fail(error) => error,
                Step::Hang => {
                    cancel.cancelled().await;
                    ProviderError::cancelled()
                }
                Step::Wait(gate) => match cancel.race(gate.pass()).await {
                    Some(()) => continue,
                    None => ProviderError::cancelled(),
                },
            }
        };
        // A stream ends with its first error.
        return Some((Err(failed), (VecDeque::new(), cancel)));
    }
}
