//! What a conversation was found with: what an earlier process left open, and what becomes of it.

use std::fmt;

use agent_core::{AttemptId, CallId, CallIntent, Money, Replay, RunId, ToolIntent};

use super::{Busy, Conversation};
use crate::{Queued, State, contain};

/// What an earlier process left open in a conversation, and what the next run does about it.
///
/// ```
/// use agent_core::{CallOptions, Journal, JournalRecord, RecordBody};
/// use agent_loop::{Agent, Conversation};
/// use agent_testkit::{MemoryJournal, PausedTimer, ScriptedProvider};
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let model = ScriptedProvider::new(["Hi"]);
/// let agent = Agent::builder(model, CallOptions::new("toy-1").max_output(100), PausedTimer::at(0)).build()?;
/// let conversation = Conversation::from_journal(&agent, std::sync::Arc::new(MemoryJournal::new())).await?;
/// assert!(conversation.recovery()?.is_clean());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).map_err(|e| e.to_string())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Recovery {
    /// How many messages the history has.
    pub messages: usize,
    /// The run that did not end; [`resume`](Conversation::resume) goes on with it.
    pub run: Option<RunId>,
    /// The model call whose end was lost.
    pub lost_call: Option<LostCall>,
    /// The tool calls that had begun and were not settled, in call order.
    pub interrupted: Vec<Interrupted>,
    /// The calls that somebody is asked about.
    pub approvals: Vec<CallIntent>,
    /// The calls that somebody has answered and that have not gone on since.
    pub answered: Vec<CallIntent>,
    /// What waits in the queues.
    pub queued: Vec<Queued>,
    /// What all calls count for, the lost one at its worst case: what a budget is opened with.
    pub spent: Money,
}

/// A model call whose end was lost: nobody knows whether it was billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostCall {
    /// The attempt.
    pub attempt: AttemptId,
    /// What was reserved for it, which counts as spent.
    pub reserved: Option<Money>,
}

/// A tool call that had begun and was not settled.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interrupted {
    /// The call.
    pub call: CallId,
    /// The tool.
    pub tool: String,
    /// The key by which the tool and its services recognise the call.
    pub idempotency_key: String,
    /// What becomes of it.
    pub recourse: Recourse,
}

/// What becomes of an interrupted tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recourse {
    /// It runs again, with the same key.
    Rerun,
    /// The tool is asked whether it took effect.
    Verify,
    /// The run that it is goes on.
    Resume,
    /// The model is told that its outcome is unknown.
    AskModel,
    /// The agent has no such tool any more: the model is told that its outcome is unknown.
    ToolGone,
    /// The tool has another version: the model is told that its outcome is unknown.
    ToolChanged,
}

impl Recovery {
    /// Whether nothing was left open.
    pub fn is_clean(&self) -> bool {
        self.run.is_none() && self.lost_call.is_none() && self.interrupted.is_empty() && self.queued.is_empty()
    }
}

impl Conversation {
    /// What an earlier process left open, as of now; to be asked behind [`from_journal`](Self::from_journal).
    ///
    /// # Errors
    /// [`Busy`] while a run is on.
    pub fn recovery(&self) -> Result<Recovery, Busy> {
        self.shared.with_state(|state| self.recovery_of(state)).ok_or(Busy)
    }

    fn recovery_of(&self, state: &State) -> Recovery {
        let interrupted = state.intents.values().map(|intent| Interrupted {
            call: intent.intent.call,
            tool: intent.intent.tool.clone(),
            idempotency_key: intent.idempotency_key.clone(),
            recourse: self.recourse(intent),
        });
        let mut interrupted: Vec<Interrupted> = interrupted.collect();
        interrupted.sort_by_key(|one| one.call);
        let asked = |answered: bool| {
            let asked =
                state.approvals.values().filter(move |asked| (asked.answer.is_some() || asked.expired) == answered);
            asked.map(|asked| asked.intent.clone()).collect()
        };
        Recovery {
            messages: state.transcript().messages().len(),
            run: state.run().filter(|run| run.is_unfinished()).map(|run| run.id),
            lost_call: state.open_call.as_ref().map(|call| LostCall { attempt: call.attempt, reserved: call.reserved }),
            interrupted,
            approvals: asked(false),
            answered: asked(true),
            queued: state.queued().to_vec(),
            spent: state.spent(),
        }
    }

    fn recourse(&self, intent: &ToolIntent) -> Recourse {
        let recourse = match intent.intent.effects.replay {
            Replay::Rerun => Recourse::Rerun,
            Replay::Verify => Recourse::Verify,
            Replay::Resume => Recourse::Resume,
            _ => return Recourse::AskModel,
        };
        match self.agent.0.tools.get(&intent.intent.tool) {
            None => Recourse::ToolGone,
            Some(offered) => match contain::call(|| offered.tool.version() == intent.tool_version) {
                Ok(true) => recourse,
                _ => Recourse::ToolChanged,
            },
        }
    }
}

/// For people, in one line.
impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} messages", self.messages)?;
        match &self.lost_call {
            Some(LostCall { reserved: Some(reserved), .. }) => {
                write!(f, "; a model call was lost, which counts as {reserved}")?;
            }
            Some(_) => f.write_str("; a model call was lost")?,
            None => {}
        }
        for Interrupted { tool, recourse, .. } in &self.interrupted {
            let what = match recourse {
                Recourse::Rerun => "runs again",
                Recourse::Verify => "is asked whether it took effect",
                Recourse::Resume => "goes on",
                Recourse::AskModel => "is not repeated: its outcome is unknown",
                Recourse::ToolGone => "is gone: its outcome is unknown",
                Recourse::ToolChanged => "has changed: its outcome is unknown",
            };
            write!(f, "; `{tool}` was interrupted and {what}")?;
        }
        for (calls, what) in [(&self.approvals, "waits for agreement"), (&self.answered, "was decided")] {
            for intent in calls {
                write!(f, "; `{}` {what}", intent.tool)?;
            }
        }
        if !self.queued.is_empty() {
            write!(f, "; {} inputs wait in queues", self.queued.len())?;
        }
        Ok(())
    }
}
