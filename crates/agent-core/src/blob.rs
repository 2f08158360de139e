//! Where outputs are kept whole that are too long to show.

use bytes::Bytes;

use crate::{BoxError, BoxFuture};

/// Keeps outputs whole, under handles that a model can page through.
///
/// A handle is made by who writes; of letters, digits, `-` and `_`, at most 128 of them, it fits every store.
pub trait BlobStore: Send + Sync {
    /// Adds bytes to the end of a blob, which the first bytes create. Whoever drops the future may have lost them;
    /// appends to one blob are awaited one after the other.
    ///
    /// # Errors
    /// [`BlobError`]; what was there before stays.
    fn append(&self, handle: &str, bytes: Bytes) -> BoxFuture<'static, Result<(), BlobError>>;

    /// At most so many bytes from an offset on; none behind the end. Dropping the future does nothing.
    ///
    /// # Errors
    /// [`BlobError::Missing`] where there is no such blob, or no longer.
    fn read(&self, handle: &str, from: u64, most: usize) -> BoxFuture<'static, Result<BlobPart, BlobError>>;
}

/// A piece of a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores outside this crate make them; a piece and the whole is all")]
pub struct BlobPart {
    /// What was asked for.
    pub bytes: Bytes,
    /// How long the whole is now, in bytes.
    pub total: u64,
}

/// A blob that could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlobError {
    /// There is none, or it had to make room.
    #[error("nothing is kept under `{handle}`")]
    Missing {
        /// The handle.
        handle: String,
    },
    /// The store takes no more of it.
    #[error("at most {limit} bytes are kept")]
    Full {
        /// The store's limit, in bytes.
        limit: u64,
    },
    /// The store failed.
    #[error("the store of outputs failed")]
    Store {
        /// The cause.
        source: BoxError,
    },
}
