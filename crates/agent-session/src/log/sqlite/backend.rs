//! The statements, made on the thread of the store.

use std::{path::Path, sync::Arc, time::Duration};

use agent_core::RawJson;
use rusqlite::{Connection, OptionalExtension, Statement, TransactionBehavior, params};
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    Batch, BlobId, BlobRef, EntryId, FORMAT_VERSION, Fault, Header, Hit, Index, Place, RecordHead, SessionError,
    SessionId, Stored, Summary, Swept, SyncPolicy,
    log::worker::Backend,
    record::kind,
    search::{Needle, text_of, title_of},
};

/// How long another process may hold the file.
const PATIENCE: Duration = Duration::from_secs(10);
/// The fewest characters for which the index of texts can be asked.
const INDEXED: usize = 3;

/// `place` of a record is its session's number and its own, so one walk over neighbours reads a session.
const TABLES: &str = "
    CREATE TABLE sessions (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        header TEXT NOT NULL,
        records INTEGER NOT NULL DEFAULT 0,
        bytes INTEGER NOT NULL DEFAULT 0
    );
    CREATE TABLE records (
        place INTEGER PRIMARY KEY,
        id TEXT NOT NULL,
        parent INTEGER,
        kind TEXT NOT NULL,
        blobs TEXT,
        sum INTEGER NOT NULL,
        data TEXT NOT NULL
    );
    CREATE TABLE blobs (id TEXT PRIMARY KEY, content BLOB NOT NULL);
    CREATE TABLE blob_uses (blob TEXT NOT NULL, session INTEGER NOT NULL, PRIMARY KEY (blob, session)) WITHOUT ROWID;
    CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = 'trigram');
";

/// What the thread owns.
#[derive(Debug)]
pub(super) struct Database(Connection);

/// Records for one session.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) session: i64,
    pub(super) batch: Batch,
}

fn store(source: rusqlite::Error) -> SessionError {
    SessionError::Store { source: source.into() }
}

impl Database {
    pub(super) fn open(path: &Path, sync: SyncPolicy) -> Result<Self, SessionError> {
        let opened = || {
            let mut connection = Connection::open(path)?;
            connection.busy_timeout(PATIENCE)?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
            // In write-ahead mode a commit survives the process in either; FULL syncs it.
            let mode = if sync == SyncPolicy::Always { "FULL" } else { "NORMAL" };
            connection.pragma_update(None, "synchronous", mode)?;
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let version: u32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
            if version == 0 {
                transaction.execute_batch(TABLES)?;
                transaction.pragma_update(None, "user_version", FORMAT_VERSION)?;
            }
            transaction.commit()?;
            Ok((connection, version))
        };
        let (connection, version) = opened().map_err(store)?;
        if version > FORMAT_VERSION {
            return Err(SessionError::Version { found: version, known: FORMAT_VERSION });
        }
        Ok(Self(connection))
    }

    pub(super) fn create(&mut self, header: &Header) -> Result<(), SessionError> {
        let text = serde_json::to_string(header).map_err(|source| SessionError::Encode { source: source.into() })?;
        let id = header.id.to_string();
        let insert = "INSERT OR IGNORE INTO sessions (id, header) VALUES (?1, ?2)";
        match self.0.execute(insert, params![id, text]).map_err(store)? {
            0 => Err(SessionError::Exists { place: id }),
            _ => Ok(()),
        }
    }

    pub(super) fn number(&self, id: SessionId) -> Result<i64, SessionError> {
        let found = self.0.query_row("SELECT number FROM sessions WHERE id = ?1", [id.to_string()], |row| row.get(0));
        found.optional().map_err(store)?.ok_or_else(|| SessionError::NotFound { place: id.to_string() })
    }

    pub(super) fn load(&self, id: SessionId) -> Result<(Header, Index, i64), SessionError> {
        let number = self.number(id)?;
        let header = "SELECT header FROM sessions WHERE number = ?1";
        let header: String = self.0.query_row(header, [number], |row| row.get(0)).map_err(store)?;
        let header: Header =
            serde_json::from_str(&header).map_err(|source| SessionError::Store { source: source.into() })?;
        if header.version > FORMAT_VERSION {
            return Err(SessionError::Version { found: header.version, known: FORMAT_VERSION });
        }
        let mut index = Index::new();
        // Payloads stay where they are, but for the few that move the head or give names.
        let select = "SELECT place, id, parent, kind, blobs, CASE WHEN kind GLOB ?3 THEN data ELSE '' END
                      FROM records WHERE place BETWEEN ?1 AND ?2 ORDER BY place";
        let mut select = self.0.prepare(select).map_err(store)?;
        let own = format!("{}*", kind::OWN);
        let mut rows = select.query(params![place(number, 0), place(number, LAST), own]).map_err(store)?;
        while let Some(row) = rows.next().map_err(store)? {
            let next = index.len() + 1;
            let damaged = |source| damaged(id, next, source);
            let take = || {
                let seq = u64::try_from(row.get::<_, i64>(0)? & LAST).unwrap_or_default();
                let entry: String = row.get(1)?;
                let parent: Option<i64> = row.get(2)?;
                let (kind, blobs, data): (String, Option<String>, String) = (row.get(3)?, row.get(4)?, row.get(5)?);
                Ok((seq, entry, parent, kind, blobs, data))
            };
            let (seq, entry, parent, kind, blobs, data) = take().map_err(store)?;
            let entry: EntryId = entry.parse().map_err(|_| damaged(Fault::Syntax))?;
            let blobs = refs(blobs.as_deref()).ok_or_else(|| damaged(Fault::Syntax))?;
            let place = parent.map_or(Place::Outside, |parent| Place::Below(parent.try_into().unwrap_or(u64::MAX)));
            index.push(&RecordHead::new(seq, entry, place, &kind, &blobs), &data).map_err(damaged)?;
        }
        Ok((header, index, number))
    }

    pub(super) fn read(&self, id: SessionId, number: i64, seqs: &[u64]) -> Result<Vec<Stored>, SessionError> {
        let mut select = self.0.prepare("SELECT data, blobs, sum FROM records WHERE place = ?1").map_err(store)?;
        let mut read = |seq: &u64| {
            let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            let at = place(number, i64::try_from(*seq).unwrap_or(LAST));
            let found: Option<(String, Option<String>, i64)> = select.query_row([at], row).optional().map_err(store)?;
            let damaged = |source| damaged(id, *seq, source);
            let (data, blobs, sum) = found.ok_or_else(|| damaged(Fault::Sequence { expected: *seq, found: 0 }))?;
            if sum != sum_of(&data) {
                return Err(damaged(Fault::Checksum));
            }
            let blobs = refs(blobs.as_deref()).ok_or_else(|| damaged(Fault::Syntax))?;
            Ok(Stored::new(RawJson::parse(data).map_err(|_| damaged(Fault::Syntax))?, blobs))
        };
        seqs.iter().map(&mut read).collect()
    }

    pub(super) fn blob(&self, id: BlobId) -> Result<Vec<u8>, SessionError> {
        let select = "SELECT content FROM blobs WHERE id = ?1";
        let found: Option<Vec<u8>> =
            self.0.query_row(select, [id.to_string()], |row| row.get(0)).optional().map_err(store)?;
        found.filter(|content| BlobId::of(content) == id).ok_or(SessionError::Blob { id })
    }

    pub(super) fn list(&self) -> Result<Vec<Summary>, SessionError> {
        let mut select =
            self.0.prepare("SELECT number, header, bytes FROM sessions ORDER BY id DESC").map_err(store)?;
        // The first messages, of which one is an input.
        let begin = "SELECT kind, data FROM records WHERE place BETWEEN ?1 AND ?2 AND kind = 'messageAppended'
                     AND blobs IS NULL ORDER BY place LIMIT 3";
        let mut begin = self.0.prepare(begin).map_err(store)?;
        let last = "SELECT id FROM records WHERE place BETWEEN ?1 AND ?2 ORDER BY place DESC LIMIT 1";
        let mut last = self.0.prepare(last).map_err(store)?;
        let row =
            |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?));
        let rows = select.query_map([], row).map_err(store)?;
        let mut found = Vec::new();
        for row in rows {
            let (number, header, bytes) = row.map_err(store)?;
            let header = serde_json::from_str::<Header>(&header);
            let header = header.map_err(|source| SessionError::Store { source: source.into() })?;
            // The header counts, as it does in a file.
            let mut summary = Summary::new(header, bytes.try_into().unwrap_or_default());
            let all = params![place(number, 0), place(number, LAST)];
            let changed: Option<String> = last.query_row(all, |row| row.get(0)).optional().map_err(store)?;
            if let Some(changed) = changed.and_then(|id| id.parse::<EntryId>().ok()) {
                summary = summary.changed_ms(changed.made_ms());
            }
            let texts = begin.query_map(all, |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)));
            let texts = texts.map_err(store)?;
            summary.title = texts.flatten().find_map(|(kind, data)| title_of(&kind, &data));
            found.push(summary);
        }
        Ok(found)
    }

    pub(super) fn delete(&mut self, id: SessionId) -> Result<(), SessionError> {
        let number = self.number(id)?;
        let all = params![place(number, 0), place(number, LAST)];
        let mut deleted = || {
            let transaction = self.0.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute("DELETE FROM texts WHERE rowid BETWEEN ?1 AND ?2", all)?;
            transaction.execute("DELETE FROM records WHERE place BETWEEN ?1 AND ?2", all)?;
            transaction.execute("DELETE FROM blob_uses WHERE session = ?1", [number])?;
            transaction.execute(SWEEP, [])?;
            transaction.execute("DELETE FROM sessions WHERE number = ?1", [number])?;
            transaction.commit()
        };
        deleted().map_err(store)
    }

    pub(super) fn sweep(&self) -> Result<Swept, SessionError> {
        let count = "SELECT count(*), coalesce(sum(length(content)), 0) FROM blobs
                     WHERE id NOT IN (SELECT blob FROM blob_uses)";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
        let (blobs, bytes) = self.0.query_row(count, [], row).map_err(store)?;
        self.0.execute(SWEEP, []).map_err(store)?;
        Ok(Swept::new(blobs.try_into().unwrap_or_default(), bytes.try_into().unwrap_or_default()))
    }

    pub(super) fn search(&self, text: &str, needle: &Needle, limit: usize) -> Result<Vec<Hit>, SessionError> {
        const BY_INDEX: &str = "WHERE texts MATCH ?1";
        const BY_LOOKING: &str = "WHERE ?1 = ?1";
        // A phrase of the index: quotes in it are doubled.
        let (how, wanted) = match text.chars().count() {
            short if short < INDEXED => (BY_LOOKING, String::new()),
            _ => (BY_INDEX, format!("\"{}\"", text.replace('"', "\"\""))),
        };
        let select = format!(
            "SELECT sessions.id, records.id, text FROM texts
             JOIN records ON records.place = texts.rowid JOIN sessions ON sessions.number = texts.rowid >> 32
             {how} ORDER BY sessions.id DESC, records.place"
        );
        let mut select = self.0.prepare(&select).map_err(store)?;
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let mut hits = Vec::new();
        for row in select.query_map([wanted], row).map_err(store)? {
            let (session, entry, text): (String, String, String) = row.map_err(store)?;
            if hits.len() >= limit {
                break;
            }
            if let (Ok(session), Ok(entry), Some(excerpt)) = (session.parse(), entry.parse(), needle.find_in(&text)) {
                hits.push(Hit { session, entry, excerpt });
            }
        }
        Ok(hits)
    }
}

const SWEEP: &str = "DELETE FROM blobs WHERE id NOT IN (SELECT blob FROM blob_uses)";

impl Backend for Database {
    type Batch = Rows;

    fn write(&mut self, batches: &[Rows]) -> Result<Vec<Result<(), SessionError>>, SessionError> {
        let written = (|| {
            let mut transaction = self.0.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut each = Vec::with_capacity(batches.len());
            for rows in batches {
                let savepoint = transaction.savepoint()?;
                each.push(match insert(&savepoint, rows)? {
                    Some(diverged) => Err(diverged),
                    None => savepoint.commit().map(Ok)?,
                });
            }
            transaction.commit()?;
            Ok(each)
        })();
        // One failure for all of them; the store itself can go on, since the transaction left nothing behind.
        Ok(written.unwrap_or_else(|error| {
            let source = Arc::new(store(error));
            batches.iter().map(|_| Err(SessionError::Failed { source: source.clone() })).collect()
        }))
    }
}

/// Writes the records of one batch; an error of ours where the session has others by now.
fn insert(connection: &Connection, rows: &Rows) -> rusqlite::Result<Option<SessionError>> {
    let Rows { session, batch } = rows;
    let expected = i64::try_from(batch.expected).unwrap_or(i64::MAX);
    let count = i64::try_from(batch.records.len()).unwrap_or(i64::MAX);
    let bytes = batch.records.iter().map(|record| record.data.get().len()).sum::<usize>();
    let update = "UPDATE sessions SET records = records + ?3, bytes = bytes + ?4 WHERE number = ?1 AND records = ?2";
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    if connection.execute(update, params![session, expected, count, bytes])? == 0 {
        let select = "SELECT records FROM sessions WHERE number = ?1";
        let found: Option<i64> = connection.query_row(select, [session], |row| row.get(0)).optional()?;
        let found = found.unwrap_or_default().try_into().unwrap_or_default();
        return Ok(Some(SessionError::Diverged { expected: batch.expected, found }));
    }
    let insert = "INSERT INTO records (place, id, parent, kind, blobs, sum, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let mut insert: Statement<'_> = connection.prepare(insert)?;
    let mut index = connection.prepare("INSERT INTO texts (rowid, text) VALUES (?1, ?2)")?;
    for blob in &batch.blobs {
        let insert = "INSERT OR IGNORE INTO blobs (id, content) VALUES (?1, ?2)";
        connection.execute(insert, params![blob.id.to_string(), &*blob.content])?;
    }
    for record in &batch.records {
        let at = place(*session, i64::try_from(record.seq).unwrap_or(LAST));
        let parent = match record.place {
            Place::Below(parent) => Some(i64::try_from(parent).unwrap_or(LAST)),
            Place::Outside => None,
        };
        let blobs = (!record.blobs.is_empty()).then(|| serde_json::to_string(&record.blobs).unwrap_or_default());
        let data = record.data.get();
        insert.execute(params![at, record.id.to_string(), parent, &*record.kind, blobs, sum_of(data), data])?;
        for blob in &record.blobs {
            let uses = "INSERT OR IGNORE INTO blob_uses (blob, session) VALUES (?1, ?2)";
            connection.execute(uses, params![blob.sha256.to_string(), session])?;
        }
        if let Some(text) = text_of(&record.kind, data) {
            index.execute(params![at, text])?;
        }
    }
    Ok(None)
}

/// The last number that a record can have.
const LAST: i64 = 0xFFFF_FFFF;

fn place(session: i64, seq: i64) -> i64 {
    session << 32 | seq
}

fn sum_of(data: &str) -> i64 {
    i64::from_le_bytes(xxh3_64(data.as_bytes()).to_le_bytes())
}

fn refs(blobs: Option<&str>) -> Option<Vec<BlobRef>> {
    blobs.map_or_else(|| Some(Vec::new()), |blobs| serde_json::from_str(blobs).ok())
}

/// A table has no lines and no bytes to point at; the record's number says where.
fn damaged(id: SessionId, seq: u64, source: Fault) -> SessionError {
    SessionError::Damaged { place: id.to_string(), line: seq + 1, offset: 0, source }
}
