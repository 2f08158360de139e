//! What can be wrong with a stream of server-sent events.

/// Why a stream of server-sent events cannot be decoded any further.
///
/// Byte offsets count from the start of the stream, a byte order mark included, and do not depend
/// on how the stream was cut into chunks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SseError {
    /// The value of a `data`, `event` or `id` line is not UTF-8.
    #[error(
        "server-sent event: the `{field}` line has invalid UTF-8 at byte {offset} of the stream; \
         the standard allows UTF-8 only, check the response's charset and content encoding"
    )]
    InvalidUtf8 {
        /// The name of the field.
        field: &'static str,
        /// Where the first byte that is not UTF-8 lies.
        offset: u64,
    },
    /// The lines of one event, or one ignored line, are longer than the limit.
    #[error(
        "server-sent event: over the limit of {limit} bytes in the line that begins at byte \
         {offset} of the stream; raise it with `SseDecoder::with_limit`"
    )]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
        /// Where the line that went over the limit begins.
        offset: u64,
    },
}
