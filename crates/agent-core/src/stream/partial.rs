//! Tool arguments while they stream.

use memchr::memchr2;

/// The arguments of a tool call as far as they have arrived.
///
/// Every byte is looked at once, whatever the cuts, and reading a field costs nothing, so that a
/// user interface can follow a large argument (a file being written) at every delta.
///
/// ```
/// let mut arguments = agent_core::PartialArguments::new();
/// arguments.push(r#"{"path":"a.txt","text":"one\ntw"#);
/// let text = arguments.field("text").ok_or("no field")?;
/// assert_eq!((text.text(), text.is_complete()), (Some("one\ntw"), false));
/// arguments.push(r#"o"}"#);
/// assert_eq!(arguments.field("text").and_then(|f| f.text()), Some("one\ntwo"));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct PartialArguments {
    json: String,
    /// How far the text was looked at; at most an unfinished escape stands behind it.
    at: usize,
    state: State,
    fields: Vec<Field>,
}

#[derive(Debug, Clone, Default)]
struct Field {
    name: String,
    /// Where the value begins; 0 before it has.
    start: usize,
    end: Option<usize>,
    /// The decoded text so far, of a value that is a string.
    text: Option<String>,
}

/// Where in the outer object the scan stands.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum State {
    #[default]
    Start,
    BeforeName,
    Name,
    AfterName,
    BeforeValue,
    Text,
    /// In a value that is no string, at this depth, within a string or not.
    Other {
        depth: usize,
        in_string: bool,
        escaped: bool,
    },
    /// Past the end, or in text that is no object: there are no fields to follow.
    Done,
}

/// A field of the outer object, as far as it has arrived.
#[derive(Debug, Clone, Copy)]
pub struct PartialField<'a> {
    name: &'a str,
    raw: &'a str,
    text: Option<&'a str>,
    complete: bool,
}

impl<'a> PartialField<'a> {
    /// The name.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// The JSON text so far.
    pub fn raw(&self) -> &'a str {
        self.raw
    }

    /// The text so far with its escapes resolved, where the value is a string. It only grows.
    pub fn text(&self) -> Option<&'a str> {
        self.text
    }

    /// Whether the value is whole.
    pub fn is_complete(&self) -> bool {
        self.complete
    }
}

impl PartialArguments {
    /// No text yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds more JSON text, cut anywhere.
    pub fn push(&mut self, json: &str) {
        self.json.push_str(json);
        while self.state != State::Done && self.step() {}
    }

    /// All JSON text so far.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// All JSON text.
    pub fn into_text(self) -> String {
        self.json
    }

    /// The fields of the outer object that have begun, in order.
    pub fn fields(&self) -> impl Iterator<Item = PartialField<'_>> {
        self.fields.iter().filter(|field| field.start > 0).map(|field| PartialField {
            name: &field.name,
            raw: self.json.get(field.start..field.end.unwrap_or(self.json.len())).unwrap_or_default(),
            text: field.text.as_deref(),
            complete: field.end.is_some(),
        })
    }

    /// A field of the outer object, once its value has begun.
    pub fn field(&self, name: &str) -> Option<PartialField<'_>> {
        self.fields().find(|field| field.name == name)
    }

    /// Goes on by a byte, or by the rest of a string; `false` where more text is needed.
    fn step(&mut self) -> bool {
        if matches!(self.state, State::Name | State::Text) {
            return self.step_string();
        }
        let Some(&byte) = self.json.as_bytes().get(self.at) else { return false };
        self.state = match (self.state, byte) {
            (State::Other { depth, in_string, escaped }, _) => match self.step_other(byte, depth, in_string, escaped) {
                Some(state) => state,
                None => {
                    self.end_value();
                    self.state = State::BeforeName;
                    return true;
                }
            },
            (state, b' ' | b'\t' | b'\n' | b'\r') => state,
            (State::Start, b'{') | (State::BeforeName, b',') => State::BeforeName,
            (State::BeforeName, b'"') => {
                self.fields.push(Field::default());
                State::Name
            }
            (State::AfterName, b':') => State::BeforeValue,
            (State::BeforeValue, _) => {
                if let Some(field) = self.fields.last_mut() {
                    (field.start, field.text) = (self.at, (byte == b'"').then(String::new));
                }
                if byte != b'"' {
                    self.state = State::Other { depth: 0, in_string: false, escaped: false };
                    return true;
                }
                State::Text
            }
            _ => State::Done,
        };
        self.at += 1;
        true
    }

    /// A byte of a value that is no string; `None` where the value ended, with this byte or before it.
    fn step_other(&mut self, byte: u8, depth: usize, in_string: bool, escaped: bool) -> Option<State> {
        let (depth, in_string, escaped) = match (byte, in_string) {
            (_, true) if escaped => (depth, true, false),
            (b'"', _) => (depth, !in_string, false),
            (b'\\', true) => (depth, true, true),
            (b'{' | b'[', false) => (depth + 1, false, false),
            (b'}' | b']' | b',', false) if depth == 0 => return None,
            (b'}' | b']', false) if depth == 1 => {
                self.at += 1;
                return None;
            }
            (b'}' | b']', false) => (depth - 1, false, false),
            _ => (depth, in_string, false),
        };
        Some(State::Other { depth, in_string, escaped })
    }

    /// Up to the next escape, over it, or over the closing quote.
    fn step_string(&mut self) -> bool {
        let Some(rest) = self.json.get(self.at..).filter(|rest| !rest.is_empty()) else { return false };
        let Some(field) = self.fields.last_mut() else { return false };
        let text = if self.state == State::Name { &mut field.name } else { field.text.get_or_insert_default() };
        match memchr2(b'"', b'\\', rest.as_bytes()) {
            Some(0) if rest.starts_with('"') => {
                self.at += 1;
                if self.state == State::Name {
                    self.state = State::AfterName;
                } else {
                    self.end_value();
                    self.state = State::BeforeName;
                }
            }
            Some(0) => {
                let Some(escape) = escape(rest) else { return false };
                self.at += escape.len();
                match escape.as_bytes() {
                    [b'\\', b'n'] => text.push('\n'),
                    [b'\\', byte @ (b'"' | b'\\' | b'/')] => text.push(char::from(*byte)),
                    // The rarer ones; a lone half of a surrogate pair is no character.
                    _ => text.push_str(&serde_json::from_str::<String>(&format!("\"{escape}\"")).unwrap_or_default()),
                }
            }
            found => {
                let plain = found.and_then(|end| rest.get(..end)).unwrap_or(rest);
                text.push_str(plain);
                self.at += plain.len();
            }
        }
        true
    }

    fn end_value(&mut self) {
        if let Some(field) = self.fields.last_mut() {
            // White space behind a number or a word is not part of it.
            let value = self.json.get(field.start..self.at).unwrap_or_default().trim_end();
            field.end = Some(field.start + value.len());
        }
    }
}

/// The escape at the beginning of the text, a surrogate pair being one; `None` while it is cut.
fn escape(text: &str) -> Option<&str> {
    let whole = |len: usize| (text.len() >= len).then(|| text.get(..len).or_else(|| text.get(..1))).flatten();
    if text.len() >= 2 && !text.starts_with("\\u") {
        // An escaped character may be of several bytes; only hostile text has one.
        return text.chars().nth(1).and_then(|c| whole(1 + c.len_utf8()));
    }
    let one = whole(6)?;
    let is_high =
        one.get(2..4).is_some_and(|hex| matches!(hex.to_ascii_lowercase().as_str(), "d8" | "d9" | "da" | "db"));
    match text.get(6..).unwrap_or_default() {
        low if is_high && low.starts_with("\\u") => whole(12),
        low if is_high && (low.is_empty() || low == "\\") => None,
        _ => Some(one),
    }
}
