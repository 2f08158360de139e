//! A check that the cached prefix of a conversation only grows.

use agent_core::{CacheBreakCause, Prepared};

/// Where a request breaks the prompt cache that the request before it filled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CacheUnstable {
    /// The second request does not continue the first.
    #[error(
        "the prompt cache breaks: {cause:?} changed at segment {segment}{}",
        byte.map_or(String::new(), |byte| format!(", byte {byte}"))
    )]
    Diverges {
        /// What changed.
        cause: CacheBreakCause,
        /// The first segment that differs, from 0 in body order.
        segment: usize,
        /// The first byte of the body that differs, where it is known.
        byte: Option<u64>,
    },
    /// One of the requests cannot be looked into.
    #[error("the {which} request has no segments, so nobody can say whether the cache holds")]
    Hidden {
        /// `first` or `second`.
        which: &'static str,
    },
}

/// Whether the second request continues the first byte for byte.
///
/// # Errors
/// [`CacheUnstable`] with the cause and the place.
pub fn check_cache_stable(first: &Prepared, second: &Prepared) -> Result<(), CacheUnstable> {
    let before = first.segments().ok_or(CacheUnstable::Hidden { which: "first" })?;
    let after = second.segments().ok_or(CacheUnstable::Hidden { which: "second" })?;
    match after.diverges_from(before.chain(), Some(before)) {
        None => Ok(()),
        Some(at) => Err(CacheUnstable::Diverges { cause: at.cause, segment: at.segment, byte: at.byte }),
    }
}

/// Fails the test where the second request does not continue the first byte for byte, with the
/// cause, the segment and the byte. Takes two [`Prepared`](agent_core::Prepared).
#[macro_export]
macro_rules! assert_cache_stable {
    ($first:expr, $second:expr $(,)?) => {{
        let checked = $crate::check_cache_stable(&$first, &$second);
        ::core::assert!(
            checked.is_ok(),
            "{}",
            checked.err().map(|e| ::std::string::ToString::to_string(&e)).unwrap_or_default()
        );
    }};
}
