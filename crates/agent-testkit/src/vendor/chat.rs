//! OpenAI Chat Completions.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Rule, Rules, is_word, items, text};

const API: &str = "https://platform.openai.com/docs/api-reference/chat/create";
const CALLS: &str = "https://platform.openai.com/docs/guides/function-calling";
const VISION: &str = "https://platform.openai.com/docs/guides/images-vision";

const THERE: Rule = ("there is a message", API);
const ROLE: Rule = ("a role is developer, system, user, assistant or tool", API);
const SAYS: Rule = ("an assistant message has content or calls", API);
const FILLED: Rule = ("content is a text or a list that is not empty", API);
const ANSWERED: Rule = ("each call has its tool message directly behind", CALLS);
const ASKED: Rule = ("a tool message answers an open call", CALLS);
const NAME: Rule = ("a name is 1 to 64 letters, digits, _ and -", CALLS);
const ID: Rule = ("the id of a call has 1 to 40 characters, and comes once in its message", API);
const ARGUMENTS: Rule = ("arguments are a text that holds an object", CALLS);
const IMAGES: Rule = ("images stand in user messages only", VISION);
const EMPTY: Rule = ("lists of calls and of tools are not empty", API);

pub(super) fn check(request: &Value, rules: &mut Rules) {
    let messages = items(&request["messages"], "/messages");
    rules.check(!messages.is_empty(), THERE, &"/messages");
    let mut open: Vec<(String, &str)> = Vec::new();
    for (place, message) in &messages {
        let role = text(message, "role");
        rules.check(["developer", "system", "user", "assistant", "tool"].contains(&role), ROLE, place);
        if role == "tool" {
            let id = text(message, "tool_call_id");
            let asked = open.iter().position(|(_, call)| *call == id);
            rules.check(asked.is_some(), ASKED, place);
            asked.map(|at| open.remove(at));
        } else {
            open.drain(..).for_each(|(place, _)| rules.check(false, ANSWERED, &place));
        }
        let calls = items(&message["tool_calls"], &format!("{place}/tool_calls"));
        let content = &message["content"];
        let filled = content.is_string() || content.as_array().is_some_and(|parts| !parts.is_empty());
        match role {
            "assistant" => {
                rules.check(filled || !calls.is_empty(), SAYS, place);
                rules.check(filled || content.is_null(), FILLED, place);
                rules.check(message.get("tool_calls").is_none() || !calls.is_empty(), EMPTY, place);
            }
            _ => rules.check(filled, FILLED, place),
        }
        for (place, part) in items(content, &format!("{place}/content")) {
            rules.check(text(part, "type") != "image_url" || role == "user", IMAGES, &place);
        }
        let mut ids = BTreeSet::new();
        for (place, call) in calls {
            let (id, function) = (text(call, "id"), &call["function"]);
            rules.check((1..=40).contains(&id.len()) && ids.insert(id), ID, &place);
            rules.check(is_word(text(function, "name"), 64), NAME, &place);
            let arguments = serde_json::from_str::<Value>(text(function, "arguments"));
            rules.check(arguments.is_ok_and(|value| value.is_object()), ARGUMENTS, &place);
            open.push((place, id));
        }
    }
    open.drain(..).for_each(|(place, _)| rules.check(false, ANSWERED, &place));
    rules.check(request["tools"].as_array().is_none_or(|tools| !tools.is_empty()), EMPTY, &"/tools");
    for (place, tool) in items(&request["tools"], "/tools") {
        rules.check(is_word(text(&tool["function"], "name"), 64), NAME, &place);
    }
}
