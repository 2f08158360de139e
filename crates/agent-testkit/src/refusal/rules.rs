//! The rules, in groups: order, results, blocks, tools.

use std::collections::HashSet;

use agent_core::{
    AssistantMessage, CallId, ContentBlock, DocumentBlock, ImageBlock, MediaSource, Message, Origin, StopReason,
    ToolChoice,
};

use super::{Asked, Refusal};

/// Who comes first and last.
pub(super) fn order(messages: &[&Message]) -> Option<Refusal> {
    let last = match messages.len().checked_sub(1) {
        None => return Some(Refusal::Empty),
        Some(last) => last,
    };
    if let Some(Message::Assistant(_)) = messages.first() {
        return Some(Refusal::AssistantFirst);
    }
    match messages.last() {
        // An answer that its vendor paused is sent back as it is.
        Some(Message::Assistant(answer))
            if answer.tool_calls().next().is_none() && answer.stop_reason != StopReason::Paused =>
        {
            Some(Refusal::AssistantLast { message: last })
        }
        _ => None,
    }
}

/// Each call has one result directly behind its message, and each result a call.
pub(super) fn results(messages: &[&Message]) -> Option<Refusal> {
    let mut open: Option<(usize, &AssistantMessage)> = None;
    let mut answered: HashSet<CallId> = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        if let Message::ToolResult(result) = message {
            let call = result.call;
            let known = open.is_some_and(|(_, answer)| answer.tool_call(call).is_some());
            if !known {
                return Some(Refusal::ResultWithoutCall { message: at, call: call.to_string() });
            }
            if !answered.insert(call) {
                return Some(Refusal::DuplicateResult { message: at, call: call.to_string() });
            }
            continue;
        }
        if let Some(refusal) = open.and_then(|open| unanswered(open, &answered)) {
            return Some(refusal);
        }
        answered.clear();
        open = match message {
            Message::Assistant(answer) => Some((at, answer)),
            _ => None,
        };
    }
    open.and_then(|open| unanswered(open, &answered))
}

fn unanswered((message, answer): (usize, &AssistantMessage), answered: &HashSet<CallId>) -> Option<Refusal> {
    let (id, call) = answer.tool_calls().find(|(id, _)| !answered.contains(id))?;
    let block = usize::try_from(id.block()).unwrap_or(usize::MAX);
    Some(Refusal::UnansweredCall { message, block, tool: call.name.clone() })
}

/// What a single block may be.
pub(super) fn blocks(messages: &[&Message], asked: &Asked<'_>) -> Option<Refusal> {
    let mut ids: HashSet<&str> = HashSet::new();
    for (message, of) in messages.iter().enumerate() {
        if of.content().is_empty() && matches!(of, Message::User(_) | Message::Note(_)) {
            return Some(Refusal::EmptyContent { message, role: of.role() });
        }
        for (block, content) in of.content().iter().enumerate() {
            let foreign =
                |origin: Option<&Origin>| asked.origin.as_ref().is_some_and(|us| origin.is_some_and(|of| of != us));
            match content {
                ContentBlock::Text(text) if text.text.trim().is_empty() => {
                    return Some(Refusal::EmptyText { message, block });
                }
                ContentBlock::ToolCall(_) if !matches!(of, Message::Assistant(_)) => {
                    return Some(Refusal::MisplacedCall { message, block, role: of.role() });
                }
                ContentBlock::ToolCall(call) if !is_tool_name(&call.name) => {
                    let tool = call.name.clone();
                    return Some(Refusal::BadToolName { message, block, tool });
                }
                ContentBlock::ToolCall(call) => {
                    if let Some(id) = call.vendor_id.as_deref()
                        && !ids.insert(id)
                    {
                        let id = id.to_owned();
                        return Some(Refusal::DuplicateVendorId { message, block, id });
                    }
                }
                ContentBlock::Thinking(thinking) => {
                    let sealed = thinking.signature.is_some() || thinking.encrypted.is_some();
                    // Without an origin nobody can say that we signed it.
                    let unknown = asked.origin.is_some() && thinking.origin.is_none();
                    if sealed && (unknown || foreign(thinking.origin.as_ref())) {
                        let what = "signed or encrypted reasoning";
                        return Some(Refusal::ForeignBlock { message, block, what });
                    }
                }
                ContentBlock::Opaque(opaque) if foreign(opaque.origin()) => {
                    let what = "an opaque block";
                    return Some(Refusal::ForeignBlock { message, block, what });
                }
                ContentBlock::Image(ImageBlock { source: MediaSource::FileId(file), .. })
                | ContentBlock::Document(DocumentBlock { source: MediaSource::FileId(file), .. })
                    if asked.files.is_some_and(|kept| !kept.contains(file)) =>
                {
                    let file = file.clone();
                    return Some(Refusal::UnknownFile { message, block, file });
                }
                _ => {}
            }
        }
    }
    None
}

/// What fits to the tools on offer.
pub(super) fn tools(messages: &[&Message], asked: &Asked<'_>) -> Option<Refusal> {
    let specs = asked.tools.specs();
    match &asked.choice {
        ToolChoice::Required if specs.is_empty() => return Some(Refusal::RequiredWithoutTools),
        ToolChoice::Tool(tool) if specs.iter().all(|spec| spec.name() != tool) => {
            return Some(Refusal::UnknownToolChoice { tool: tool.clone() });
        }
        _ => {}
    }
    let is_call = |block: &ContentBlock| matches!(block, ContentBlock::ToolCall(_));
    let first = messages.iter().position(|message| message.content().iter().any(is_call));
    first.filter(|_| specs.is_empty()).map(|message| Refusal::CallsWithoutTools { message })
}

fn is_tool_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=64).contains(&name.len()) && name.chars().all(fits)
}
