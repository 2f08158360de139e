//! An answer as a stream of events: text in small pieces, or tool calls.

use agent_core::{BlockStart, ByteString, CancelToken, ModelEvent, ModelStream, ProviderError, StopReason, Usage};
use futures_util::stream;

use super::plan::{Call, Step};

/// How long a piece of text gets before it is sent at the next space, in characters.
const PIECE: usize = 12;

/// The stream of a step; it ends with an error once it is cancelled.
pub(super) fn of(step: Step, model: &str, stamp: u128, cancel: CancelToken) -> ModelStream {
    let mut events = vec![ModelEvent::Start {
        response_id: Some(format!("offline_{stamp:032x}").into()),
        model: Some(model.into()),
    }];
    let reason = match step {
        Step::Answer(text) => {
            say(&text, &mut events);
            StopReason::EndTurn
        }
        Step::Calls(calls) => {
            for (block, call) in (0u32..).zip(calls) {
                ask(block, call, stamp, &mut events);
            }
            StopReason::ToolUse
        }
    };
    // There is no tokenizer, and nothing that costs: no tokens are the truth.
    events.push(ModelEvent::Usage(Usage::ZERO));
    events.push(ModelEvent::Stop { reason, detail: None });
    ModelStream::new(stream::unfold((events.into_iter(), cancel), |(mut events, cancel)| async move {
        let event = events.next()?;
        if cancel.is_cancelled() {
            return Some((Err(ProviderError::cancelled()), (Vec::new().into_iter(), cancel)));
        }
        Some((Ok(event), (events, cancel)))
    }))
}

fn say(text: &str, events: &mut Vec<ModelEvent>) {
    let block = 0;
    events.push(ModelEvent::BlockStart { block, start: BlockStart::Text });
    events.extend(pieces(text).map(|text| ModelEvent::TextDelta { block, text }));
    events.push(ModelEvent::BlockEnd { block });
}

fn ask(block: u32, call: Call, stamp: u128, events: &mut Vec<ModelEvent>) {
    let vendor_id = Some(format!("call_{stamp:032x}_{block}").into());
    let start = BlockStart::ToolCall { name: call.tool.into(), vendor_id };
    events.push(ModelEvent::BlockStart { block, start });
    events.push(ModelEvent::ArgumentsDelta { block, json: call.arguments.into() });
    events.push(ModelEvent::BlockEnd { block });
}

/// A text in pieces that end behind a space, where there is one.
fn pieces(text: &str) -> impl Iterator<Item = ByteString> {
    let mut rest = text.chars();
    std::iter::from_fn(move || {
        let mut piece = String::new();
        for c in rest.by_ref() {
            piece.push(c);
            if piece.chars().count() >= PIECE && c.is_whitespace() || piece.len() >= 4 * PIECE {
                break;
            }
        }
        (!piece.is_empty()).then(|| piece.into())
    })
}
