//! Streams of OpenAI: an event that is read by its likeness to an earlier one is what the parser makes of it.
#![no_main]

use agent_core::{Assembler, AssistantMessage, Decoder, Events, IdSource, Wire};
use agent_openai::{ChatWire, Profile, ResponsesWire};
use bytes::Bytes;
use http::HeaderMap;
use libfuzzer_sys::fuzz_target;

/// Chunks that are told by one letter, with a place for what a line says: real shapes, which a fuzzer does not find.
const CHAT: [&str; 8] = [
    r#"{"id":"c","choices":[{"index":0,"delta":{"content":@},"finish_reason":null}],"usage":null}"#,
    r#"{"id":"c","choices":[{"index":0,"delta":{"content":@},"finish_reason":null}],"obfuscation":"aB\"c"}"#,
    r#"{"choices":[{"delta":{"reasoning_content":@}}]}"#,
    r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":@}}]}}]}"#,
    r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":@}}]}}]}"#,
    r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":@}}]}}]}"#,
    r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":@}}]}}]}"#,
    r#"{"choices":[{"delta":{"content":@,"content":"twice"}}]}"#,
];
const RESPONSES: [&str; 4] = [
    r#"{"type":"response.output_text.delta","sequence_number":7,"item_id":"m","output_index":0,"content_index":0,"delta":@}"#,
    r#"{"type":"response.function_call_arguments.delta","item_id":"f","output_index":1,"delta":@,"obfuscation":"x"}"#,
    r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"f","call_id":"c","name":"f","arguments":@}}"#,
    r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m","content":[],"x":@}}"#,
];

/// What lines say: a chunk as it stands, or one of the known shapes with the rest of the line as its text.
fn events(input: &str, shapes: &[&str]) -> Vec<String> {
    let line = |line: &str| {
        let (first, rest) = line.split_at_checked(1)?;
        let shape = shapes.get(usize::try_from(first.parse::<u8>().ok()?).ok()?)?;
        Some(shape.replace('@', &serde_json::to_string(rest).ok()?))
    };
    input.lines().take(50).map(|text| line(text).unwrap_or_else(|| text.to_owned())).collect()
}

/// A stream of events; `apart` by white space that says nothing, so that no two have the same shape.
fn stream(events: &[String], apart: bool) -> Bytes {
    let mut stream = String::new();
    for (i, event) in events.iter().enumerate() {
        let inside = event.strip_prefix('{').filter(|_| apart);
        match inside {
            Some(inside) => stream.push_str(&format!("data: {{{}{inside}\n\n", " ".repeat(i + 1))),
            None => stream.push_str(&format!("data: {event}\n\n")),
        }
    }
    stream.push_str("data: [DONE]\n\n");
    stream.into()
}

/// The message, or what went wrong in a word.
fn read<W: Wire>(wire: &W, bytes: Bytes) -> Result<AssistantMessage, String> {
    let mut decoder = wire.decoder(&HeaderMap::new());
    let mut assembler = Assembler::new(IdSource::seeded(1).message(0));
    let mut events = Events::new();
    let fed = decoder.feed(bytes, &mut events).and_then(|()| decoder.finish(&mut events));
    while let Some(event) = events.pop() {
        assembler.push(&event).map_err(|error| error.to_string())?;
    }
    fed.map_err(|error| format!("{:?}", error.kind()))?;
    Ok(assembler.finish())
}

fuzz_target!(|input: &str| {
    let chat = ChatWire::of(Profile::compatible());
    let all = events(input, &CHAT);
    assert_eq!(read(&chat, stream(&all, false)), read(&chat, stream(&all, true)));
    let responses = ResponsesWire::openai();
    let all = events(input, &RESPONSES);
    assert_eq!(read(&responses, stream(&all, false)), read(&responses, stream(&all, true)));
});
