//! The fields of a line: which one it is and where its value begins.

use std::time::Duration;

/// The longest line that may still become another field: `event` or `retry`, without its colon.
pub(super) const LONGEST_NAME: usize = 5;

const NAMES: [&[u8]; 4] = [b"data", b"event", b"id", b"retry"];

/// The fields that the standard knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Data,
    Event,
    Id,
    Retry,
}

impl Field {
    pub(super) fn name(self) -> &'static str {
        match self {
            Field::Data => "data",
            Field::Event => "event",
            Field::Id => "id",
            Field::Retry => "retry",
        }
    }
}

/// Splits a line, without its line end, into field and value; `None` for comments and for fields
/// that the standard does not know. One space after the colon is no part of the value.
#[inline]
pub(super) fn split(line: &[u8]) -> Option<(Field, &[u8])> {
    let (field, rest) = match line {
        [b'd', b'a', b't', b'a', rest @ ..] => (Field::Data, rest),
        [b'e', b'v', b'e', b'n', b't', rest @ ..] => (Field::Event, rest),
        [b'i', b'd', rest @ ..] => (Field::Id, rest),
        [b'r', b'e', b't', b'r', b'y', rest @ ..] => (Field::Retry, rest),
        _ => return None,
    };
    match rest {
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some((field, value)),
        [] => Some((field, rest)),
        _ => None,
    }
}

/// Whether a line that begins like this can be one of a known field.
pub(super) fn may_be_known(start: &[u8]) -> bool {
    NAMES.iter().any(|name| match start.split_at_checked(name.len()) {
        Some((head, rest)) => head == *name && matches!(rest, [] | [b':', ..]),
        None => name.starts_with(start),
    })
}

/// The value of a `retry` line: milliseconds; `None` unless it consists of digits.
pub(super) fn duration(value: &[u8]) -> Option<Duration> {
    if value.is_empty() {
        return None;
    }
    let milliseconds = value.iter().try_fold(0_u64, |sum, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })?;
    Some(Duration::from_millis(milliseconds))
}
