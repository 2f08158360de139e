//! Tool arguments while they stream.

use std::ops::Range;

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
    scanned: usize,
    state: State,
    /// Nesting within the value of a field: 0 is the value's own level.
    depth: u32,
    in_string: bool,
    escape: Escape,
    fields: Vec<Field>,
}

#[derive(Debug, Clone)]
struct Field {
    name: String,
    raw: Range<usize>,
    /// The decoded text so far, of a value that is a string.
    text: Option<String>,
    complete: bool,
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
    Value,
    /// Past the end, or in text that is no object: there are no fields to follow.
    Done,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Escape {
    #[default]
    None,
    Begun,
    /// Hexadecimal digits seen, and their value.
    Unicode {
        digits: u8,
        code: u32,
        high: Option<u32>,
    },
    /// A high surrogate waits for its low half: `\` comes next.
    High(u32),
    HighBegun(u32),
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
        for (offset, c) in json.char_indices() {
            if self.state == State::Done {
                break;
            }
            self.step(self.scanned + offset, c);
        }
        self.scanned += json.len();
        if let (State::Value, Some(field)) = (self.state, self.fields.last_mut()) {
            field.raw.end = self.scanned;
        }
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
        let named = |field: &Field| field.raw.start > 0;
        self.fields.iter().filter(move |field| named(field)).map(|field| PartialField {
            name: &field.name,
            raw: self.json.get(field.raw.clone()).unwrap_or_default(),
            text: field.text.as_deref(),
            complete: field.complete,
        })
    }

    /// A field of the outer object, once its value has begun.
    pub fn field(&self, name: &str) -> Option<PartialField<'_>> {
        self.fields().find(|field| field.name == name)
    }

    fn step(&mut self, at: usize, c: char) {
        let space = matches!(c, ' ' | '\t' | '\n' | '\r');
        match self.state {
            State::Start | State::BeforeName | State::AfterName | State::BeforeValue if space => {}
            State::Start => self.state = if c == '{' { State::BeforeName } else { State::Done },
            State::BeforeName => match c {
                '"' => {
                    let raw = 0..0;
                    let field = Field { name: String::new(), raw, text: None, complete: false };
                    self.fields.push(field);
                    self.state = State::Name;
                }
                ',' => {}
                _ => self.state = State::Done,
            },
            State::Name => {
                if self.closes_string(c) {
                    self.state = State::AfterName;
                } else if let Some(c) = self.unescape(c)
                    && let Some(field) = self.fields.last_mut()
                {
                    field.name.push(c);
                }
            }
            State::AfterName => {
                self.state = if c == ':' { State::BeforeValue } else { State::Done };
            }
            State::BeforeValue => {
                self.state = State::Value;
                (self.depth, self.in_string) = (0, c == '"');
                if matches!(c, '{' | '[') {
                    self.depth = 1;
                }
                if let Some(field) = self.fields.last_mut() {
                    field.raw = at..at + c.len_utf8();
                    field.text = (c == '"').then(String::new);
                }
            }
            State::Value => self.value(at, c),
            State::Done => {}
        }
    }

    fn value(&mut self, at: usize, c: char) {
        if self.in_string {
            if self.closes_string(c) {
                self.in_string = false;
                if self.depth == 0 {
                    self.end_value(at + 1, State::BeforeName);
                }
            } else {
                let decoded = self.unescape(c);
                let text = self.fields.last_mut().and_then(|field| field.text.as_mut());
                if let (Some(c), Some(text)) = (decoded, text) {
                    text.push(c);
                }
            }
            return;
        }
        match (c, self.depth) {
            ('"', _) => self.in_string = true,
            ('{' | '[', depth) => self.depth = depth.saturating_add(1),
            // A bare value (a number, `true`) ends where the object goes on or ends.
            (',', 0) => self.end_value(at, State::BeforeName),
            ('}' | ']', 0) => self.end_value(at, State::Done),
            ('}' | ']', depth) => {
                self.depth = depth - 1;
                if self.depth == 0 {
                    self.end_value(at + 1, State::BeforeName);
                }
            }
            _ => {}
        }
    }

    fn end_value(&mut self, end: usize, next: State) {
        self.state = next;
        if let Some(field) = self.fields.last_mut() {
            field.raw.end = end;
            field.complete = true;
        }
    }

    fn closes_string(&mut self, c: char) -> bool {
        let closes = c == '"' && matches!(self.escape, Escape::None | Escape::High(_));
        if closes {
            self.escape = Escape::None;
        }
        closes
    }

    /// One character inside a string; what it adds to the decoded text.
    fn unescape(&mut self, c: char) -> Option<char> {
        let (next, out) = match self.escape {
            Escape::None if c == '\\' => (Escape::Begun, None),
            Escape::None => (Escape::None, Some(c)),
            Escape::Begun | Escape::HighBegun(_) => {
                let high = match self.escape {
                    Escape::HighBegun(high) => Some(high),
                    _ => None,
                };
                match c {
                    'u' => (Escape::Unicode { digits: 0, code: 0, high }, None),
                    'n' => (Escape::None, Some('\n')),
                    't' => (Escape::None, Some('\t')),
                    'r' => (Escape::None, Some('\r')),
                    'b' => (Escape::None, Some('\u{8}')),
                    'f' => (Escape::None, Some('\u{c}')),
                    other => (Escape::None, Some(other)),
                }
            }
            Escape::High(high) if c == '\\' => (Escape::HighBegun(high), None),
            // A lone half of a pair is no character; the one that came instead is.
            Escape::High(_) => (Escape::None, Some(c)),
            Escape::Unicode { digits, code, high } => {
                let code = code << 4 | c.to_digit(16).unwrap_or(0);
                match (digits, high) {
                    (0..3, _) => (Escape::Unicode { digits: digits + 1, code, high }, None),
                    (_, Some(high)) => {
                        let low = code.wrapping_sub(0xDC00) & 0x3FF;
                        let pair = 0x1_0000 + ((high - 0xD800) << 10) + low;
                        (Escape::None, char::from_u32(pair))
                    }
                    _ if (0xD800..0xDC00).contains(&code) => (Escape::High(code), None),
                    _ => (Escape::None, char::from_u32(code)),
                }
            }
        };
        self.escape = next;
        out
    }
}
