//! What vendors say that they refuse, as checks of request bodies; each rule names the page that states it.

mod chat;
mod converse;
mod gemini;
mod messages;
mod responses;

use std::fmt;

use serde_json::Value;

/// A protocol whose vendor documents what it refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Vendor {
    /// Anthropic Messages.
    Messages,
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Gemini and Vertex AI before Gemini 3: calls need no signature, and responses carry no media.
    Gemini2,
    /// Gemini and Vertex AI from Gemini 3 on.
    Gemini3,
    /// Amazon Bedrock Converse.
    Converse,
}

/// A rule of a vendor that a request breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrokenRule {
    /// The rule.
    pub rule: &'static str,
    /// The page that states it.
    pub page: &'static str,
    /// Where in the request, as a JSON pointer.
    pub place: String,
}

impl fmt::Display for BrokenRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.place, self.rule, self.page)
    }
}

/// The documented rules that a request body breaks.
///
/// They are those that a history can break: order and pairs of messages, calls and results, signatures, media, ids and
/// names. Types of fields are [`schema_faults`](crate::schema_faults)'s.
///
/// ```
/// use agent_testkit::{Vendor, broken_rules};
/// let broken = broken_rules(Vendor::Messages, &serde_json::json!({"max_tokens": 1, "messages": [
///     {"role": "user", "content": "Hi"},
///     {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
/// ], "tools": [{"name": "f"}]}));
/// assert_eq!(broken[0].place, "/messages/1/content/0");
/// ```
pub fn broken_rules(vendor: Vendor, request: &Value) -> Vec<BrokenRule> {
    let mut rules = Rules(Vec::new());
    match vendor {
        Vendor::Messages => messages::check(request, &mut rules),
        Vendor::Chat => chat::check(request, &mut rules),
        Vendor::Responses => responses::check(request, &mut rules),
        Vendor::Gemini2 => gemini::check(request, true, &mut rules),
        Vendor::Gemini3 => gemini::check(request, false, &mut rules),
        Vendor::Converse => converse::check(request, &mut rules),
    }
    rules.0
}

/// A rule and its page.
type Rule = (&'static str, &'static str);

/// The rules that were found broken.
struct Rules(Vec<BrokenRule>);

impl Rules {
    fn check(&mut self, holds: bool, (rule, page): Rule, place: &dyn fmt::Display) {
        if !holds {
            self.0.push(BrokenRule { rule, page, place: place.to_string() });
        }
    }
}

/// The items of an array with their places; nothing where it is none.
fn items<'a>(value: &'a Value, place: &str) -> Vec<(String, &'a Value)> {
    let all = value.as_array().into_iter().flatten().enumerate();
    all.map(|(at, item)| (format!("{place}/{at}"), item)).collect()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Whether a name has only the letters that vendors allow, and as many as they allow.
fn is_word(name: &str, most: usize) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !name.is_empty() && name.len() <= most && name.chars().all(allowed)
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
