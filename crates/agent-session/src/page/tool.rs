//! A tool call with its arguments, its output and the diff that it made.

use std::fmt::Write;

use agent_core::{ContentBlock, RawJson, ToolCall, ToolOutput, Verdict};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{item, text};

/// Fields that say best what a call is about.
const TELLING: [&str; 9] = ["command", "pattern", "query", "url", "path", "file", "file_path", "name", "task"];
/// Pairs of fields of which the second replaces the first.
const REPLACING: [(&str, &str); 4] =
    [("old", "new"), ("oldText", "newText"), ("old_string", "new_string"), ("old_text", "new_text")];

pub(super) fn call(call: &ToolCall, output: Option<&ToolOutput>, verdict: Option<Verdict>, out: &mut String) {
    let arguments: Map<String, Value> =
        call.arguments.as_object().and_then(|object| object.read().ok()).unwrap_or_default();
    let (class, state) = match output {
        None => ("waits", "no result"),
        Some(output) if output.is_error => ("bad", "failed"),
        Some(_) => ("good", "done"),
    };
    _ = write!(out, "<details class=\"tool {class}\"><summary><b>{}</b>", text::escaped(&call.name));
    if let Some(about) = telling(&arguments) {
        _ = write!(out, " <span class=\"about\">{}</span>", text::short(about, 100));
    }
    match verdict {
        Some(Verdict::Approved) => out.push_str(" <span class=\"badge\">approved</span>"),
        Some(Verdict::Modified) => out.push_str(" <span class=\"badge\">arguments changed</span>"),
        _ => {}
    }
    _ = write!(out, " <span class=\"badge {class}\">{state}</span></summary><div>");
    let diff = output.and_then(|output| output.details.as_ref()).and_then(recorded_diff);
    let diff = diff.or_else(|| proposed_diff(&arguments));
    fields(call, &arguments, diff.is_some(), out);
    if let Some(diff) = diff.filter(|diff| !diff.is_empty()) {
        out.push_str("<h4>Diff</h4>");
        text::diff(&diff, out);
    }
    if let Some(output) = output {
        out.push_str("<h4>Output</h4>");
        self::output(output, out);
    }
    out.push_str("</div></details>");
}

pub(super) fn output(output: &ToolOutput, out: &mut String) {
    if output.content.is_empty() {
        out.push_str("<p class=\"aside\">No output</p>");
    }
    for block in &output.content {
        match block {
            ContentBlock::Text(block) => text::verbatim(&block.text, out),
            other => item::blocks(std::slice::from_ref(other), out),
        }
    }
}

fn telling(arguments: &Map<String, Value>) -> Option<&str> {
    let named = TELLING.into_iter().find_map(|name| arguments.get(name)?.as_str());
    named.or_else(|| arguments.values().find_map(Value::as_str))
}

fn fields(call: &ToolCall, arguments: &Map<String, Value>, has_diff: bool, out: &mut String) {
    if call.arguments.as_object().is_none() {
        out.push_str("<h4>Arguments, which are no JSON object</h4>");
        return text::verbatim(call.arguments.text(), out);
    }
    // What a diff shows is not shown twice.
    let in_diff =
        |name: &str| has_diff && (name == "edits" || REPLACING.iter().any(|(old, new)| name == *old || name == *new));
    let shown: Vec<(&String, &Value)> = arguments.iter().filter(|(name, _)| !in_diff(name)).collect();
    if shown.is_empty() {
        return;
    }
    out.push_str("<h4>Arguments</h4><dl>");
    for (name, value) in shown {
        _ = write!(out, "<dt>{}</dt><dd>", text::escaped(name));
        match value {
            Value::String(value) if value.len() < 120 && !value.contains('\n') => {
                _ = write!(out, "<code>{}</code>", text::escaped(value));
            }
            Value::String(value) => text::verbatim(value, out),
            Value::Array(_) | Value::Object(_) => {
                text::verbatim(&serde_json::to_string_pretty(value).unwrap_or_default(), out);
            }
            other => _ = write!(out, "<code>{other}</code>"),
        }
        out.push_str("</dd>");
    }
    out.push_str("</dl>");
}

/// A diff that the tool left for the application.
fn recorded_diff(details: &RawJson) -> Option<String> {
    #[derive(Deserialize)]
    struct Details {
        diff: String,
    }
    details.read().ok().map(|Details { diff }| diff)
}

/// A diff of what the arguments say is to be replaced.
fn proposed_diff(arguments: &Map<String, Value>) -> Option<String> {
    let of = |fields: &Map<String, Value>| {
        let pair =
            REPLACING.into_iter().find_map(|(old, new)| Some((fields.get(old)?.as_str()?, fields.get(new)?.as_str()?)));
        pair.map(|(old, new)| text::replacement(old, new))
    };
    if let Some(diff) = of(arguments) {
        return Some(diff);
    }
    let edits: Vec<String> =
        arguments.get("edits")?.as_array()?.iter().filter_map(Value::as_object).filter_map(of).collect();
    (!edits.is_empty()).then(|| edits.join("@@\n"))
}
