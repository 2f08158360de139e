//! From the bytes of a stream to the text in it, in two ways: serde with the wanted fields, or a search for them.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memmem};
use peers_meter::Api;
use serde::Deserialize;

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    choices: Vec<Choice<'a>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow, default)]
    delta: Delta<'a>,
}

#[derive(Deserialize, Default)]
struct Delta<'a> {
    #[serde(borrow, default)]
    content: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<Call<'a>>>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    function: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    arguments: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, default)]
    delta: Option<EventDelta<'a>>,
}

#[derive(Deserialize)]
struct EventDelta<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    partial_json: Option<Cow<'a, str>>,
}

/// What was read of an answer.
pub struct Sink {
    api: Api,
    scan: bool,
    /// The line that the last read cut.
    cut: Vec<u8>,
    pub text: String,
    pub id: String,
    pub name: String,
    pub arguments: String,
}

impl Sink {
    pub fn new(api: Api, scan: bool) -> Self {
        let empty = String::new;
        Self { api, scan, cut: Vec::new(), text: empty(), id: empty(), name: empty(), arguments: empty() }
    }

    /// Takes the next bytes; only a cut line is copied.
    pub fn read(&mut self, mut bytes: &[u8]) {
        if !self.cut.is_empty() {
            let Some(end) = memchr(b'\n', bytes) else { return self.cut.extend_from_slice(bytes) };
            let mut line = std::mem::take(&mut self.cut);
            line.extend_from_slice(&bytes[..end]);
            self.line(&line);
            line.clear();
            (self.cut, bytes) = (line, &bytes[end + 1..]);
        }
        while let Some(end) = memchr(b'\n', bytes) {
            self.line(&bytes[..end]);
            bytes = &bytes[end + 1..];
        }
        self.cut.extend_from_slice(bytes);
    }

    fn line(&mut self, line: &[u8]) {
        let Some(data) = line.strip_prefix(b"data: ").filter(|data| data.first() == Some(&b'{')) else { return };
        match (self.scan, self.api) {
            (true, _) => self.search(data),
            (false, Api::OpenAi) => self.openai(data),
            (false, Api::Anthropic) => self.anthropic(data),
        }
    }

    fn openai(&mut self, data: &[u8]) {
        let Ok(chunk) = serde_json::from_slice::<Chunk<'_>>(data) else { return };
        let Some(choice) = chunk.choices.first() else { return };
        push(&mut self.text, choice.delta.content.as_deref());
        for call in choice.delta.tool_calls.iter().flatten() {
            push(&mut self.id, call.id.as_deref());
            if let Some(function) = &call.function {
                push(&mut self.name, function.name.as_deref());
                push(&mut self.arguments, function.arguments.as_deref());
            }
        }
    }

    fn anthropic(&mut self, data: &[u8]) {
        let Ok(Event { delta: Some(delta) }) = serde_json::from_slice(data) else { return };
        push(&mut self.text, delta.text.as_deref());
        push(&mut self.arguments, delta.partial_json.as_deref());
    }

    /// Right only for what the server here sends: a bound, not a parser.
    fn search(&mut self, data: &[u8]) {
        let key: &[u8] = if self.api == Api::OpenAi { b"\"content\":\"" } else { b"\"delta\":{\"type\":\"" };
        let Some(at) = memmem::find(data, key) else { return };
        let mut value = &data[at + key.len()..];
        if self.api == Api::Anthropic {
            let Some(colon) = memchr(b':', value).filter(|colon| value.get(colon + 1) == Some(&b'"')) else { return };
            value = &value[colon + 2..];
        }
        let mut end = 0;
        while let Some(at) = memchr2(b'"', b'\\', value.get(end..).unwrap_or_default()) {
            end += at;
            if value[end] == b'"' {
                break;
            }
            end += 2;
        }
        let plain = memchr(b'\\', &value[..end]).is_none();
        match std::str::from_utf8(&value[..end]) {
            Ok(text) if plain => self.text.push_str(text),
            Ok(text) => push(&mut self.text, serde_json::from_str::<String>(&format!("\"{text}\"")).ok().as_deref()),
            Err(_) => {}
        }
    }
}

fn push(to: &mut String, text: Option<&str>) {
    to.push_str(text.unwrap_or_default());
}
