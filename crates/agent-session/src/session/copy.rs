//! A path copied into another session.

use std::collections::HashMap;

use super::{Session, number, write::Draft};
use crate::{BlobId, EntryId, SessionError, blob::Blob};

/// How many entries are copied together.
const PAGE: usize = 256;

impl Session {
    /// Copies the path to an entry into an empty session, in any store: entries with their ids and blobs, and the names
    /// that they have. Returns how many entries were copied. Dropping the future leaves a part of them in the copy.
    ///
    /// ```
    /// use agent_core::{JournalRecord, RecordBody};
    /// use agent_session::{MemorySessions, SessionStore};
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let sessions = MemorySessions::new();
    /// let session = sessions.create().await?;
    /// let ids = session.append(vec![JournalRecord::conversation(RecordBody::RunStarted); 3]).await?;
    /// let copy = sessions.create_with(sessions.new_header().copy_of(session.id())).await?;
    /// assert_eq!(session.copy_to(ids[1], &copy).await?, 2);
    /// assert_eq!(copy.head(), Some(ids[1]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).map_err(|e| e.to_string())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SessionError::UnknownEntry`]; [`SessionError::NotEmpty`]; where something cannot be read or written.
    pub async fn copy_to(&self, to: EntryId, copy: &Self) -> Result<u64, SessionError> {
        if !copy.is_empty() {
            return Err(SessionError::NotEmpty { id: copy.id() });
        }
        let (path, names) = {
            let state = self.state();
            let path = state.index.path(number(&state.index, to)?);
            let entry =
                |seq: &u32| Some((u64::from(*seq), state.index.id_of(*seq)?, state.index.kind_of(*seq)?.clone()));
            let path: Vec<_> = path.iter().filter_map(entry).collect();
            (path, state.index.labels().clone())
        };
        // The same content is read once; what it is kept in is small, beside what it names.
        let mut contents: HashMap<BlobId, Blob> = HashMap::new();
        for page in path.chunks(PAGE) {
            let stored = self.shared.log.read(page.iter().map(|(seq, ..)| *seq).collect()).await?;
            let mut drafts = Vec::with_capacity(page.len());
            for ((_, id, kind), stored) in page.iter().zip(stored) {
                let mut blobs = Vec::with_capacity(stored.blobs.len());
                for place in &stored.blobs {
                    let blob = match contents.get(&place.sha256) {
                        Some(blob) => blob.clone(),
                        None => Blob::new(self.shared.log.blob(place.sha256).await?),
                    };
                    contents.insert(place.sha256, blob.clone());
                    blobs.push(blob);
                }
                drafts.push(Draft::copied(*id, kind, stored, blobs));
            }
            contents.clear();
            let acknowledged = {
                let mut state = copy.state();
                let head = state.index.head();
                copy.commit(&mut state, head, drafts)?.acknowledged
            };
            acknowledged.await?;
        }
        for (name, seq) in names {
            if let Ok(at) = path.binary_search_by_key(&u64::from(seq), |(seq, ..)| *seq)
                && let Some((_, id, _)) = path.get(at)
            {
                copy.label(&name, *id).await?;
            }
        }
        Ok(path.len().try_into().unwrap_or(u64::MAX))
    }
}
