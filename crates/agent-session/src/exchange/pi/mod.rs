//! Session files of pi, the coding agent: JSON lines with a tree of entries, as its documentation describes them
//! (versions 1 to 3).

mod message;
mod tree;

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{ExchangeError, Loss};
use crate::{Session, page::date_ms};

/// The newest version that is read.
const KNOWN: u64 = 3;

/// A session file of pi.
///
/// ```
/// use agent_session::{MemorySessions, PiFile, SessionStore};
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let text = concat!(
///     r#"{"type":"session","version":3,"id":"9","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/home/me"}"#, "\n",
///     r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","#,
///     r#""message":{"role":"user","content":"Hello","timestamp":1735689601000}}"#, "\n",
/// );
/// let pi = PiFile::parse(text)?;
/// let sessions = MemorySessions::new();
/// let session = sessions.create_with(sessions.new_header().cwd(pi.cwd().unwrap_or("."))).await?;
/// assert!(pi.import_into(&session).await?.is_empty());
/// assert_eq!(session.path().len(), 2); // the conversation began, and the message
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).map_err(|e| e.to_string())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PiFile {
    cwd: Option<String>,
    created_ms: Option<u64>,
    entries: Vec<Entry>,
    /// What could not be read.
    losses: Vec<Loss>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LineIn {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    version: Option<u64>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    parent_id: Option<String>,
    #[serde(default)]
    timestamp: Option<String>,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    message: Option<Box<RawValue>>,
    #[serde(default)]
    summary: Option<String>,
    #[serde(default)]
    first_kept_entry_id: Option<String>,
    #[serde(default)]
    target_id: Option<String>,
    #[serde(default)]
    label: Option<String>,
    #[serde(default)]
    custom_type: Option<String>,
    #[serde(default)]
    content: Option<Box<RawValue>>,
}

/// An entry with its place in the file and in the tree.
#[derive(Debug)]
struct Entry {
    /// From 1.
    line: usize,
    /// The place of its parent among the entries.
    parent: Option<usize>,
    id: Option<String>,
    ms: u64,
    fields: LineIn,
    raw: String,
}

impl PiFile {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// [`ExchangeError`] where a line is no JSON object, or does not follow from the ones before.
    pub fn parse(text: &str) -> Result<Self, ExchangeError> {
        let mut file = Self { cwd: None, created_ms: None, entries: Vec::new(), losses: Vec::new() };
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut version = 1;
        for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
            let mut fields: LineIn =
                serde_json::from_str(text).map_err(|source| ExchangeError::Line { line, source: source.into() })?;
            let ms = fields.timestamp.as_deref().and_then(date_ms).unwrap_or_default();
            if fields.kind == "session" {
                version = fields.version.unwrap_or(1);
                if version > KNOWN {
                    return Err(ExchangeError::Version { found: version, known: KNOWN });
                }
                (file.cwd, file.created_ms) = (fields.cwd.take(), Some(ms).filter(|ms| *ms > 0));
                continue;
            }
            // The first version had no tree: a line follows the one before it.
            let parent = match &fields.parent_id {
                Some(parent) => Some(*places.get(parent).ok_or(ExchangeError::Order { line })?),
                None if version == 1 || fields.id.is_none() => file.entries.len().checked_sub(1),
                None => None,
            };
            let (id, at) = (fields.id.take(), file.entries.len());
            if let Some(id) = &id
                && places.insert(id.clone(), at).is_some()
            {
                return Err(ExchangeError::Order { line });
            }
            file.entries.push(Entry { line, parent, id, ms, fields, raw: text.to_owned() });
        }
        Ok(file)
    }

    /// The folder in which the session was.
    pub fn cwd(&self) -> Option<&str> {
        self.cwd.as_deref()
    }

    /// When it was made, in milliseconds since the Unix epoch.
    pub fn created_ms(&self) -> Option<u64> {
        self.created_ms
    }

    /// Puts the whole tree into an empty session: messages, compactions, labels, the head; entries of other kinds stay
    /// beside them as `pi.<kind>`. Returns what has no place here. Dropping the future may leave a part behind.
    ///
    /// # Errors
    /// [`ExchangeError::Session`] where the session holds records already, or cannot be written.
    pub async fn import_into(&self, session: &Session) -> Result<Vec<Loss>, ExchangeError> {
        tree::import(self, session).await
    }
}
