//! Tool calls and reasoning that a local model writes into its text, in the words of its template.
//!
//! Servers that know the template send both in their own fields; this is for those that do not. Markers:
//! `<tool_call>` (Hermes, Qwen, with JSON or with `<function=…><parameter=…>` in it), `<function=…>` (Llama, Qwen
//! Coder), `[TOOL_CALLS]` (Mistral), `<|python_tag|>` and a bare object of name and parameters (Llama 3),
//! `<think>` (DeepSeek, Qwen and others).

use std::mem;

use agent_core::{JsonMembers, json_string};
use serde_json::value::RawValue;

/// What is looked for in the text of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct TextSyntax {
    /// Tool calls.
    pub calls: bool,
    /// Reasoning between `<think>` and `</think>`.
    pub thinking: bool,
}

impl TextSyntax {
    /// Tool calls and reasoning.
    pub const ALL: Self = Self { calls: true, thinking: true };
    /// Tool calls alone.
    pub const CALLS: Self = Self { calls: true, thinking: false };
    /// Reasoning alone.
    pub const THINKING: Self = Self { calls: false, thinking: true };
}

/// What was found.
#[derive(Debug, PartialEq)]
pub(super) enum Spoken {
    Text(String),
    Thought(String),
    Call { name: String, arguments: String },
}

/// A marker, and what ends what it begins; nothing where the end of the text does.
struct Marker(&'static str, &'static str);

const THINK: Marker = Marker("<think>", "</think>");
const CALLS: [Marker; 4] = [
    Marker("<tool_call>", "</tool_call>"),
    Marker("<function=", "</function>"),
    Marker("[TOOL_CALLS]", ""),
    Marker("<|python_tag|>", ""),
];

/// Reads text as it comes.
pub(super) struct Listener {
    syntax: TextSyntax,
    held: String,
    open: Option<&'static Marker>,
    /// Whether anything but white space has been put out.
    begun: bool,
    /// Whether the white space at the beginning is the template's, as it is behind reasoning.
    skips: bool,
}

impl Listener {
    pub(super) fn new(syntax: TextSyntax) -> Self {
        Self { syntax, held: String::new(), open: None, begun: false, skips: false }
    }

    /// Takes more text, and returns what is certain by now.
    pub(super) fn hear(&mut self, text: &str) -> Vec<Spoken> {
        self.held.push_str(text);
        self.skip();
        let mut found = Vec::new();
        loop {
            let more = match self.open {
                None => self.plain(&mut found),
                Some(marker) => self.inside(marker, &mut found),
            };
            if !more {
                return found;
            }
        }
    }

    /// Takes the end of the text.
    pub(super) fn finish(&mut self) -> Vec<Spoken> {
        let (held, mut found) = (mem::take(&mut self.held), Vec::new());
        match self.open.take() {
            None if self.syntax.calls && !self.begun => match bare(&held) {
                Some(call) => found.push(call),
                None => self.say(held, &mut found),
            },
            None => self.say(held, &mut found),
            Some(marker) if marker.0 == THINK.0 => found.push(Spoken::Thought(held)),
            Some(marker) => self.calls_or_text(marker, &held, "", &mut found),
        }
        found
    }

    fn skip(&mut self) {
        if self.skips && self.open.is_none() {
            self.held = self.held.trim_start().to_owned();
            self.skips = self.held.is_empty();
        }
    }

    fn markers(&self) -> impl Iterator<Item = &'static Marker> {
        let thinking = self.syntax.thinking.then_some(&THINK);
        thinking.into_iter().chain(CALLS.iter().filter(|_| self.syntax.calls))
    }

    /// Outside of everything; says whether something began.
    fn plain(&mut self, found: &mut Vec<Spoken>) -> bool {
        let first =
            self.markers().filter_map(|marker| Some((self.held.find(marker.0)?, marker))).min_by_key(|(at, _)| *at);
        if let Some((at, marker)) = first {
            let rest = self.held.split_off(at);
            let said = mem::replace(&mut self.held, rest.get(marker.0.len()..).unwrap_or_default().to_owned());
            // The line break before a marker belongs to the template.
            self.say(said.trim_end().to_owned(), found);
            self.open = Some(marker);
            return true;
        }
        if self.syntax.calls && !self.begun && may_be_bare(&self.held) {
            return false;
        }
        let mut keep = self.markers().map(|marker| unfinished(&self.held, marker.0)).max().unwrap_or(0);
        if self.syntax.calls {
            // It may stand before a call.
            let text = self.held.len() - keep;
            keep += self.held.get(..text).map_or(0, |text| text.len() - text.trim_end().len());
        }
        let rest = self.held.split_off(self.held.len() - keep);
        let said = mem::replace(&mut self.held, rest);
        self.say(said, found);
        false
    }

    /// Behind a marker; says whether its end came.
    fn inside(&mut self, marker: &'static Marker, found: &mut Vec<Spoken>) -> bool {
        let is_thought = marker.0 == THINK.0;
        let end = Some(marker.1).filter(|end| !end.is_empty()).and_then(|end| self.held.find(end));
        let Some(at) = end else {
            if is_thought {
                let rest = self.held.split_off(self.held.len() - unfinished(&self.held, marker.1));
                let thought = mem::replace(&mut self.held, rest);
                found.extend(Some(thought).filter(|text| !text.is_empty()).map(Spoken::Thought));
            }
            return false;
        };
        let rest = self.held.split_off(at);
        let body = mem::replace(&mut self.held, rest.get(marker.1.len()..).unwrap_or_default().to_owned());
        self.open = None;
        if is_thought {
            found.extend(Some(body).filter(|text| !text.is_empty()).map(Spoken::Thought));
            self.skips = true;
            self.skip();
        } else {
            self.calls_or_text(marker, &body, marker.1, found);
        }
        true
    }

    /// What stood between markers as calls; as the text that it is, where it is none.
    fn calls_or_text(&mut self, marker: &Marker, body: &str, end: &str, found: &mut Vec<Spoken>) {
        match calls(marker.0, body) {
            Some(calls) => {
                self.begun = true;
                found.extend(calls);
            }
            None => self.say(format!("{}{body}{end}", marker.0), found),
        }
    }

    fn say(&mut self, text: String, found: &mut Vec<Spoken>) {
        if !text.is_empty() {
            self.begun |= !text.trim().is_empty();
            found.push(Spoken::Text(text));
        }
    }
}

/// How many bytes at the end of a text may be the beginning of a marker.
fn unfinished(text: &str, marker: &str) -> usize {
    let ends = |length: &usize| marker.get(..*length).is_some_and(|head| text.ends_with(head));
    (1..marker.len()).rev().find(ends).unwrap_or(0)
}

fn calls(marker: &str, body: &str) -> Option<Vec<Spoken>> {
    let body = body.trim();
    match marker {
        "<function=" => function(body).map(|call| vec![call]),
        "<tool_call>" => match body.strip_prefix("<function=") {
            Some(inner) => function(inner.trim_end().strip_suffix("</function>")?).map(|call| vec![call]),
            None => objects(body),
        },
        "[TOOL_CALLS]" if !body.starts_with(['[', '{']) => {
            body.split("[TOOL_CALLS]").map(|call| mistral(call.trim())).collect()
        }
        _ => objects(body.trim_end_matches("<|eom_id|>").trim_end_matches("<|eot_id|>").trim()),
    }
}

/// Mistral's newer way: the name, then `[ARGS]` or nothing, then the arguments.
fn mistral(text: &str) -> Option<Spoken> {
    let (name, arguments) = text.split_once("[ARGS]").or_else(|| Some(text.split_at(text.find('{')?)))?;
    let name = name.split("[CALL_ID]").next().unwrap_or_default().trim();
    whole(arguments.trim())
        .filter(|_| !name.is_empty())
        .map(|arguments| Spoken::Call { name: name.to_owned(), arguments })
}

/// One object, a list of them, or several with semicolons or line breaks between.
fn objects(text: &str) -> Option<Vec<Spoken>> {
    if let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(text) {
        return list.into_iter().map(|raw| object(raw.get())).collect();
    }
    let mut calls = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        calls.push(object(values.next()?.ok()?.get())?);
        let at = values.byte_offset();
        rest = rest.get(at..).unwrap_or_default().trim_start_matches([';', ',', ' ', '\n', '\r', '\t']);
    }
    (!calls.is_empty()).then_some(calls)
}

fn object(text: &str) -> Option<Spoken> {
    let members = JsonMembers::read(text)?;
    let inner = members.value("function").and_then(|raw| JsonMembers::read(raw.get()));
    let members = inner.unwrap_or(members);
    let name = members.text("name").or_else(|| members.text("function")).filter(|name| !name.is_empty())?;
    let arguments = ["arguments", "parameters", "args", "input"].into_iter().find_map(|name| members.value(name));
    let arguments = match arguments.map(|raw| (json_string(raw), raw)) {
        None => "{}".to_owned(),
        Some((Some(text), _)) => text.into_owned(),
        Some((None, raw)) => raw.get().to_owned(),
    };
    Some(Spoken::Call { name: name.into_owned(), arguments })
}

/// `name>` and then JSON, or one `<parameter=…>` for each argument.
fn function(text: &str) -> Option<Spoken> {
    let (name, body) = text.split_once('>')?;
    let (name, body) = (name.trim().trim_matches(['"', '\'']).to_owned(), body.trim());
    if name.is_empty() {
        return None;
    }
    if let Some(arguments) = whole(body) {
        return Some(Spoken::Call { name, arguments });
    }
    let mut members = Vec::new();
    for parameter in body.split("<parameter=").skip(1) {
        let (key, value) = parameter.split_once('>')?;
        let value = value.trim_end().trim_end_matches("</parameter>");
        // One line break on either side is the template's.
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        // What is no JSON is a string; what is, the check of the arguments takes for a string where one is wanted.
        let value = whole(value.trim()).or_else(|| serde_json::to_string(value).ok())?;
        members.push(format!("{}:{value}", serde_json::to_string(key.trim()).ok()?));
    }
    let is_call = !members.is_empty() || body.is_empty();
    is_call.then(|| Spoken::Call { name, arguments: format!("{{{}}}", members.join(",")) })
}

/// One whole JSON value.
fn whole(text: &str) -> Option<String> {
    serde_json::from_str::<&RawValue>(text).is_ok().then(|| text.to_owned())
}

/// The beginnings of an answer that is nothing but a call.
const BARE: [&str; 2] = ["{\"name\":", "{\"type\":\"function\","];

fn may_be_bare(text: &str) -> bool {
    let dense: String = text.chars().filter(|c| !c.is_whitespace()).take(24).collect();
    BARE.iter().any(|bare| dense.starts_with(bare) || bare.starts_with(&*dense))
}

/// An answer that is nothing but an object of a name and its arguments.
fn bare(text: &str) -> Option<Spoken> {
    let known = |name: &str| matches!(name, "type" | "name" | "parameters" | "arguments");
    let members = JsonMembers::read(text.trim())?;
    let has_arguments = ["parameters", "arguments"].iter().any(|name| members.value(name).is_some());
    let is_call = has_arguments && members.pairs().iter().all(|(name, _)| known(name));
    is_call.then(|| object(text.trim()))?
}
