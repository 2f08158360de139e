//! The vendor's event stream: messages with typed headers and two checksums, from bytes cut anywhere
//! (<https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html>).

mod crc;
mod headers;

use agent_core::ByteString;
use bytes::{Buf, Bytes, BytesMut};

pub use self::headers::EventHeaderValue;
use self::{crc::crc32, headers::read_headers};

/// The two lengths and their checksum.
const PRELUDE: usize = 12;
/// Prelude and the checksum of the whole.
const FRAME: usize = 16;

/// How many bytes a message may have.
pub const MAX_MESSAGE: usize = 16 * 1024 * 1024;
/// How many bytes its headers may have.
pub const MAX_HEADERS: usize = 128 * 1024;

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventMessage {
    /// The headers, in their order.
    pub headers: Vec<(ByteString, EventHeaderValue)>,
    /// What it carries, shared with the buffer that it was read from.
    pub payload: Bytes,
}

impl EventMessage {
    /// The text of a header that is one.
    pub fn text(&self, name: &str) -> Option<&ByteString> {
        self.headers.iter().find(|(key, _)| key == name).and_then(|(_, value)| match value {
            EventHeaderValue::Text(text) => Some(text),
            _ => None,
        })
    }
}

/// Why a stream cannot be read on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventStreamError {
    /// The lengths are not those that were sent.
    #[error("the checksum of the message's prelude is {found:08x}, not {expected:08x}")]
    PreludeChecksum {
        /// What the message says.
        expected: u32,
        /// What its bytes give.
        found: u32,
    },
    /// Headers or payload are not those that were sent.
    #[error("the checksum of the message is {found:08x}, not {expected:08x}")]
    MessageChecksum {
        /// What the message says.
        expected: u32,
        /// What its bytes give.
        found: u32,
    },
    /// A message says that it is longer or shorter than one may be.
    #[error("a message of {bytes} bytes, where {FRAME} to {MAX_MESSAGE} are allowed")]
    MessageSize {
        /// What it says.
        bytes: u32,
    },
    /// The headers say that they are longer than they may be, or than their message.
    #[error("headers of {bytes} bytes in a message of {message}, where at most {MAX_HEADERS} are allowed")]
    HeadersSize {
        /// What the message says of its headers.
        bytes: u32,
        /// What it says of itself.
        message: u32,
    },
    /// A header that ends in the middle, has no name or a type that does not exist.
    #[error("a header cannot be read: {0}")]
    Header(&'static str),
}

/// Cuts a stream of bytes into messages.
///
/// A length is believed once its checksum is right, and nothing is buffered for one that is too large. After an error
/// the stream cannot be read on, since nothing tells where the next message begins: the error comes again.
///
/// ```
/// use agent_bedrock::EventStreamDecoder;
/// let mut decoder = EventStreamDecoder::new();
/// let empty = [0, 0, 0, 16, 0, 0, 0, 0, 5, 194, 72, 235, 125, 152, 200, 255];
/// decoder.push(&empty[..7]);
/// assert_eq!(decoder.next_message()?, None);
/// decoder.push(&empty[7..]);
/// assert!(decoder.next_message()?.is_some_and(|message| message.payload.is_empty()));
/// assert!(decoder.is_between_messages());
/// # Ok::<(), agent_bedrock::EventStreamError>(())
/// ```
#[derive(Debug, Default)]
pub struct EventStreamDecoder {
    buffer: BytesMut,
    failed: Option<EventStreamError>,
}

impl EventStreamDecoder {
    /// A decoder at the beginning of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes more bytes. Read the messages after each piece.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// Whether nothing of a message has come that is not whole.
    pub fn is_between_messages(&self) -> bool {
        self.buffer.is_empty() && self.failed.is_none()
    }

    /// The next message that is whole.
    ///
    /// # Errors
    /// [`EventStreamError`], and the same one for ever after.
    pub fn next_message(&mut self) -> Result<Option<EventMessage>, EventStreamError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let result = self.read();
        if let Err(error) = &result {
            self.failed = Some(error.clone());
            self.buffer = BytesMut::new();
        }
        result
    }

    fn read(&mut self) -> Result<Option<EventMessage>, EventStreamError> {
        let Some(mut prelude) = self.buffer.get(..PRELUDE) else { return Ok(None) };
        let found = crc32(0, prelude.get(..8).unwrap_or_default());
        let (total, headers_len, expected) = (prelude.get_u32(), prelude.get_u32(), prelude.get_u32());
        if found != expected {
            return Err(EventStreamError::PreludeChecksum { expected, found });
        }
        let (message_size, headers_size) = (
            EventStreamError::MessageSize { bytes: total },
            EventStreamError::HeadersSize { bytes: headers_len, message: total },
        );
        let Ok(size) = usize::try_from(total) else { return Err(message_size) };
        let Ok(headers_len) = usize::try_from(headers_len) else { return Err(headers_size) };
        if !(FRAME..=MAX_MESSAGE).contains(&size) {
            return Err(message_size);
        }
        if headers_len > MAX_HEADERS.min(size.saturating_sub(FRAME)) {
            return Err(headers_size);
        }
        if self.buffer.len() < size {
            self.buffer.reserve(size.saturating_sub(self.buffer.len()));
            return Ok(None);
        }
        let mut message = self.buffer.split_to(size).freeze();
        let mut checksum = message.split_off(size.saturating_sub(4));
        let (found, expected) = (crc32(0, &message), checksum.get_u32());
        if found != expected {
            return Err(EventStreamError::MessageChecksum { expected, found });
        }
        message.advance(PRELUDE);
        let headers = read_headers(message.split_to(headers_len))?;
        Ok(Some(EventMessage { headers, payload: message }))
    }
}
