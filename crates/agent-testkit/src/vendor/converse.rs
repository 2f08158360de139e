//! Amazon Bedrock Converse.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Rule, Rules, is_blank, is_word, items, text};

const MESSAGE: &str = "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html";
const BLOCK: &str = "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html";
const USE: &str = "https://docs.aws.amazon.com/bedrock/latest/userguide/tool-use-inference-call.html";
const TOOL: &str = "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html";
const IMAGES: &str = "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ImageBlock.html";
const DOCUMENT: &str = "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html";
const THINKING: &str = "https://docs.aws.amazon.com/bedrock/latest/userguide/inference-reasoning.html";
const CACHING: &str = "https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html";

const BEGINS: Rule = ("the first message is a user's", MESSAGE);
const ROLE: Rule = ("roles are user and assistant in turns", MESSAGE);
const FILLED: Rule = ("a message has content", MESSAGE);
const ONE: Rule = ("a block has one kind of data", BLOCK);
const BLANK: Rule = ("a text has a visible character", BLOCK);
const ANSWERED: Rule = ("each call has its result in the next message", USE);
const ASKED: Rule = ("a result answers a call of the message before", USE);
const DEFINED: Rule = ("calls in the history need toolConfig", USE);
const WORD: Rule = ("ids and names are 1 to 64 letters, digits, _ and -", TOOL);
const OBJECT: Rule = ("the input of a call is an object", TOOL);
const ONCE: Rule = ("the id of a call comes once", TOOL);
const IMAGE: Rule = ("an image is png, jpeg, gif or webp, of the user", IMAGES);
const NAMED: Rule = ("the name of a document is letters, digits, single spaces, -, () and []", DOCUMENT);
const BESIDE: Rule = ("a document stands beside a text", DOCUMENT);
const SIGNED: Rule = ("reasoning carries its signature", THINKING);
const MARKERS: Rule = ("there are at most four cache points", CACHING);

pub(super) fn check(request: &Value, rules: &mut Rules) {
    let messages = items(&request["messages"], "/messages");
    rules.check(messages.first().is_some_and(|(_, first)| text(first, "role") == "user"), BEGINS, &"/messages/0");
    let (mut open, mut seen): (Vec<(String, &str)>, BTreeSet<&str>) = Default::default();
    let (mut points, mut has_calls, mut before) = (0_usize, false, "assistant");
    for (place, message) in &messages {
        let role = text(message, "role");
        rules.check(["user", "assistant"].contains(&role) && role != before, ROLE, place);
        before = role;
        let blocks = items(&message["content"], &format!("{place}/content"));
        rules.check(!blocks.is_empty(), FILLED, place);
        let (mut results, mut calls) = (BTreeSet::new(), Vec::new());
        for (place, block) in &blocks {
            rules.check(block.as_object().is_some_and(|fields| fields.len() == 1), ONE, place);
            judge_block(place, role, block, rules);
            points = points.saturating_add(usize::from(block.get("cachePoint").is_some()));
            if let Some(result) = block.get("toolResult") {
                let id = text(result, "toolUseId");
                rules.check(open.iter().any(|(_, call)| *call == id) && results.insert(id), ASKED, place);
                let parts = items(&result["content"], place);
                rules.check(!parts.is_empty(), FILLED, place);
                parts.iter().for_each(|(place, part)| judge_block(place, role, part, rules));
            }
            if let Some(call) = block.get("toolUse") {
                let id = text(call, "toolUseId");
                rules.check(is_word(id, 64) && is_word(text(call, "name"), 64), WORD, place);
                rules.check(call["input"].is_object(), OBJECT, place);
                rules.check(seen.insert(id), ONCE, place);
                calls.push((place.clone(), id));
                has_calls = true;
            }
        }
        let has = |kind: &str| blocks.iter().any(|(_, block)| block.get(kind).is_some());
        rules.check(!has("document") || has("text"), BESIDE, place);
        for (place, id) in open.drain(..) {
            rules.check(results.contains(id), ANSWERED, &place);
        }
        open = calls;
    }
    open.drain(..).for_each(|(place, _)| rules.check(false, ANSWERED, &place));
    let tools = items(request.pointer("/toolConfig/tools").unwrap_or(&Value::Null), "/toolConfig/tools");
    rules.check(!has_calls || !tools.is_empty(), DEFINED, &"/toolConfig");
    let beside = tools.into_iter().chain(items(&request["system"], "/system"));
    points = points.saturating_add(beside.filter(|(_, block)| block.get("cachePoint").is_some()).count());
    rules.check(points <= 4, MARKERS, &"");
}

fn judge_block(place: &str, role: &str, block: &Value, rules: &mut Rules) {
    if let Some(said) = block.get("text") {
        rules.check(said.as_str().is_some_and(|said| !is_blank(said)), BLANK, &place);
    }
    if let Some(image) = block.get("image") {
        let known = ["png", "jpeg", "gif", "webp"].contains(&text(image, "format"));
        rules.check(known && role == "user", IMAGE, &place);
    }
    if let Some(document) = block.get("document") {
        let name = text(document, "name");
        let allowed = |c: char| c.is_alphanumeric() || " -()[]".contains(c);
        let good = !name.is_empty() && name.chars().all(allowed) && !name.contains("  ");
        rules.check(good, NAMED, &place);
    }
    if let Some(thought) = block.pointer("/reasoningContent/reasoningText") {
        rules.check(!text(thought, "signature").is_empty(), SIGNED, &place);
    }
}
