//! OpenAI Responses.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Rule, Rules, is_word, items, text};

const API: &str = "https://platform.openai.com/docs/api-reference/responses/create";
const CALLS: &str = "https://platform.openai.com/docs/guides/function-calling";
const REASONING: &str = "https://platform.openai.com/docs/guides/reasoning";

const ROLE: Rule = ("a role is developer, system, user or assistant", API);
const SIDE: Rule = ("users send input parts, assistants output parts", API);
const FILLED: Rule = ("content is a text or a list that is not empty", API);
const ANSWERED: Rule = ("each call has its output", CALLS);
const ASKED: Rule = ("an output answers an open call before it", CALLS);
const NAME: Rule = ("a name is 1 to 64 letters, digits, _ and -", CALLS);
const ID: Rule = ("a call id has 1 to 64 characters, and comes once", CALLS);
const ARGUMENTS: Rule = ("arguments are a text that holds an object", CALLS);
const PREFIX: Rule = ("the id of an item begins as its kind wants: rs_, msg_, fc_", API);
const FOLLOWED: Rule = ("a reasoning item is followed by what it led to", REASONING);
const SEALED: Rule = ("what is not stored carries its encrypted reasoning", REASONING);

pub(super) fn check(request: &Value, rules: &mut Rules) {
    let all = items(&request["input"], "/input");
    let stored = request["store"] != Value::Bool(false);
    let (mut open, mut seen): (Vec<(String, &str)>, BTreeSet<&str>) = Default::default();
    for (at, (place, item)) in all.iter().enumerate() {
        let begins =
            |prefix: &str| item.get("id").is_none_or(|id| id.as_str().is_some_and(|id| id.starts_with(prefix)));
        match text(item, "type") {
            "" | "message" => {
                judge_message(place, item, rules);
                rules.check(begins("msg_"), PREFIX, place);
            }
            "function_call" => {
                let id = text(item, "call_id");
                rules.check((1..=64).contains(&id.len()) && seen.insert(id), ID, place);
                rules.check(is_word(text(item, "name"), 64), NAME, place);
                let arguments = serde_json::from_str::<Value>(text(item, "arguments"));
                rules.check(arguments.is_ok_and(|value| value.is_object()), ARGUMENTS, place);
                rules.check(begins("fc_"), PREFIX, place);
                open.push((place.clone(), id));
            }
            "function_call_output" => {
                let asked = open.iter().position(|(_, call)| *call == text(item, "call_id"));
                rules.check(asked.is_some(), ASKED, place);
                asked.map(|at| open.remove(at));
                let output = &item["output"];
                rules.check(output.is_string() || output.as_array().is_some_and(|p| !p.is_empty()), FILLED, place);
            }
            "reasoning" => {
                rules.check(begins("rs_"), PREFIX, place);
                rules.check(stored || !text(item, "encrypted_content").is_empty(), SEALED, place);
                let next = all.iter().skip(at.saturating_add(1)).map(|(_, next)| *next);
                let next = next.into_iter().find(|next| text(next, "type") != "reasoning");
                let of_model = |next: &Value| match text(next, "type") {
                    "" | "message" => text(next, "role") == "assistant",
                    kind => !kind.ends_with("_output"),
                };
                rules.check(next.is_some_and(of_model), FOLLOWED, place);
            }
            _ => {}
        }
    }
    open.drain(..).for_each(|(place, _)| rules.check(false, ANSWERED, &place));
    for (place, tool) in items(&request["tools"], "/tools") {
        rules.check(text(tool, "type") != "function" || is_word(text(tool, "name"), 64), NAME, &place);
    }
}

fn judge_message(place: &str, message: &Value, rules: &mut Rules) {
    let role = text(message, "role");
    rules.check(["developer", "system", "user", "assistant"].contains(&role), ROLE, &place);
    let content = &message["content"];
    let filled = content.is_string() || content.as_array().is_some_and(|parts| !parts.is_empty());
    rules.check(filled, FILLED, &place);
    for (place, part) in items(content, &format!("{place}/content")) {
        let kind = text(part, "type");
        let output = matches!(kind, "output_text" | "refusal");
        rules.check(output == (role == "assistant"), SIDE, &place);
    }
}
