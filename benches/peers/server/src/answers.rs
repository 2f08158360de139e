//! The answers: what a model of OpenAI or of Anthropic sends, in the shapes of their current APIs.

use std::sync::{Arc, Mutex};

use memchr::memmem;

/// The head of a streamed answer.
pub const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
    cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";

/// Pieces of text as models send them: short, some with escapes.
const WORDS: [&str; 16] = [
    "The",
    " quick",
    " brown",
    " fox",
    " jumps",
    " over",
    " the",
    " lazy",
    " dog",
    r". \n",
    r"\n- item",
    r#" \"quoted\""#,
    " na\u{ef}ve",
    " tokens",
    " stream",
    ",",
];
/// Pieces of a tool's argument.
const CODE: [&str; 4] = ["fn ma", " word", "12345", " = x;"];

/// An answer in the pieces in which it is written.
type Pieces = Arc<Vec<Vec<u8>>>;

/// The answer of this kind and size, made once.
pub fn cached(mode: &str, events: usize, make: fn(usize) -> String) -> Pieces {
    static MADE: Mutex<Vec<(String, usize, Pieces)>> = Mutex::new(Vec::new());
    let mut made = MADE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some((.., pieces)) = made.iter().find(|(of, size, _)| of == mode && *size == events) {
        return pieces.clone();
    }
    let mut pieces: Vec<_> = make(events).as_bytes().chunks(16 * 1024).map(chunk).collect();
    pieces.push(b"0\r\n\r\n".to_vec());
    let pieces = Arc::new(pieces);
    made.push((mode.to_owned(), events, pieces.clone()));
    pieces
}

/// A chunk of HTTP/1.1.
fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(bytes);
    chunk.extend_from_slice(b"\r\n");
    chunk
}

/// A chunk of Chat Completions with the fields that OpenAI sends in each; 301 bytes with a short text.
fn openai(delta: &str, finish: &str) -> String {
    format!(
        "data: {{\"id\":\"chatcmpl-CabcdefGHIJKLmnopqrSTUVwxyz01\",\"object\":\"chat.completion.chunk\",\
         \"created\":1760000000,\"model\":\"gpt-4o-2024-08-06\",\"service_tier\":\"default\",\
         \"system_fingerprint\":\"fp_cbf1785567\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"logprobs\":null,\
         \"finish_reason\":{finish}}}],\"usage\":null}}\n\n"
    )
}

/// The chunk with the usage, and the end.
const OPENAI_END: &str = "data: {\"id\":\"chatcmpl-CabcdefGHIJKLmnopqrSTUVwxyz01\",\
    \"object\":\"chat.completion.chunk\",\"created\":1760000000,\"model\":\"gpt-4o-2024-08-06\",\
    \"service_tier\":\"default\",\"system_fingerprint\":\"fp_cbf1785567\",\"choices\":[],\"usage\":{\
    \"prompt_tokens\":19,\"completion_tokens\":10,\"total_tokens\":29,\
    \"prompt_tokens_details\":{\"cached_tokens\":0,\"audio_tokens\":0},\
    \"completion_tokens_details\":{\"reasoning_tokens\":0,\"audio_tokens\":0,\"accepted_prediction_tokens\":0,\
    \"rejected_prediction_tokens\":0}}}\n\ndata: [DONE]\n\n";

/// So many chunks of text.
pub fn openai_stream(events: usize) -> String {
    let mut stream = openai(r#"{"role":"assistant","content":"","refusal":null}"#, "null");
    for word in WORDS.iter().cycle().take(events) {
        stream += &openai(&format!("{{\"content\":\"{word}\"}}"), "null");
    }
    stream + &openai("{}", "\"stop\"") + OPENAI_END
}

/// An event of the Messages API.
fn anthropic(name: &str, rest: &str) -> String {
    format!("event: {name}\ndata: {{\"type\":\"{name}\"{rest}}}\n\n")
}

fn anthropic_start() -> String {
    anthropic(
        "message_start",
        ",\"message\":{\"id\":\"msg_01XFDUDYJgAACzvnptvVoYEL\",\"type\":\"message\",\"role\":\"assistant\",\
         \"content\":[],\"model\":\"claude-sonnet-4-20250514\",\"stop_reason\":null,\"stop_sequence\":null,\
         \"usage\":{\"input_tokens\":25,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\
         \"output_tokens\":1}}",
    )
}

fn block_start(index: u32, block: &str) -> String {
    anthropic("content_block_start", &format!(",\"index\":{index},\"content_block\":{block}"))
}

fn delta(index: u32, kind: &str, field: &str, text: &str) -> String {
    let delta = format!("{{\"type\":\"{kind}\",\"{field}\":\"{text}\"}}");
    anthropic("content_block_delta", &format!(",\"index\":{index},\"delta\":{delta}"))
}

fn anthropic_end(reason: &str) -> String {
    let delta = format!(
        ",\"delta\":{{\"stop_reason\":\"{reason}\",\"stop_sequence\":null}},\"usage\":{{\"output_tokens\":10}}"
    );
    anthropic("message_delta", &delta) + &anthropic("message_stop", "")
}

/// Half of so many events are text, half the argument of one tool call.
pub fn anthropic_stream(events: usize) -> String {
    let text = events / 2;
    let mut stream = anthropic_start() + &block_start(0, r#"{"type":"text","text":""}"#);
    stream += &anthropic("ping", "");
    for word in WORDS.iter().cycle().take(text) {
        stream += &delta(0, "text_delta", "text", word);
    }
    stream += &anthropic("content_block_stop", ",\"index\":0");
    stream +=
        &block_start(1, r#"{"type":"tool_use","id":"toolu_01A09q90qw90lq917835lq9","name":"write_file","input":{}}"#);
    let argument = |text: &str| delta(1, "input_json_delta", "partial_json", text);
    stream += &argument("");
    stream += &argument(r#"{\"path\": \"a.txt\", \"content\": \""#);
    for code in CODE.iter().cycle().take(events - text) {
        stream += &argument(code);
    }
    stream += &argument(r#"\"}"#);
    stream + &anthropic("content_block_stop", ",\"index\":1") + &anthropic_end("tool_use")
}

/// The whole response: a call of `add` until the request holds so many results, then a text.
pub fn turn(is_anthropic: bool, request: &[u8], calls: usize) -> Vec<u8> {
    let marks: &[&[u8]] =
        if is_anthropic { &[b"\"tool_result\""] } else { &[b"\"role\":\"tool\"", b"\"role\": \"tool\""] };
    let results = marks.iter().map(|mark| memmem::find_iter(request, mark).count()).sum();
    let call = Some(results).filter(|results| *results < calls);
    let streams = [&b"\"stream\":true"[..], b"\"stream\": true"];
    if !streams.iter().any(|mark| memmem::find(request, mark).is_some()) {
        return whole(call);
    }
    let events = if is_anthropic { anthropic_turn(call) } else { openai_turn(call) };
    [HEAD, &chunk(events.as_bytes()), b"0\r\n\r\n"].concat()
}

fn openai_turn(call: Option<usize>) -> String {
    let Some(number) = call else {
        return openai(r#"{"role":"assistant","content":""}"#, "null")
            + &openai(r#"{"content":"done, all finished"}"#, "null")
            + &openai("{}", "\"stop\"")
            + OPENAI_END;
    };
    let start = format!(
        "{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"index\":0,\"id\":\"call_{number}\",\
         \"type\":\"function\",\"function\":{{\"name\":\"add\",\"arguments\":\"\"}}}}]}}"
    );
    let arguments = format!(
        "{{\"tool_calls\":[{{\"index\":0,\"function\":{{\"arguments\":\"{{\\\"a\\\":{number},\\\"b\\\":2}}\"}}}}]}}"
    );
    openai(&start, "null") + &openai(&arguments, "null") + &openai("{}", "\"tool_calls\"") + OPENAI_END
}

fn anthropic_turn(call: Option<usize>) -> String {
    let (block, reason) = match call {
        Some(number) => {
            let arguments = format!("{{\\\"a\\\":{number},\\\"b\\\":2}}");
            let start = format!("{{\"type\":\"tool_use\",\"id\":\"toolu_{number}\",\"name\":\"add\",\"input\":{{}}}}");
            (block_start(0, &start) + &delta(0, "input_json_delta", "partial_json", &arguments), "tool_use")
        }
        None => {
            let start = block_start(0, r#"{"type":"text","text":""}"#);
            (start + &delta(0, "text_delta", "text", "done, all finished"), "end_turn")
        }
    };
    anthropic_start() + &block + &anthropic("content_block_stop", ",\"index\":0") + &anthropic_end(reason)
}

/// The answer of Chat Completions to a request that does not ask for a stream.
fn whole(call: Option<usize>) -> Vec<u8> {
    let (message, reason) = match call {
        Some(number) => (
            format!(
                "{{\"role\":\"assistant\",\"content\":null,\"refusal\":null,\"tool_calls\":[{{\"id\":\"call_{number}\",\
                 \"type\":\"function\",\"function\":{{\"name\":\"add\",\
                 \"arguments\":\"{{\\\"a\\\":{number},\\\"b\\\":2}}\"}}}}]}}"
            ),
            "tool_calls",
        ),
        None => (r#"{"role":"assistant","content":"done, all finished","refusal":null}"#.to_owned(), "stop"),
    };
    let body = format!(
        "{{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"created\":1760000000,\
         \"model\":\"gpt-4o-2024-08-06\",\"choices\":[{{\"index\":0,\"message\":{message},\"logprobs\":null,\
         \"finish_reason\":\"{reason}\"}}],\"usage\":{{\"prompt_tokens\":19,\"completion_tokens\":10,\
         \"total_tokens\":29}},\"system_fingerprint\":\"fp_1\"}}"
    );
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length:";
    format!("{head} {}\r\n\r\n{body}", body.len()).into_bytes()
}
