//! The settings of a session.

use std::{fmt, sync::Arc, time::SystemTime};

use agent_core::{IdSource, Timer};

use crate::{Header, SessionId};

/// What a session may hold, and where it gets the time and its ids from.
#[derive(Clone)]
#[non_exhaustive]
pub struct Settings {
    /// A string of a payload with more bytes than this goes into a blob. 32 KiB.
    pub inline: u64,
    /// The most bytes of one blob. 64 MiB.
    pub blob: u64,
    /// The most bytes of all blobs of a session together. 4 GiB.
    pub blobs: u64,
    /// The most bytes of a record without its blobs. 64 MiB.
    pub record: u64,
    timer: Option<Arc<dyn Timer>>,
    seed: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { inline: 32 << 10, blob: 64 << 20, blobs: 4 << 30, record: 64 << 20, timer: None, seed: None }
    }
}

impl Settings {
    /// Sets how long a string may be before it goes into a blob, in bytes.
    #[must_use]
    pub fn inline(mut self, bytes: u64) -> Self {
        self.inline = bytes;
        self
    }

    /// Sets how many bytes a blob may have.
    #[must_use]
    pub fn blob(mut self, bytes: u64) -> Self {
        self.blob = bytes;
        self
    }

    /// Sets how many bytes all blobs of a session may have together.
    #[must_use]
    pub fn blobs(mut self, bytes: u64) -> Self {
        self.blobs = bytes;
        self
    }

    /// Sets how many bytes a record may have without its blobs.
    #[must_use]
    pub fn record(mut self, bytes: u64) -> Self {
        self.record = bytes;
        self
    }

    /// Asks this clock instead of the system's.
    #[must_use]
    pub fn timer(mut self, timer: Arc<dyn Timer>) -> Self {
        self.timer = Some(timer);
        self
    }

    /// Draws ids from this seed: for tests, whose ids are to be the same each time.
    #[must_use]
    pub fn seeded(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The header of a session that is not made yet, with a new id.
    pub fn new_header(&self) -> Header {
        Header::new(SessionId::new(&mut self.ids(), self.now_ms()))
    }

    pub(crate) fn ids(&self) -> IdSource {
        self.seed.map_or_else(IdSource::from_hash_keys, IdSource::seeded)
    }

    pub(crate) fn now_ms(&self) -> u64 {
        if let Some(timer) = &self.timer {
            return timer.now_ms();
        }
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { inline, blob, blobs, record, .. } = self;
        let mut debug = f.debug_struct("Settings");
        debug.field("inline", inline).field("blob", blob).field("blobs", blobs).field("record", record);
        debug.finish_non_exhaustive()
    }
}
