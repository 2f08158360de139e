//! Makes the steps of a stream of a reply.

use std::collections::VecDeque;

use agent_core::{BlockStart, ByteString, ModelEvent, Origin, ProviderError, StopReason};

use super::reply::{Block, Break, Content, Opening, Reply};
use crate::Gate;

/// One step of a stream that is played.
#[derive(Debug)]
pub(super) enum Step {
    Event(ModelEvent),
    Fail(ProviderError),
    Hang,
    Wait(Gate),
}

/// What an answer is stamped with.
pub(super) struct Stamp {
    pub(super) origin: Origin,
    pub(super) id: String,
}

impl Reply {
    /// What happens first, and then the steps of the stream.
    pub(super) fn play(self, stamp: &Stamp) -> (Opening, VecDeque<Step>) {
        let Self { opening, content, usage, stop, detail, chunk, mut breaks } = self;
        let events: Vec<Result<ModelEvent, ProviderError>> = match content {
            Content::Raw(events) => events,
            Content::Blocks(blocks) => {
                let calls = blocks.iter().any(|block| matches!(block, Block::Call { .. }));
                let usual = if calls { StopReason::ToolUse } else { StopReason::EndTurn };
                let reason = stop.unwrap_or(usual);
                let mut events = vec![ModelEvent::Start {
                    response_id: Some(format!("resp_{}", stamp.id).into()),
                    model: Some(stamp.origin.model.as_str().into()),
                }];
                for (number, block) in (0u32..).zip(blocks) {
                    block.events(number, chunk, stamp, &mut events);
                }
                events.extend(usage.map(ModelEvent::Usage));
                events.push(ModelEvent::Stop { reason, detail: detail.map(ByteString::from) });
                events.into_iter().map(Ok).collect()
            }
        };
        breaks.sort_by_key(|(after, _)| *after);
        let mut breaks = VecDeque::from(breaks);
        let mut steps = VecDeque::new();
        for (sent, event) in events.into_iter().enumerate() {
            breaks_up_to(sent, &mut breaks, &mut steps);
            steps.push_back(match event {
                Ok(event) => Step::Event(event),
                Err(error) => Step::Fail(error),
            });
        }
        breaks_up_to(usize::MAX, &mut breaks, &mut steps);
        (opening, steps)
    }
}

fn breaks_up_to(sent: usize, breaks: &mut VecDeque<(usize, Break)>, steps: &mut VecDeque<Step>) {
    while breaks.front().is_some_and(|(after, _)| *after <= sent) {
        steps.extend(breaks.pop_front().map(|(_, what)| match what {
            Break::Fail(error) => Step::Fail(error),
            Break::Hang => Step::Hang,
            Break::Wait(gate) => Step::Wait(gate),
        }));
    }
}

impl Block {
    fn events(self, block: u32, chunk: Option<usize>, stamp: &Stamp, out: &mut Vec<ModelEvent>) {
        let start = match &self {
            Self::Text(_) => BlockStart::Text,
            Self::Thinking { .. } => BlockStart::Thinking { origin: stamp.origin.clone(), encrypted: None },
            Self::Call { name, .. } => BlockStart::ToolCall {
                name: name.as_str().into(),
                vendor_id: Some(format!("call_{}_{block}", stamp.id).into()),
            },
            Self::Whole(content) => BlockStart::Whole(content.clone()),
        };
        out.push(ModelEvent::BlockStart { block, start });
        match self {
            Self::Text(text) => out.extend(pieces(&text, chunk).map(|text| ModelEvent::TextDelta { block, text })),
            Self::Thinking { text, signature } => {
                out.extend(pieces(&text, chunk).map(|text| ModelEvent::ThinkingDelta { block, text }));
                out.extend(
                    signature.map(|signature| ModelEvent::SignatureDelta { block, signature: signature.into() }),
                );
            }
            Self::Call { arguments, .. } => {
                out.extend(pieces(&arguments, chunk).map(|json| ModelEvent::ArgumentsDelta { block, json }))
            }
            Self::Whole(_) => {}
        }
        out.push(ModelEvent::BlockEnd { block });
    }
}

fn pieces(text: &str, chunk: Option<usize>) -> impl Iterator<Item = ByteString> {
    let size = chunk.unwrap_or(usize::MAX);
    let mut rest = text.chars();
    std::iter::from_fn(move || {
        let piece: String = rest.by_ref().take(size).collect();
        (!piece.is_empty()).then(|| piece.into())
    })
}
