//! For programs: one JSON object in a line for each event, as `schema/events.schema.json` says.

use std::io::{self, Write as _};

use agent_core::{AgentEvent, BlockStart, Message, ModelEvent, Usage};
use agent_loop::Ending;
use serde_json::{Map, Value, json};

use super::{Ended, plain};

/// The schema of the lines.
pub(crate) const SCHEMA: &str = include_str!("../../schema/events.schema.json");

/// Writes lines.
#[derive(Default)]
pub(crate) struct Json {
    seq: u64,
}

impl Json {
    pub(crate) fn note(&mut self, text: &str) -> io::Result<()> {
        self.write("note", json!({"text": text}))
    }

    pub(crate) fn event(&mut self, event: &AgentEvent) -> io::Result<()> {
        match line(event) {
            Some((kind, fields)) => self.write(kind, fields),
            None => Ok(()),
        }
    }

    pub(crate) fn end(&mut self, ended: &Ended<'_>) -> io::Result<()> {
        let report = ended.report;
        let name = match &report.ending {
            Ending::Completed => "completed",
            Ending::Refused => "refused",
            Ending::Truncated => "truncated",
            Ending::Stopped(_) => "stopped",
            Ending::Paused { .. } => "paused",
            Ending::Cancelled => "cancelled",
            _ => "failed",
        };
        let reason = match &report.ending {
            Ending::Stopped(cause) => Some(cause.to_string()),
            failed @ Ending::Failed(_) => Some(plain::failure(failed)),
            _ => None,
        };
        self.write(
            "report",
            json!({
                "ending": name, "reason": reason, "text": report.final_text(), "turns": report.turns,
                "usage": usage(&report.usage), "costDollars": report.cost.map(dollars), "model": ended.model,
                "session": ended.session, "elapsedMs": ended.elapsed_ms, "exitStatus": ended.status.number(),
            }),
        )
    }

    fn write(&mut self, kind: &str, fields: Value) -> io::Result<()> {
        let mut object = Map::new();
        object.insert("type".into(), kind.into());
        object.insert("seq".into(), self.seq.into());
        if let Value::Object(fields) = fields {
            object.extend(fields);
        }
        self.seq = self.seq.saturating_add(1);
        let mut text = Value::Object(object).to_string();
        text.push('\n');
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }
}

/// An amount as a decimal number of dollars, as text: no digit is lost.
fn dollars(amount: agent_core::Money) -> String {
    amount.to_string().trim_start_matches('$').to_owned()
}

fn usage(usage: &Usage) -> Value {
    json!({
        "input": usage.input, "output": usage.output, "reasoning": usage.reasoning, "cacheRead": usage.cache_read,
        "cacheWrite": usage.cache_write_5m.saturating_add(usage.cache_write_1h),
    })
}

/// JSON of a value of ours that can be written as such.
fn value(of: &impl serde::Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_default()
}

fn raw(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

/// The kind and the fields of an event; `None` for what says nothing by itself.
fn line(event: &AgentEvent) -> Option<(&'static str, Value)> {
    Some(match event {
        AgentEvent::AgentStart => ("start", json!({})),
        AgentEvent::TurnStart { turn } => ("turnStart", json!({"turn": turn})),
        AgentEvent::InputRejected { reason } => ("inputRejected", json!({"reason": reason})),
        AgentEvent::Queued { queue, message } => ("queued", json!({"queue": queue, "message": message.to_string()})),
        AgentEvent::Dequeued { message } => ("dequeued", json!({"message": message.to_string()})),
        AgentEvent::Model(event) => return model(event),
        AgentEvent::MessageEnd { message } => ("message", said(message)),
        AgentEvent::MessageDropped { message } => ("messageDropped", json!({"id": message.id().to_string()})),
        AgentEvent::ContextEdited { before, after } => ("contextEdited", json!({"before": before, "after": after})),
        AgentEvent::LoopDetected { tool, repetitions, stopped } => {
            ("loopDetected", json!({"tool": tool, "repetitions": repetitions, "stopped": stopped}))
        }
        AgentEvent::HookFailed { point, error } => ("hookFailed", json!({"point": point, "error": error})),
        AgentEvent::CacheBreak(broken) => {
            ("cacheBreak", json!({"cause": format!("{:?}", broken.cause), "tokensLost": broken.tokens_lost}))
        }
        AgentEvent::Lost { losses } => {
            ("lost", json!({"what": losses.iter().map(|loss| loss.what.to_string()).collect::<Vec<_>>()}))
        }
        AgentEvent::Retry { attempt, kind, error, delay_ms } => {
            ("retry", json!({"attempt": attempt, "kind": kind.to_string(), "error": error, "delayMs": delay_ms}))
        }
        AgentEvent::ToolStart { call, name, arguments, .. } => {
            ("toolStart", json!({"call": call.to_string(), "tool": name, "arguments": raw(arguments.get())}))
        }
        AgentEvent::ToolProgress { call, text } => ("toolProgress", json!({"call": call.to_string(), "text": text})),
        AgentEvent::ToolEnd { call, output } => (
            "toolEnd",
            json!({
                "call": call.to_string(), "isError": output.is_error, "content": value(&output.content),
                "details": output.details.as_ref().map(|details| raw(details.get())),
            }),
        ),
        AgentEvent::ApprovalAsked { call, tool, reason } => (
            "approvalAsked",
            json!({
                "call": call.to_string(), "tool": tool.name, "arguments": raw(tool.arguments.text()), "reason": reason,
            }),
        ),
        AgentEvent::TurnEnd { turn, stop_reason, usage: used } => (
            "turnEnd",
            json!({
                "turn": turn, "stopReason": stop_reason.as_ref().map(|reason| reason.as_str()), "usage": usage(used),
            }),
        ),
        // The report says it, with more.
        _ => return None,
    })
}

fn model(event: &ModelEvent) -> Option<(&'static str, Value)> {
    Some(match event {
        ModelEvent::TextDelta { text, .. } => ("textDelta", json!({"text": &**text})),
        ModelEvent::ThinkingDelta { text, .. } => ("thinkingDelta", json!({"text": &**text})),
        ModelEvent::BlockStart { start: BlockStart::ToolCall { name, .. }, .. } => {
            ("callStart", json!({"tool": name.to_string()}))
        }
        ModelEvent::ArgumentsDelta { json, .. } => ("argumentsDelta", json!({"json": &**json})),
        _ => return None,
    })
}

fn said(message: &Message) -> Value {
    json!({
        "id": message.id().to_string(), "role": message.role(), "content": value(&message.content()),
    })
}
