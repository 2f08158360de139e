//! What the model is shown: the policy is asked, and its edits are made.

use agent_core::{AgentEvent, ContextPlan, ProviderError, RecordBody, ViewEdit};

use super::{ContextQuestion, Effect, Machine, Phase, turn::Purpose};

impl Machine {
    pub(super) fn context(&mut self) {
        if !self.setup.policy {
            return self.go(Phase::BeforeModel);
        }
        self.turn.tokens = self.estimate();
        if self.setup.counter {
            let call = self.model_call();
            self.wait_for(Effect::Count(Box::new(call)));
        } else {
            self.ask_policy();
        }
    }

    /// What the vendor said of the last call, and a token for about four bytes of what came since.
    fn estimate(&self) -> u64 {
        match &self.state.last {
            Some(last) => last.usage.total().saturating_add(last.bytes_since / 4),
            None => {
                let texts = self.state.view().messages().flat_map(|message| message.content());
                let bytes: usize = texts.filter_map(|block| block.as_text()).map(str::len).sum();
                u64::try_from(bytes / 4).unwrap_or(u64::MAX)
            }
        }
    }

    pub(super) fn counted(&mut self, counted: Result<u64, ProviderError>) {
        if let Ok(tokens) = counted {
            self.turn.tokens = tokens;
        }
        self.ask_policy();
    }

    fn ask_policy(&mut self) {
        let question = ContextQuestion {
            model: self.turn.model,
            view: self.state.view().clone(),
            tokens: self.turn.tokens,
            last_usage: self.state.last.map(|last| last.usage).unwrap_or_default(),
            overflowed: self.turn.overflowed,
        };
        self.wait_for(Effect::Context(Box::new(question)));
    }

    pub(super) fn planned(&mut self, plan: Result<ContextPlan, String>) {
        match plan {
            Ok(ContextPlan::Edits(edits)) if !edits.is_empty() => {
                self.edit_view(edits);
                // One plan is enough: a policy that wants more says so at the next turn.
                self.go(Phase::BeforeModel);
            }
            Ok(ContextPlan::Summarise { call, first, last }) => {
                self.turn.purpose = Purpose::Summary { call, first, last };
                self.go(Phase::Prepare);
            }
            Ok(_) => self.go(Phase::BeforeModel),
            Err(error) => {
                self.emit(AgentEvent::HookFailed { point: "context", error });
                self.go(Phase::BeforeModel);
            }
        }
    }

    /// Makes the edits of a policy that fit; the first that does not fit, and what follows it, is left out.
    pub(super) fn edit_view(&mut self, edits: Vec<ViewEdit>) {
        let mut view = self.state.view().clone();
        let before = view.len();
        for edit in edits {
            let applied = view.apply(&edit).map_err(|error| error.to_string());
            // A call needs something to answer, and so does the answer.
            let nothing = || Err("an edit hides everything".to_owned());
            if let Err(error) = applied.and_then(|()| if view.is_empty() { nothing() } else { Ok(()) }) {
                self.emit(AgentEvent::HookFailed { point: "context", error });
                break;
            }
            self.write(RecordBody::ViewEdited(edit));
        }
        self.emit(AgentEvent::ContextEdited { before, after: view.len() });
    }
}
