//! The prompt cache: prefixes, markers, and what is encoded again.

use std::sync::Arc;

use agent_anthropic::AnthropicWire;
use agent_core::{
    Arguments, CacheBreakCause, CacheLifetime, CallOptions, ContentBlock, Credential, Effort, HttpProvider, ImageBlock,
    MediaSource, Message, ModelCall, OpaqueBlock, PieceCache, Prepared, Provider, RawJson, Reasoning, Segments,
    StopReason, ThinkingBlock, ToolCall, ToolChoice, ToolResultMessage, ToolSet, ToolSpec, Wire,
};
use agent_testkit::{DenySend, PausedTimer, assert_cache_stable};
use serde_json::Value;

use crate::given::{Talk, body};

fn tools() -> ToolSet {
    let schema = RawJson::parse(r#"{"type":"object"}"#).unwrap();
    ToolSet::new(["read", "write"].map(|name| ToolSpec::new(name, "A tool.", schema.clone()).unwrap()).into()).unwrap()
}

fn options() -> CallOptions {
    CallOptions::new("claude-sonnet-5").system("Be brief.").reasoning(Reasoning::Effort(Effort::High))
}

/// A turn with an image, signed and redacted thinking, an opaque block, two calls and their results.
fn turn(talk: &mut Talk, n: usize) {
    let image = ImageBlock::new(MediaSource::Base64(format!("/9j/{}", "A".repeat(400))));
    talk.user(vec![format!("Question {n}").as_str().into(), image.into()]);
    let origin = talk.origin();
    let call = |i: usize| {
        ContentBlock::from(
            ToolCall::new("read", Arguments::from_text(format!("{{\"n\":{i}}}"))).vendor_id(format!("toolu_{n}_{i}")),
        )
    };
    let asked = talk.assistant(
        vec![ThinkingBlock::new("Hm").signature(format!("sig{n}")).origin(origin.clone()).into(), call(0), call(1)],
        StopReason::ToolUse,
    );
    let calls: Vec<_> = asked.tool_calls().map(|(id, _)| id).collect();
    for id in calls {
        let result = ToolResultMessage::new(talk.ids.message(0), id, "read", vec![format!("Line {n}").as_str().into()]);
        talk.transcript.append(Message::from(result)).unwrap();
    }
    let data = RawJson::parse(format!("{{\"type\":\"new_block\",\"n\":{n}}}")).unwrap();
    let redacted = ThinkingBlock::new("").encrypted("EqQB").origin(origin.clone());
    talk.assistant(
        vec![
            redacted.into(),
            ContentBlock::Opaque(OpaqueBlock::new(origin, data)),
            format!("Answer {n}").as_str().into(),
        ],
        StopReason::EndTurn,
    );
}

/// The body up to the end of the last message, without markers.
fn prefix(segments: &Segments) -> Vec<u8> {
    let mut all = Vec::new();
    for (_, piece) in segments.prelude() {
        [piece.lead().as_bytes(), piece.body(), piece.close().as_bytes()]
            .iter()
            .for_each(|part| all.extend_from_slice(part));
    }
    for piece in segments.messages().iter() {
        [piece.lead().as_bytes(), piece.body(), piece.close().as_bytes()]
            .iter()
            .for_each(|part| all.extend_from_slice(part));
    }
    all
}

fn prepare(provider: &dyn Provider, call: ModelCall) -> Prepared {
    let future = provider.prepare(call);
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future).unwrap()
}

#[test]
fn fifty_turns_only_grow_and_reuse_every_piece() {
    let deny = DenySend::new();
    let key = Arc::new(Credential::ApiKey("k".into()));
    let provider = HttpProvider::new(AnthropicWire::new(), deny.client(), key, Arc::new(PausedTimer::at(0)));
    let (mut talk, cache) = (Talk::new(), PieceCache::new());
    let mut last: Option<Prepared> = None;
    for n in 0..50 {
        turn(&mut talk, n);
        talk.says("Next");
        let mut call = talk.call_with(options()).tools(tools()).cache(cache.clone());
        call.previous = last.as_ref().and_then(|last| last.chain().copied());
        let now = prepare(&provider, call);
        if let Some(last) = &last {
            assert_cache_stable!(*last, now);
            let (before, after) = (last.segments().unwrap(), now.segments().unwrap());
            assert!(prefix(after).starts_with(&prefix(before)), "turn {n}");
            // The same memory, not the same bytes: nothing old was encoded again.
            for (old, new) in before.messages().iter().zip(after.messages().iter()) {
                assert_eq!(old.body().as_ptr(), new.body().as_ptr(), "turn {n}");
            }
            assert_eq!(after.messages().len() - before.messages().len(), 11);
        }
        let json: Value = serde_json::from_slice(&now.segments().unwrap().to_bytes()).unwrap();
        assert_eq!(markers(&json).len(), if n == 0 { 3 } else { 4 }, "turn {n}");
        last = Some(now);
    }
    assert_eq!(deny.count(), 0);
}

/// Where cache markers stand: the section or message, and the type of the block; messages count blocks from 0.
fn markers(json: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for section in ["tools", "system"] {
        for block in json[section].as_array().into_iter().flatten().filter(|b| b.get("cache_control").is_some()) {
            found.push((section.to_owned(), block["cache_control"].clone()));
        }
    }
    let blocks = json["messages"].as_array().unwrap().iter().flat_map(|m| m["content"].as_array().unwrap());
    for (i, block) in blocks.enumerate().filter(|(_, b)| b.get("cache_control").is_some()) {
        let kind = block["type"].as_str().unwrap();
        assert!(matches!(kind, "text" | "image" | "document" | "tool_use" | "tool_result"), "a marker on {kind}");
        found.push((i.to_string(), block["cache_control"].clone()));
    }
    found
}

fn places(wire: &AnthropicWire, call: &ModelCall) -> Vec<String> {
    markers(&body(&wire.encode(call).unwrap())).into_iter().map(|(place, _)| place).collect()
}

#[test]
fn the_second_marker_stands_where_the_last_request_ended() {
    let wire = AnthropicWire::new();
    let mut talk = Talk::new();
    talk.says("go");
    let call = |talk: &Talk| talk.call_with(options()).tools(tools());
    let first = wire.encode(&call(&talk)).unwrap();
    assert_eq!(places(&wire, &call(&talk)), ["tools", "system", "0"]);
    // A turn of 60 blocks: 30 calls and their results.
    let calls = (0..30).map(|i| ToolCall::new("read", Arguments::empty()).vendor_id(format!("toolu_{i}")).into());
    let asked = talk.assistant(calls.collect(), StopReason::ToolUse);
    let ids: Vec<_> = asked.tool_calls().map(|(id, _)| id).collect();
    for id in ids {
        talk.transcript
            .append(Message::from(ToolResultMessage::new(talk.ids.message(0), id, "read", vec!["x".into()])))
            .unwrap();
    }
    let second = call(&talk).previous(*first.segments.chain());
    assert_eq!(places(&wire, &second), ["tools", "system", "0", "60"], "what was cached is found again");
    // Nobody knows where the last request ended: at most 20 blocks apart.
    assert_eq!(places(&wire, &call(&talk)), ["tools", "system", "40", "60"]);
    // Slots that nothing else needs go to steps of 20 blocks.
    let bare = talk.call_with(CallOptions::new("claude-sonnet-5"));
    let first = wire.encode(&{
        let mut talk = Talk::new();
        talk.says("go");
        talk.call_with(CallOptions::new("claude-sonnet-5"))
    });
    let bare_then = bare.clone().previous(*first.unwrap().segments.chain());
    assert_eq!(places(&wire, &bare_then), ["0", "20", "40", "60"]);
    // A last request of another conversation says nothing.
    let other = call(&talk).previous(agent_core::Chain::default());
    assert_eq!(places(&wire, &other), ["tools", "system", "40", "60"]);
}

#[test]
fn no_marker_stands_on_thinking_or_on_what_is_kept_as_it_is() {
    let mut talk = Talk::new();
    talk.says("Hi");
    let block =
        OpaqueBlock::new(talk.origin(), RawJson::parse(r#"{"type":"server_tool_use","id":"srvtoolu_1"}"#).unwrap());
    let signed = ThinkingBlock::new("Hm").signature("s").origin(talk.origin());
    talk.assistant(vec!["Look".into(), signed.into(), ContentBlock::Opaque(block)], StopReason::Paused);
    assert_eq!(places(&AnthropicWire::new(), &talk.call()), ["1"]);
}

#[test]
fn lifetimes_and_the_callers_own_markers() {
    let mut talk = Talk::new();
    turn(&mut talk, 0);
    talk.says("Next");
    let ttl = |wire: &AnthropicWire, options: CallOptions| {
        let json = body(&wire.encode(&talk.call_with(options).tools(tools())).unwrap());
        markers(&json)
            .into_iter()
            .map(|(_, m)| m.get("ttl").map_or("5m", |t| if t == "1h" { "1h" } else { "?" }))
            .collect::<Vec<_>>()
    };
    let wire = AnthropicWire::new();
    assert_eq!(ttl(&wire, options()), ["5m", "5m", "5m"]);
    assert_eq!(ttl(&wire, options().cache(CacheLifetime::Hour)), ["1h", "1h", "1h"]);
    assert_eq!(ttl(&wire, options().cache(CacheLifetime::Off)), [""; 0]);
    let long = AnthropicWire::new().prefix_cache(CacheLifetime::Hour);
    assert_eq!(ttl(&long, options()), ["1h", "1h", "5m"], "longer lifetimes come first");
    let short = AnthropicWire::new().prefix_cache(CacheLifetime::FiveMinutes);
    assert_eq!(ttl(&short, options().cache(CacheLifetime::Hour)), ["1h", "1h", "1h"]);
    let mut own = options();
    own.extras.insert("anthropic".into(), RawJson::parse(r#"{"cache_control":{"type":"ephemeral"}}"#).unwrap());
    assert!(ttl(&wire, own).len() <= 3, "four with the caller's");
}

#[test]
fn markers_stand_outside_the_chain() {
    let mut talk = Talk::new();
    turn(&mut talk, 0);
    let chain = |options| *AnthropicWire::new().encode(&talk.call_with(options)).unwrap().segments.chain();
    assert_eq!(chain(options()), chain(options().cache(CacheLifetime::Off)));
    assert_eq!(chain(options()), chain(options().max_output(7)), "a limit breaks nothing");
}

#[test]
fn each_option_breaks_what_the_vendor_says_it_breaks() {
    let mut talk = Talk::new();
    turn(&mut talk, 0);
    let encode =
        |options: CallOptions| AnthropicWire::new().encode(&talk.call_with(options).tools(tools())).unwrap().segments;
    let extra = |text: &str| {
        let mut options = options();
        options.extras.insert("anthropic".into(), RawJson::parse(text).unwrap());
        options
    };
    let mut parallel = options();
    parallel.parallel_calls = Some(false);
    let shape = agent_core::OutputSchema::new("a", RawJson::parse(r#"{"type":"object"}"#).unwrap());
    let before = encode(options());
    let cases = [
        (extra(r#"{"metadata":{"user_id":"x"},"service_tier":"auto"}"#), None),
        (parallel, Some(CacheBreakCause::MessageOptions)),
        (options().tool_choice(ToolChoice::Never), Some(CacheBreakCause::MessageOptions)),
        (options().reasoning(Reasoning::Off), Some(CacheBreakCause::MessageOptions)),
        (options().output_schema(shape), Some(CacheBreakCause::Options)),
        (extra(r#"{"speed":"fast"}"#), Some(CacheBreakCause::Options)),
        (extra(r#"{"tools":[{"type":"web_search_20260318","name":"web_search"}]}"#), Some(CacheBreakCause::Tools)),
        (extra(r#"{"betas":["b"]}"#), Some(CacheBreakCause::Identity)),
        (options().system("More."), Some(CacheBreakCause::System)),
    ];
    for (changed, cause) in cases {
        let found = encode(changed.clone()).diverges_from(before.chain(), Some(&before)).map(|at| at.cause);
        assert_eq!(found, cause, "{changed:?}");
    }
}
