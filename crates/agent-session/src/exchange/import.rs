//! A history of others in a session, and the names of calls on the way out.

use std::collections::HashMap;

use agent_core::{CallId, IdSource, JournalRecord, Message, RecordBody, Repair, ToolCall, Transcript};

use super::{ExchangeError, ExportFormat, Exported, anthropic_messages, markdown, openai_messages};
use crate::{Session, SessionError};

/// The version of the records that an import writes.
const CONVERSATION: u32 = 0;

/// The names of calls for others: the vendor's where they fit, else ours. No name is given twice.
#[derive(Debug, Default)]
pub(super) struct CallNames {
    names: HashMap<CallId, String>,
    taken: std::collections::HashSet<String>,
}

impl CallNames {
    /// The name of a call, on the way to its result.
    pub(super) fn name(&mut self, id: CallId, call: &ToolCall) -> String {
        let fits = |name: &&String| {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            !name.is_empty() && name.len() <= 64 && name.chars().all(plain) && !self.taken.contains(*name)
        };
        let name = call.vendor_id.as_ref().filter(fits).cloned().unwrap_or_else(|| id.to_string());
        self.taken.insert(name.clone());
        self.names.insert(id, name.clone());
        name
    }

    pub(super) fn of(&self, id: CallId) -> String {
        self.names.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }
}

/// The record that a conversation begins with.
pub(super) fn started() -> JournalRecord {
    JournalRecord::conversation(RecordBody::ConversationStarted { version: CONVERSATION })
}

impl Session {
    /// Puts a history of others behind the head, repaired where it is none that an API would take: calls without
    /// results are answered, results without calls dropped. Returns what was repaired. Dropping the future may leave a
    /// part of the messages behind.
    ///
    /// ```
    /// use agent_session::{MemorySessions, SessionStore, read_openai_messages};
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let text = r#"[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi"}]"#;
    /// let foreign = read_openai_messages(text, &mut agent_core::IdSource::from_hash_keys())?;
    /// let session = MemorySessions::new().create().await?;
    /// assert!(session.import(foreign.messages).await?.is_empty());
    /// assert_eq!(session.export(agent_session::ExportFormat::OpenAi).await?.text, text);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).map_err(|e| e.to_string())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SessionError`] where it cannot be written.
    pub async fn import(&self, messages: impl IntoIterator<Item = Message>) -> Result<Vec<Repair>, SessionError> {
        let (mut ids, now_ms) = (IdSource::from_hash_keys(), self.now_ms());
        let (transcript, repairs) = Transcript::load(messages, &mut ids, now_ms);
        let begun = self.head().is_some();
        let messages = transcript.messages().iter().map(|message| Message::clone(message));
        let records = messages.map(|message| JournalRecord::conversation(RecordBody::MessageAppended(message)));
        let records: Vec<_> = (!begun).then(started).into_iter().chain(records).collect();
        for page in records.chunks(super::PAGE) {
            self.append(page.to_vec()).await?;
        }
        Ok(repairs)
    }

    /// Writes the session in another format: the current path, or all of it as a page. Dropping the future changes
    /// nothing.
    ///
    /// # Errors
    /// [`ExchangeError`] where something cannot be read.
    pub async fn export(&self, format: ExportFormat) -> Result<Exported, ExchangeError> {
        if format == ExportFormat::Html {
            return Ok(Exported { text: self.page().await?, losses: Vec::new() });
        }
        let transcript = match self.head() {
            Some(head) => self.view(head).await?.0,
            None => Transcript::new(),
        };
        let messages = transcript.messages().iter().map(|message| &**message);
        match format {
            ExportFormat::OpenAi => openai_messages(messages),
            ExportFormat::Anthropic => anthropic_messages(messages),
            _ => Ok(Exported { text: markdown(self.header(), messages), losses: Vec::new() }),
        }
    }
}
