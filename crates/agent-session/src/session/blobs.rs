//! Blobs that somebody holds a handle to, and the removal of those that nobody needs.

use serde::Serialize;

use super::{Session, write::Draft};
use crate::{Blob, BlobId, SessionError, Swept, record::kind};

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
}

impl Session {
    /// Keeps content apart and returns its handle: for output that a tool pages through. `name` says what it is.
    /// The same content is kept once. Nothing happens before the first poll.
    ///
    /// # Errors
    /// [`SessionError::TooLarge`], or where it cannot be written.
    pub async fn put_blob(&self, name: &str, content: Vec<u8>) -> Result<BlobId, SessionError> {
        super::write::within("a blob", content.len(), self.shared.settings.blob)?;
        let (blob, data) = (Blob::new(content), super::moves::json(&Named { name })?);
        let id = blob.id;
        let drafts = self.spill(vec![Draft::outside(kind::BLOB, data).naming(blob)])?;
        let acknowledged = {
            let mut state = self.state();
            let head = state.index.head();
            self.commit(&mut state, head, drafts)?.acknowledged
        };
        acknowledged.await?;
        Ok(id)
    }

    /// The content of a blob. Dropping the future changes nothing.
    ///
    /// # Errors
    /// [`SessionError::Blob`] where it is missing or has other bytes.
    pub async fn blob(&self, id: BlobId) -> Result<Vec<u8>, SessionError> {
        self.shared.log.blob(id).await
    }

    /// Removes the blobs that no record names: what a crash between a blob and its record left. Dropping the future
    /// does not stop it.
    ///
    /// # Errors
    /// [`SessionError`] where a folder cannot be used.
    pub async fn collect_garbage(&self) -> Result<Swept, SessionError> {
        // Asked for under the lock: records accepted later come later in the log, too.
        let sweep = {
            let state = self.state();
            self.shared.log.sweep(state.index.blobs().keys().copied().collect())
        };
        sweep.await
    }
}
