//! The body of an answer: server-sent events, or one JSON value where a server does not stream.

use bytes::Bytes;
use bytestring::ByteString;

use crate::{ProviderError, ProviderErrorKind, SseDecoder, SseEvent};

/// How many bytes an answer may have that does not come as events.
const MAX_WHOLE: usize = 64 * 1024 * 1024;

/// Tells events and one JSON value apart by their first bytes, since headers cannot be believed, and reads both.
///
/// ```
/// use agent_core::AnswerReader;
/// let mut reader = AnswerReader::new();
/// reader.feed("data: {}\n\n".into())?;
/// assert_eq!(reader.next_event().transpose()?.map(|event| event.data).as_deref(), Some("{}"));
/// assert_eq!(reader.finish()?, None);
/// # Ok::<(), agent_core::ProviderError>(())
/// ```
#[derive(Debug, Default)]
pub struct AnswerReader(Format);

#[derive(Debug)]
enum Format {
    /// Nothing but white space has come, held back.
    Unknown(Vec<u8>),
    Events(Box<SseDecoder>),
    Whole(Vec<u8>),
}

impl Default for Format {
    fn default() -> Self {
        Self::Unknown(Vec::new())
    }
}

impl AnswerReader {
    /// A reader of one answer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes more of the body. Read the events after each piece.
    ///
    /// # Errors
    /// [`ProviderError`] of kind `Protocol` where a body that is not events has more than 64 MiB.
    pub fn feed(&mut self, bytes: Bytes) -> Result<(), ProviderError> {
        if let Format::Unknown(held) = &mut self.0 {
            match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None if held.len() < 1024 => {
                    held.extend_from_slice(&bytes);
                    return Ok(());
                }
                // No line of an event stream begins with a bracket.
                Some(b'{' | b'[') => self.0 = Format::Whole(std::mem::take(held)),
                _ => {
                    let mut sse = Box::new(SseDecoder::new());
                    sse.push(std::mem::take(held).into());
                    self.0 = Format::Events(sse);
                }
            }
        }
        match &mut self.0 {
            Format::Events(sse) => sse.push(bytes),
            Format::Whole(whole) | Format::Unknown(whole) => {
                if whole.len().saturating_add(bytes.len()) > MAX_WHOLE {
                    return Err(unreadable(&format!("the answer has more than {MAX_WHOLE} bytes")));
                }
                whole.extend_from_slice(&bytes);
            }
        }
        Ok(())
    }

    /// The next event that is whole.
    pub fn next_event(&mut self) -> Option<Result<SseEvent, ProviderError>> {
        let Format::Events(sse) = &mut self.0 else { return None };
        let event = sse.next_event()?;
        Some(event.map_err(|e| unreadable("the stream of events cannot be read").with_source(e)))
    }

    /// Takes the end of the body: what stands whole in it, where it is no events. Events that only the end completes
    /// are read afterwards.
    ///
    /// # Errors
    /// [`ProviderError`] of kind `Network` where nothing came, or only the beginning of a value; `Protocol` where it is
    /// no UTF-8.
    pub fn finish(&mut self) -> Result<Option<ByteString>, ProviderError> {
        let whole = match &mut self.0 {
            Format::Events(sse) => {
                sse.finish();
                return Ok(None);
            }
            Format::Unknown(_) => return Err(cut()),
            Format::Whole(whole) => std::mem::take(whole),
        };
        let text = match String::from_utf8(whole) {
            Ok(text) => ByteString::from(text),
            Err(e) => return Err(unreadable("the answer is not UTF-8").with_source(e.utf8_error())),
        };
        match serde_json::from_str::<serde::de::IgnoredAny>(&text) {
            Err(e) if e.is_eof() => Err(cut()),
            _ => Ok(Some(text)),
        }
    }
}

fn unreadable(text: &str) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Protocol, text)
}

fn cut() -> ProviderError {
    ProviderError::new(ProviderErrorKind::Network, "the connection ended before the answer did")
}
