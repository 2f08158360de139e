//! What a conversation is: the fold of its records, and nothing else.

use std::collections::BTreeMap;

use agent_core::{
    CallId, CallStart, Chain, ContextView, JournalRecord, Message, Money, RecordBody, RunEnding, ToolIntent,
    ToolResultMessage, Transcript, Usage,
};

/// The state of a conversation; changes by [`State::apply`] only.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct State {
    pub(crate) transcript: Transcript,
    pub(crate) view: ContextView,
    pub(crate) spent: Money,
    pub(crate) usage: Usage,
    /// The chain of the last request that was sent, and how many tokens its prompt had.
    pub(crate) last: Option<(Chain, u64)>,
    /// A call that was started and not settled.
    pub(crate) open_call: Option<CallStart>,
    /// Tools that were intended and not settled.
    pub(crate) intents: BTreeMap<CallId, ToolIntent>,
    pub(crate) ending: Option<RunEnding>,
}

impl State {
    /// The state after these records.
    pub(crate) fn replay(records: &[JournalRecord]) -> Self {
        let mut state = Self::default();
        records.iter().for_each(|record| state.apply(record));
        state
    }

    pub(crate) fn apply(&mut self, record: &JournalRecord) {
        match &record.body {
            RecordBody::RunStarted => self.ending = None,
            RecordBody::MessageAppended(message) => self.append(message.clone()),
            RecordBody::CallStarted(start) => self.open_call = Some(start.clone()),
            RecordBody::CallSettled(end) => {
                let start = self.open_call.take().filter(|start| start.attempt == end.attempt);
                let chain = start.expect("a settle follows its start").chain.expect("the toy shows its chain");
                self.last = Some((chain, end.usage.prompt()));
                self.spent = self.spent.plus(end.cost.unwrap_or_default());
                self.usage += end.usage;
                if let Some(message) = &end.message {
                    self.append(message.clone());
                }
            }
            RecordBody::ToolIntents(intents) => {
                self.intents.extend(intents.iter().map(|intent| (intent.intent.call, intent.clone())));
            }
            RecordBody::ToolSettled { call, message, output } => {
                let intent = self.intents.remove(call).expect("a settle follows its intent");
                let mut result = ToolResultMessage::new(*message, *call, intent.intent.tool, output.content.clone());
                result.is_error = output.is_error;
                self.append(result.into());
            }
            RecordBody::ViewEdited(edit) => self.view.apply(edit).unwrap(),
            RecordBody::RunEnded(ending) => self.ending = Some(ending.clone()),
            other => panic!("the toy loop writes no {}", other.kind()),
        }
    }

    fn append(&mut self, message: Message) {
        self.transcript.append(message).unwrap();
        if self.transcript.open_turn().is_none() {
            self.view.catch_up(&self.transcript).unwrap();
        }
    }
}
