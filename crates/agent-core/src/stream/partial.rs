//! Tool arguments while they stream.

use std::iter::zip;

use memchr::memchr2;

use crate::macros::getters;

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
    /// Nesting within the value of a field: 0 is the value's own level.
    depth: usize,
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
    /// In a value that is a string.
    Text,
    /// In a value that is none.
    Other,
    /// In a string within such a value.
    Inner,
    /// Past the end, or in text that is no object: there are no fields to follow.
    Done,
}

/// A field of the outer object, as far as it has arrived.
#[derive(Debug, Clone, Copy)]
pub struct PartialField<'a> {
    field: &'a Field,
    raw: &'a str,
}

getters!(PartialField<'a>, 'a {
    /// The name.
    name -> &'a str = |this| &this.field.name;
    /// The JSON text so far.
    raw -> &'a str = |this| this.raw;
    /// The text so far with its escapes resolved, where the value is a string. It only grows.
    text -> Option<&'a str> = |this| this.field.text.as_deref();
    /// Whether the value is whole.
    is_complete -> bool = |this| this.field.end.is_some();
});

getters!(PartialArguments {
    /// All JSON text so far.
    json -> &str = |this| &this.json;
});

impl PartialArguments {
    /// No text yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds more JSON text, cut anywhere.
    pub fn push(&mut self, json: &str) {
        self.json.push_str(json);
        while self.state != State::Done && self.step().is_some() {}
    }

    /// All JSON text.
    pub fn into_text(self) -> String {
        self.json
    }

    /// The fields of the outer object that have begun, in order.
    pub fn fields(&self) -> impl Iterator<Item = PartialField<'_>> {
        self.fields.iter().filter(|field| field.start > 0).map(|field| {
            let raw = self.json.get(field.start..field.end.unwrap_or(self.json.len()));
            PartialField { field, raw: raw.unwrap_or_default() }
        })
    }

    /// A field of the outer object, once its value has begun.
    pub fn field(&self, name: &str) -> Option<PartialField<'_>> {
        self.fields().find(|field| field.name() == name)
    }

    /// Looks at the next piece of text; `None` where there is no whole one.
    fn step(&mut self) -> Option<()> {
        if let State::Name | State::Text | State::Inner = self.state {
            return self.string();
        }
        let byte = *self.json.as_bytes().get(self.at)?;
        self.at += 1;
        match (self.state, byte) {
            (State::Other, b'"') => self.state = State::Inner,
            (State::Other, b'{' | b'[') => self.depth += 1,
            // A bare value (a number, `true`) ends where the object goes on or ends.
            (State::Other, b',' | b'}' | b']') if self.depth == 0 => {
                self.at -= 1;
                self.end_value();
            }
            (State::Other, b'}' | b']') => {
                self.depth -= 1;
                if self.depth == 0 {
                    self.end_value();
                }
            }
            (State::Other, _) | (_, b' ' | b'\t' | b'\n' | b'\r') | (State::BeforeName, b',') => {}
            (State::Start, b'{') => self.state = State::BeforeName,
            (State::BeforeName, b'"') => {
                self.fields.push(Field::default());
                self.state = State::Name;
            }
            (State::AfterName, b':') => self.state = State::BeforeValue,
            (State::BeforeValue, _) => {
                let field = self.fields.last_mut()?;
                (field.start, field.text) = (self.at - 1, (byte == b'"').then(String::new));
                self.state = if byte == b'"' { State::Text } else { State::Other };
                self.at -= usize::from(byte != b'"');
            }
            _ => self.state = State::Done,
        }
        Some(())
    }

    /// Takes in the next run of characters in a string, an escape, or the string's end.
    fn string(&mut self) -> Option<()> {
        let rest = self.json.get(self.at..)?;
        let first = *rest.as_bytes().first()?;
        let field = self.fields.last_mut()?;
        let text = if self.state == State::Name { Some(&mut field.name) } else { field.text.as_mut() };
        self.at += match first {
            b'"' => 1,
            b'\\' => {
                let (len, escaped) = escape(rest.as_bytes())?;
                text.zip(escaped).into_iter().for_each(|(text, escaped)| text.push(escaped));
                len
            }
            _ => {
                let run = rest.get(..memchr2(b'"', b'\\', rest.as_bytes()).unwrap_or(rest.len()))?;
                text.into_iter().for_each(|text| text.push_str(run));
                run.len()
            }
        };
        if first == b'"' {
            match self.state {
                State::Name => self.state = State::AfterName,
                State::Text => self.end_value(),
                _ => self.state = State::Other,
            }
        }
        Some(())
    }

    fn end_value(&mut self) {
        self.state = State::BeforeName;
        self.fields.last_mut().into_iter().for_each(|field| field.end = Some(self.at));
    }
}

/// The escape that `rest` begins with: its length and its character, if it stands for one; `None` if
/// more has to come.
fn escape(rest: &[u8]) -> Option<(usize, Option<char>)> {
    let name = rest.get(1)?;
    if *name != b'u' {
        let known = zip(b"\"\\/bfnrt", b"\"\\/\x08\x0c\n\r\t").find(|(known, _)| *known == name);
        // Where JSON has no such escape the character stands for itself.
        return Some(known.map_or((1, None), |(_, meant)| (2, Some(char::from(*meant)))));
    }
    let unit = |at: usize| {
        let digits = str::from_utf8(rest.get(at..at + 4)?).ok().and_then(|digits| u16::from_str_radix(digits, 16).ok());
        Some(digits.unwrap_or_default())
    };
    let first = unit(2)?;
    let pair = match rest.get(6..)? {
        _ if !(0xD800..0xDC00).contains(&first) => return Some((6, char::from_u32(first.into()))),
        [] | [b'\\'] => return None,
        [b'\\', b'u', ..] => char::decode_utf16([first, unit(8)?]).next().and_then(Result::ok),
        _ => None,
    };
    // A lone half of a pair is no character.
    Some((if pair.is_some() { 12 } else { 6 }, pair))
}
