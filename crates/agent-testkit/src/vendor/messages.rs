//! Anthropic Messages.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Rule, Rules, is_blank, is_word, items, text};

const API: &str = "https://platform.claude.com/docs/en/api/messages";
const TOOLS: &str = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use";
const THINKING: &str = "https://platform.claude.com/docs/en/build-with-claude/extended-thinking";
const CACHING: &str = "https://platform.claude.com/docs/en/build-with-claude/prompt-caching";
const VISION: &str = "https://platform.claude.com/docs/en/build-with-claude/vision";

const LIMIT: Rule = ("an output limit is set", API);
const BEGINS: Rule = ("the first message is a user's", API);
const ROLE: Rule = ("a role is user, assistant or system", API);
const FILLED: Rule = ("a message has content", API);
const BLANK: Rule = ("a text has a visible character", API);
const DEFINED: Rule = ("calls in the history need tools in the request", TOOLS);
const ANSWERED: Rule = ("each call has its result in the next message", TOOLS);
const ASKED: Rule = ("a result answers a call of the message before", TOOLS);
const FIRST: Rule = ("results come before everything else in their message", TOOLS);
const ONCE: Rule = ("the id of a call comes once", TOOLS);
const WORD: Rule = ("ids and names are letters, digits, _ and -", TOOLS);
const OBJECT: Rule = ("the input of a call is an object", TOOLS);
const CALLER: Rule = ("only assistants call", TOOLS);
const SIGNED: Rule = ("thinking carries its signature", THINKING);
const LAST: Rule = ("a message does not end with thinking", THINKING);
const MARKERS: Rule = ("there are at most four cache markers", CACHING);
const UNMARKED: Rule = ("no cache marker is on thinking or on an empty text", CACHING);
const IMAGE: Rule = ("an image is JPEG, PNG, GIF or WebP", VISION);

pub(super) fn check(request: &Value, rules: &mut Rules) {
    rules.check(request["max_tokens"].is_u64(), LIMIT, &"/max_tokens");
    let messages = items(&request["messages"], "/messages");
    rules.check(messages.first().is_some_and(|(_, first)| text(first, "role") == "user"), BEGINS, &"/messages/0");
    let (mut open, mut seen): (Vec<(String, &str)>, BTreeSet<&str>) = Default::default();
    let mut has_calls = false;
    for (place, message) in &messages {
        let role = text(message, "role");
        rules.check(["user", "assistant", "system"].contains(&role), ROLE, place);
        let blocks = items(&message["content"], &format!("{place}/content"));
        match message["content"].as_str() {
            Some(content) => rules.check(!is_blank(content), BLANK, place),
            None => rules.check(!blocks.is_empty(), FILLED, place),
        }
        let (mut results, mut calls, mut others) = (BTreeSet::new(), Vec::new(), false);
        for (place, block) in &blocks {
            judge_block(place, block, rules);
            match text(block, "type") {
                "tool_result" => {
                    rules.check(!others, FIRST, place);
                    let id = text(block, "tool_use_id");
                    rules.check(open.iter().any(|(_, call)| *call == id) && results.insert(id), ASKED, place);
                    items(&block["content"], place).iter().for_each(|(place, part)| judge_block(place, part, rules));
                }
                "tool_use" => {
                    rules.check(role == "assistant", CALLER, place);
                    rules.check(seen.insert(text(block, "id")), ONCE, place);
                    calls.push((place.clone(), text(block, "id")));
                    has_calls = true;
                }
                _ => others = true,
            }
        }
        for (place, id) in open.drain(..) {
            rules.check(results.contains(id), ANSWERED, &place);
        }
        open = calls;
        let thinks = |(_, block): &(String, &Value)| matches!(text(block, "type"), "thinking" | "redacted_thinking");
        rules.check(!blocks.last().is_some_and(thinks), LAST, place);
    }
    for (place, _) in open {
        rules.check(false, ANSWERED, &place);
    }
    rules.check(!has_calls || request["tools"].as_array().is_some_and(|tools| !tools.is_empty()), DEFINED, &"/tools");
    rules.check(markers(request) <= 4, MARKERS, &"");
}

fn judge_block(place: &str, block: &Value, rules: &mut Rules) {
    let marked = block["cache_control"].is_object();
    match text(block, "type") {
        "text" => {
            rules.check(!is_blank(text(block, "text")), BLANK, &place);
            rules.check(!marked || !text(block, "text").is_empty(), UNMARKED, &place);
        }
        "tool_use" => {
            rules.check(is_word(text(block, "id"), 256) && is_word(text(block, "name"), 128), WORD, &place);
            rules.check(block["input"].is_object(), OBJECT, &place);
        }
        "thinking" => {
            rules.check(!text(block, "signature").is_empty(), SIGNED, &place);
            rules.check(!marked, UNMARKED, &place);
        }
        "redacted_thinking" => {
            rules.check(!text(block, "data").is_empty(), SIGNED, &place);
            rules.check(!marked, UNMARKED, &place);
        }
        "image" if text(&block["source"], "type") == "base64" => {
            let kinds = ["image/jpeg", "image/png", "image/gif", "image/webp"];
            rules.check(kinds.contains(&text(&block["source"], "media_type")), IMAGE, &place);
        }
        _ => {}
    }
}

/// How many cache markers there are, wherever they stand.
fn markers(value: &Value) -> usize {
    match value {
        Value::Object(fields) => {
            let here = usize::from(fields.get("cache_control").is_some_and(Value::is_object));
            // What a tool takes is the user's own.
            let inside = fields.iter().filter(|(name, _)| *name != "input" && *name != "input_schema");
            here.saturating_add(inside.map(|(_, inner)| markers(inner)).sum())
        }
        Value::Array(all) => all.iter().map(markers).sum(),
        _ => 0,
    }
}
