//! The one way in which a conversation changes.

use std::sync::Arc;

use agent_core::{
    CallEnd, CallId, ContentBlock, JournalRecord, Message, MessageId, RecordBody, ToolIntent, ToolOutput,
    ToolResultMessage, Usage,
};

use super::{Asked, LastCall, Queue, Queued, RunProgress, State, StateError};

/// The newest format that is read.
pub(crate) const VERSION: u32 = 0;

/// The messages that entered the history by a record, oldest first.
pub type Entered = Vec<Arc<Message>>;

impl State {
    /// Changes the state by a record that is acknowledged. Returns the messages that entered the history by it.
    ///
    /// # Errors
    /// [`StateError`] where the record does not follow from the ones before; the state may be changed in part then,
    /// and must not be used.
    pub fn apply(&mut self, record: JournalRecord) -> Result<Entered, StateError> {
        let JournalRecord { run, parent, body, .. } = record;
        match body {
            RecordBody::ConversationStarted { version } if version > VERSION => {
                return Err(StateError::Version { found: version, known: VERSION });
            }
            RecordBody::ConversationStarted { .. } => self.begun = true,
            RecordBody::RunStarted => {
                let first = self.transcript.messages().len();
                self.run = run.map(|id| RunProgress::new(id, parent, first));
            }
            RecordBody::MessageAppended(message) => {
                if let (Message::Note(note), Some(run)) = (&message, &mut self.run) {
                    run.noted(note);
                }
                return self.append("messageAppended", message);
            }
            RecordBody::CallStarted(start) => {
                self.open_call = Some(Box::new(start));
                self.go_on();
            }
            RecordBody::CallSettled(end) => return self.settle_call(end),
            RecordBody::ToolIntents(intents) => {
                for intent in intents {
                    self.approvals.remove(&intent.intent.call);
                    self.intents.insert(intent.intent.call, Box::new(intent));
                }
                self.go_on();
            }
            RecordBody::ToolSettled { call, message, output } => return self.settle_tool(call, message, output),
            RecordBody::ApprovalAsked(intent) => {
                self.approvals.insert(intent.call, Box::new(Asked { intent, answer: None, expired: false }));
            }
            RecordBody::ApprovalGiven { call, answer } => {
                self.asked("approvalGiven", call)?.answer = Some(answer);
            }
            RecordBody::ApprovalExpired { call } => self.asked("approvalExpired", call)?.expired = true,
            RecordBody::QueuePut { queue, message } => {
                let queued = Queued { queue: Queue::of(&queue), message };
                // The same id again is an edit, which keeps its place.
                match self.queue.iter_mut().find(|one| one.id() == queued.id()) {
                    Some(one) => *one = queued,
                    None => self.queue.push(queued),
                }
            }
            RecordBody::QueueTaken { message } => {
                let at = self.queue.iter().position(|one| one.id() == message);
                let at = at.ok_or_else(|| unmatched("queueTaken", message))?;
                self.queue.remove(at);
            }
            RecordBody::ViewEdited(edit) => {
                self.view.apply(&edit).map_err(|source| StateError::View { kind: "viewEdited", source })?;
            }
            RecordBody::RunEnded(ending) => {
                if let Some(run) = &mut self.run {
                    run.ending = Some(ending);
                }
            }
            // A store's own, or a newer version's.
            _ => {}
        }
        Ok(Vec::new())
    }

    fn append(&mut self, kind: &'static str, message: Message) -> Result<Entered, StateError> {
        let entered = self.transcript.append(message).map_err(|source| StateError::Transcript { kind, source })?;
        for message in &entered {
            let Message::Assistant(answer) = &**message else { continue };
            let ids = answer.tool_calls().filter_map(|(_, call)| call.vendor_id.clone());
            ids.for_each(|id| _ = Arc::make_mut(&mut self.vendor_ids).insert(id));
        }
        if let Some(last) = &mut self.last {
            let bytes = entered.iter().flat_map(|m| m.content()).map(content_bytes);
            last.bytes_since = bytes.fold(last.bytes_since, u64::saturating_add);
        }
        if self.transcript.open_turn().is_none() {
            self.view.catch_up(&self.transcript).map_err(|source| StateError::View { kind, source })?;
        }
        Ok(entered)
    }

    /// A run that had paused and does something is on again.
    fn go_on(&mut self) {
        if let Some(run) = &mut self.run {
            run.ending = None;
        }
    }

    fn settle_call(&mut self, end: CallEnd) -> Result<Entered, StateError> {
        let CallEnd { attempt, message, usage, cost, .. } = end;
        let start = self.open_call.take().filter(|start| start.attempt == attempt);
        let start = start.ok_or_else(|| unmatched("callSettled", attempt))?;
        let unpriced = cost.is_none() && usage != Usage::ZERO;
        self.settled = self.settled.plus(cost.unwrap_or_default());
        self.usage += usage;
        self.unpriced |= unpriced;
        if let Some(run) = &mut self.run {
            run.usage += usage;
            run.cost = run.cost.plus(cost.unwrap_or_default());
            run.unpriced |= unpriced;
            if let Some(Message::Assistant(answer)) = &message {
                run.first_prompt.get_or_insert(usage.prompt());
                run.last_total = usage.total();
                run.answered(answer);
            }
        }
        let Some(message) = message else { return Ok(Vec::new()) };
        let entered = self.append("callSettled", message)?;
        self.last = Some(LastCall { chain: start.chain, usage, bytes_since: 0 });
        Ok(entered)
    }

    fn settle_tool(&mut self, call: CallId, message: MessageId, output: ToolOutput) -> Result<Entered, StateError> {
        let name = self.call(call).map(|call| call.name.clone());
        let name = name.ok_or_else(|| unmatched("toolSettled", call))?;
        let intent: Option<Box<ToolIntent>> = self.intents.remove(&call);
        self.approvals.remove(&call);
        self.go_on();
        if let Some(run) = &mut self.run {
            run.ends |= intent.is_some_and(|intent| intent.intent.effects.ends_turn) && !output.is_error;
        }
        let mut result = ToolResultMessage::new(message, call, name, output.content);
        (result.is_error, result.details) = (output.is_error, output.details);
        self.append("toolSettled", result.into())
    }

    fn asked(&mut self, kind: &'static str, call: CallId) -> Result<&mut Asked, StateError> {
        self.approvals.get_mut(&call).map(|asked| &mut **asked).ok_or_else(|| unmatched(kind, call))
    }
}

fn unmatched(kind: &'static str, what: impl ToString) -> StateError {
    StateError::Unmatched { kind, what: what.to_string() }
}

/// How long a block is, roughly, as far as it becomes tokens.
fn content_bytes(block: &ContentBlock) -> u64 {
    let length = match block {
        ContentBlock::Text(text) => text.text.len(),
        ContentBlock::Thinking(thinking) => thinking.text.len(),
        ContentBlock::ToolCall(call) => call.name.len() + call.arguments.text().len(),
        // Images and documents are not text: about what vendors charge for a picture.
        _ => 4 * 1_500,
    };
    u64::try_from(length).unwrap_or(u64::MAX)
}
