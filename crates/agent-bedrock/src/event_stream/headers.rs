//! The headers of a message: a name, one of ten types, a value.

use agent_core::ByteString;
use bytes::{Buf, Bytes};

use super::EventStreamError;

/// The value of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventHeaderValue {
    /// Types 0 (true) and 1 (false).
    Bool(bool),
    /// Type 2.
    Byte(i8),
    /// Type 3.
    Int16(i16),
    /// Type 4.
    Int32(i32),
    /// Type 5.
    Int64(i64),
    /// Type 6.
    Bytes(Bytes),
    /// Type 7.
    Text(ByteString),
    /// Type 8: milliseconds since the Unix epoch.
    Timestamp(i64),
    /// Type 9.
    Uuid([u8; 16]),
}

pub(super) fn read_headers(mut bytes: Bytes) -> Result<Vec<(ByteString, EventHeaderValue)>, EventStreamError> {
    let mut headers = Vec::new();
    while bytes.has_remaining() {
        let name = match bytes.try_get_u8().map_err(short)? {
            0 => return Err(EventStreamError::Header("it has no name")),
            length => text(&mut bytes, usize::from(length))?,
        };
        headers.push((name, value(&mut bytes)?));
    }
    Ok(headers)
}

fn value(bytes: &mut Bytes) -> Result<EventHeaderValue, EventStreamError> {
    Ok(match bytes.try_get_u8().map_err(short)? {
        0 => EventHeaderValue::Bool(true),
        1 => EventHeaderValue::Bool(false),
        2 => EventHeaderValue::Byte(bytes.try_get_i8().map_err(short)?),
        3 => EventHeaderValue::Int16(bytes.try_get_i16().map_err(short)?),
        4 => EventHeaderValue::Int32(bytes.try_get_i32().map_err(short)?),
        5 => EventHeaderValue::Int64(bytes.try_get_i64().map_err(short)?),
        6 => {
            let length = bytes.try_get_u16().map_err(short)?;
            EventHeaderValue::Bytes(take(bytes, usize::from(length))?)
        }
        7 => {
            let length = bytes.try_get_u16().map_err(short)?;
            EventHeaderValue::Text(text(bytes, usize::from(length))?)
        }
        8 => EventHeaderValue::Timestamp(bytes.try_get_i64().map_err(short)?),
        9 => {
            let mut id = [0; 16];
            bytes.try_copy_to_slice(&mut id).map_err(short)?;
            EventHeaderValue::Uuid(id)
        }
        _ => return Err(EventStreamError::Header("its type does not exist")),
    })
}

fn text(bytes: &mut Bytes, length: usize) -> Result<ByteString, EventStreamError> {
    let text = ByteString::try_from(take(bytes, length)?);
    text.map_err(|_| EventStreamError::Header("a text in it is not UTF-8"))
}

fn take(bytes: &mut Bytes, length: usize) -> Result<Bytes, EventStreamError> {
    if bytes.len() < length {
        return Err(EventStreamError::Header(SHORT));
    }
    Ok(bytes.split_to(length))
}

const SHORT: &str = "it ends in the middle";

fn short(_: bytes::TryGetError) -> EventStreamError {
    EventStreamError::Header(SHORT)
}
