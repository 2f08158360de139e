//! The entries of a session as items of a timeline.

use std::{collections::HashMap, fmt::Write};

use agent_core::{
    ApprovalAnswer, AssistantMessage, CallId, ContentBlock, JournalRecord, MediaSource, Message, RecordBody, RunEnding,
    ToolOutput, Verdict, ViewEdit,
};

use super::{
    chart::{dollars, tokens},
    date::{clock, duration},
    model::Model,
    text, tool,
};

/// The results and decisions of the calls of a segment, which are shown where the calls are.
#[derive(Debug, Default)]
pub(super) struct Calls {
    outputs: HashMap<CallId, (usize, ToolOutput)>,
    verdicts: HashMap<CallId, Verdict>,
    /// When each attempt was begun, by its id's bits.
    begun: HashMap<u128, u64>,
}

impl Calls {
    pub(super) fn of(model: &Model, entries: &[usize]) -> Self {
        let mut calls = Self::default();
        for at in entries {
            let Some(record) = model.record(*at) else { continue };
            if let Some((call, output)) = super::model::output(record) {
                calls.outputs.insert(call, (*at, output));
            }
            match &record.body {
                RecordBody::ToolIntents(intents) => {
                    calls.verdicts.extend(intents.iter().map(|intent| (intent.intent.call, intent.verdict)));
                }
                RecordBody::CallStarted(start) => {
                    let ms = model.entries.get(*at).map_or(0, |entry| entry.id.made_ms());
                    calls.begun.insert(start.attempt.bits(), ms);
                }
                _ => {}
            }
        }
        calls
    }
}

/// An entry, if it is one to look at.
pub(super) fn item(model: &Model, at: usize, calls: &mut Calls, out: &mut String) {
    let Some(entry) = model.entries.get(at) else { return };
    let Some(record) = model.record(at) else {
        line(model, at, "note", &format!("Entry of the kind {}", text::escaped(&entry.kind)), out);
        return;
    };
    match &record.body {
        RecordBody::MessageAppended(Message::Assistant(answer)) => {
            begin(model, at, "assistant", &who(answer), out);
            said(answer, calls, out);
            end(model, at, None, out);
        }
        RecordBody::MessageAppended(Message::ToolResult(_)) | RecordBody::ToolSettled { .. } => {
            result(model, at, record, calls, out);
        }
        RecordBody::MessageAppended(Message::Note(note)) => {
            begin(model, at, "note", &format!("Note <small>{}</small>", text::escaped(&note.kind)), out);
            blocks(&note.content, out);
            end(model, at, None, out);
        }
        RecordBody::MessageAppended(message) => {
            begin(model, at, "user", "User", out);
            blocks(message.content(), out);
            end(model, at, None, out);
        }
        RecordBody::CallSettled(settled) => {
            let title = match &settled.message {
                Some(Message::Assistant(answer)) => who(answer),
                _ => "No answer".to_owned(),
            };
            begin(model, at, if settled.error.is_some() { "assistant failed" } else { "assistant" }, &title, out);
            if let Some(Message::Assistant(answer)) = &settled.message {
                said(answer, calls, out);
            }
            if let Some(error) = &settled.error {
                _ = write!(out, "<p class=\"error\">{}</p>", text::escaped(error));
            }
            let begun = calls.begun.get(&settled.attempt.bits()).copied();
            end(model, at, begun.filter(|ms| *ms > 0).map(|ms| entry.id.made_ms().saturating_sub(ms)), out);
        }
        RecordBody::RunEnded(ending) => {
            let (class, said) = ended(ending);
            line(model, at, class, &said, out);
        }
        RecordBody::ApprovalAsked(asked) => {
            let reason = asked.reason.as_deref().unwrap_or("somebody has to agree");
            let said = format!("Asked about <code>{}</code>: {}", text::escaped(&asked.tool), text::escaped(reason));
            line(model, at, "approval", &said, out);
        }
        RecordBody::ApprovalGiven { answer, .. } => {
            let said = match answer {
                ApprovalAnswer::Allow => "Allowed".to_owned(),
                ApprovalAnswer::AllowWith(_) => "Allowed with other arguments".to_owned(),
                ApprovalAnswer::Deny(reason) => format!("Denied: {}", text::escaped(reason)),
                _ => "Answered".to_owned(),
            };
            line(model, at, "approval", &said, out);
        }
        RecordBody::ApprovalExpired { .. } => line(model, at, "approval", "Nobody answered in time", out),
        RecordBody::QueuePut { queue, message } => {
            let said = format!("Queued ({}): {}", text::escaped(queue), text::short(&message.text(), 120));
            line(model, at, "queue", &said, out);
        }
        RecordBody::ViewEdited(edit) => edited(model, at, edit, out),
        // The rest is shown where it belongs: with a call, or in the figures.
        _ => anchor(at, out),
    }
}

fn who(answer: &AssistantMessage) -> String {
    match answer.origin.model.as_str() {
        "" => "Assistant".to_owned(),
        model => format!("Assistant <small>{}</small>", text::escaped(model)),
    }
}

/// A place for links to something that is not shown by itself.
fn anchor(at: usize, out: &mut String) {
    _ = write!(out, "<span id=\"e{at}\"></span>");
}

fn begin(model: &Model, at: usize, class: &str, title: &str, out: &mut String) {
    _ = write!(out, "<article id=\"e{at}\" class=\"item {class}\" tabindex=\"-1\"><header><h3>{title}</h3>");
    let Some(entry) = model.entries.get(at) else { return };
    for name in model.labels.get(&entry.id).into_iter().flatten() {
        _ = write!(out, "<span class=\"label\">{}</span>", text::escaped(name));
    }
    if entry.id.made_ms() > 0 {
        _ = write!(out, "<time>{}</time>", clock(entry.id.made_ms()));
    }
    _ = write!(out, "<a class=\"place\" href=\"#e{at}\" aria-label=\"Entry {0}\">{0}</a></header>", entry.seq);
}

fn end(model: &Model, at: usize, took: Option<u64>, out: &mut String) {
    if let Some(figures) = model.figures_at(at) {
        let usage = figures.usage;
        let fresh = usage.prompt().saturating_sub(usage.cache_read);
        _ = write!(out, "<footer><span>{} in</span>", tokens(fresh));
        if usage.cache_read > 0 {
            _ = write!(out, "<span>{} from the cache</span>", tokens(usage.cache_read));
        }
        _ = write!(out, "<span>{} out</span>", tokens(usage.generated()));
        if let Some(cost) = figures.cost {
            _ = write!(out, "<span>{}</span>", dollars(cost.pico_dollars()));
        }
        if let Some(took) = took.filter(|took| *took > 0) {
            _ = write!(out, "<span>{}</span>", duration(took));
        }
        out.push_str("</footer>");
    }
    out.push_str("</article>");
}

/// Something that is said in one line.
fn line(model: &Model, at: usize, class: &str, said: &str, out: &mut String) {
    let Some(entry) = model.entries.get(at) else { return };
    _ = write!(out, "<p id=\"e{at}\" class=\"item line {class}\" tabindex=\"-1\">{said}");
    for name in model.labels.get(&entry.id).into_iter().flatten() {
        _ = write!(out, " <span class=\"label\">{}</span>", text::escaped(name));
    }
    out.push_str("</p>");
}

fn ended(ending: &RunEnding) -> (&'static str, String) {
    match ending {
        RunEnding::Completed => ("ended", "Run completed".to_owned()),
        RunEnding::Refused => ("ended bad", "The model refused".to_owned()),
        RunEnding::Truncated => ("ended bad", "The answer was cut at its limit".to_owned()),
        RunEnding::Stopped(cause) => ("ended bad", format!("Run stopped: {}", text::escaped(cause))),
        RunEnding::Paused => ("ended", "Run paused".to_owned()),
        RunEnding::Cancelled => ("ended bad", "Run cancelled".to_owned()),
        RunEnding::Failed(error) => ("ended bad", format!("Run failed: {}", text::escaped(error))),
        _ => ("ended", "Run ended".to_owned()),
    }
}

fn edited(model: &Model, at: usize, edit: &ViewEdit, out: &mut String) {
    match edit {
        ViewEdit::Summarise { summary, .. } => {
            begin(model, at, "note", "Compaction <small>older turns are shown to the model as this</small>", out);
            blocks(&summary.content, out);
            end(model, at, None, out);
        }
        ViewEdit::Hide { .. } => line(model, at, "note", "Compaction: older turns are hidden from the model", out),
        _ => line(model, at, "note", "Compaction: an output is shown to the model in part", out),
    }
}

/// What the model said, in its order.
fn said(answer: &AssistantMessage, calls: &mut Calls, out: &mut String) {
    let mut ids = answer.tool_calls().map(|(id, _)| id);
    for one in &answer.content {
        match one {
            ContentBlock::ToolCall(call) => {
                let Some(id) = ids.next() else { continue };
                let output = calls.outputs.remove(&id);
                if let Some((at, _)) = &output {
                    anchor(*at, out);
                }
                let verdict = calls.verdicts.get(&id).copied();
                tool::call(call, output.as_ref().map(|(_, output)| output), verdict, out);
            }
            other => block(other, out),
        }
    }
    if let Some(error) = &answer.error {
        _ = write!(out, "<p class=\"error\">{}</p>", text::escaped(error));
    }
}

/// A result that is not shown with its call, because a fork is between them.
fn result(model: &Model, at: usize, record: &JournalRecord, calls: &mut Calls, out: &mut String) {
    let Some((call, _)) = super::model::output(record) else { return };
    let Some((_, output)) = calls.outputs.remove(&call) else { return };
    let name = model.tools.get(&call).map_or("a tool", String::as_str);
    begin(model, at, "note", &format!("Result of <code>{}</code>", text::escaped(name)), out);
    tool::output(&output, out);
    end(model, at, None, out);
}

pub(super) fn blocks(content: &[ContentBlock], out: &mut String) {
    content.iter().for_each(|one| block(one, out));
}

fn block(one: &ContentBlock, out: &mut String) {
    match one {
        ContentBlock::Text(block) => text::prose(&block.text, out),
        ContentBlock::Thinking(thinking) if thinking.text.is_empty() => {
            out.push_str("<p class=\"aside\">Reasoning that only the provider can read</p>");
        }
        ContentBlock::Thinking(thinking) => {
            out.push_str("<details class=\"thinking\"><summary>Reasoning</summary><div>");
            text::prose(&thinking.text, out);
            out.push_str("</div></details>");
        }
        ContentBlock::Image(image) => picture(image.media_type.as_deref(), &image.source, out),
        ContentBlock::Document(document) => {
            let name = document.name.as_deref().unwrap_or("a document");
            _ = write!(out, "<p class=\"aside\">Document: {}</p>", text::escaped(name));
        }
        ContentBlock::ToolCall(call) => tool::call(call, None, None, out),
        _ => out.push_str("<p class=\"aside\">A block that only its provider can read</p>"),
    }
}

/// An image in place; one at an address is named and not fetched.
fn picture(media_type: Option<&str>, source: &MediaSource, out: &mut String) {
    const SHOWN: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    let known = SHOWN.into_iter().find(|known| media_type == Some(known));
    let is_base64 = |data: &str| data.bytes().all(|c| c.is_ascii_alphanumeric() || b"+/=".contains(&c));
    match (source, known) {
        (MediaSource::Base64(data), Some(known)) if is_base64(data) => {
            _ = write!(out, "<img alt=\"An image of this message\" src=\"data:{known};base64,{data}\">");
        }
        (MediaSource::Url(url), _) => {
            _ = write!(out, "<p class=\"aside\">Image at {}</p>", text::escaped(url));
        }
        _ => out.push_str("<p class=\"aside\">An image that is not shown</p>"),
    }
}
