//! Gemini and Vertex AI.

use serde_json::Value;

use super::{Rule, Rules, items};

const FORMAT: &str = "https://ai.google.dev/api/caching#Content";
const TURNS: &str = "https://ai.google.dev/gemini-api/docs/function-calling";
const SIGNATURES: &str = "https://ai.google.dev/gemini-api/docs/thought-signatures";
const MULTIMODAL: &str = "https://ai.google.dev/gemini-api/docs/function-calling#multimodal";

const BEGINS: Rule = ("the user begins", TURNS);
const ROLE: Rule = ("a role is user or model", FORMAT);
const FILLED: Rule = ("a content has parts", FORMAT);
const ONE: Rule = ("a part has one kind of data", FORMAT);
const CALLER: Rule = ("models call", TURNS);
const ANSWERER: Rule = ("users answer calls", TURNS);
const ARGUMENTS: Rule = ("arguments are an object", FORMAT);
const RESPONSE: Rule = ("a response is an object", FORMAT);
const MEDIA: Rule = ("no media in responses", MULTIMODAL);
const ANSWERED: Rule = ("each call has its response in the next content", TURNS);
const SIGNED: Rule = ("the first call of a step is signed", SIGNATURES);

/// What says something about a part, and is no data.
const BESIDE: [&str; 5] = ["thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"];

pub(super) fn check(request: &Value, before_3: bool, rules: &mut Rules) {
    let contents = items(&request["contents"], "/contents");
    rules.check(contents.first().is_some_and(|(_, first)| first["role"] == "user"), BEGINS, &"/contents/0");
    let mut asked: Vec<(&Value, &Value)> = Vec::new();
    let mut last = String::from("/contents");
    for (place, content) in &contents {
        rules.check(content["role"] == "user" || content["role"] == "model", ROLE, place);
        let parts = items(&content["parts"], &format!("{place}/parts"));
        rules.check(!parts.is_empty(), FILLED, place);
        let (mut calls, mut responses) = (Vec::new(), Vec::new());
        for (place, part) in &parts {
            let data = part.as_object().into_iter().flatten().filter(|(name, _)| !BESIDE.contains(&name.as_str()));
            rules.check(data.count() == 1, ONE, place);
            if let Some(call) = part.get("functionCall") {
                rules.check(content["role"] == "model", CALLER, place);
                rules.check(call["args"].is_object(), ARGUMENTS, place);
                let first = calls.is_empty();
                rules.check(before_3 || !first || part["thoughtSignature"].is_string(), SIGNED, place);
                calls.push((&call["id"], &call["name"]));
            }
            if let Some(response) = part.get("functionResponse") {
                rules.check(content["role"] == "user", ANSWERER, place);
                rules.check(response["response"].is_object(), RESPONSE, place);
                rules.check(!before_3 || response.get("parts").is_none(), MEDIA, place);
                responses.push((&response["id"], &response["name"]));
            }
        }
        rules.check(asked == responses, ANSWERED, place);
        (asked, last) = (calls, place.clone());
    }
    rules.check(asked.is_empty(), ANSWERED, &last);
}
