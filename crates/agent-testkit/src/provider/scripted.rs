//! A provider that plays a script.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agent_core::{Billed, BoxFuture, ModelCall, Origin, Prepared, Provider, ProviderError, ProviderErrorKind};

use super::{Double, Reply, Sent};

/// A [`Provider`] that plays one [`Reply`] after the other, one for each send; a clone is the same
/// provider.
///
/// Its requests are real segments, so that chain, cache guard and budget work. It refuses what a
/// real API would refuse ([`refusal`](crate::refusal())): with an error of kind `InvalidRequest`,
/// status 400, not billed, and without using up a reply. Ids of responses and calls are made of the
/// request, so that they are unique in a conversation and the same in every run.
///
/// See the example at the [crate](crate).
#[derive(Debug, Clone)]
pub struct ScriptedProvider {
    double: Arc<Double>,
    script: Arc<Script>,
}

#[derive(Debug, Default)]
struct Script {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    replies: VecDeque<Reply>,
    played: usize,
    prepare_errors: VecDeque<ProviderError>,
}

impl Script {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Result<Reply, ProviderError> {
        let mut state = self.lock();
        let reply = state.replies.pop_front().ok_or_else(|| {
            let message = format!("the script is over after {} replies; push another", state.played);
            ProviderError::new(ProviderErrorKind::Other, message).with_billed(Billed::No)
        })?;
        state.played += 1;
        Ok(reply)
    }
}

impl ScriptedProvider {
    /// A provider with this script: protocol `toy`, provider `toy`.
    pub fn new(replies: impl IntoIterator<Item = impl Into<Reply>>) -> Self {
        Self::named("toy", "toy", replies)
    }

    /// A provider with another origin, for tests with several.
    pub fn named(
        protocol: impl Into<String>,
        provider: impl Into<String>,
        replies: impl IntoIterator<Item = impl Into<Reply>>,
    ) -> Self {
        let script = Arc::new(Script::default());
        script.lock().replies.extend(replies.into_iter().map(Into::into));
        let played = script.clone();
        let double =
            Double { protocol: protocol.into(), provider: provider.into(), ..Double::new(move |_| played.next()) };
        Self { double: Arc::new(double), script }
    }

    /// Adds a reply to the end of the script.
    pub fn push(&self, reply: impl Into<Reply>) {
        self.script.lock().replies.push_back(reply.into());
    }

    /// Lets one prepare fail; several calls line up.
    pub fn fail_prepare(&self, error: ProviderError) {
        self.script.lock().prepare_errors.push_back(error);
    }

    /// Keeps a file: a conversation may name it from now on.
    pub fn keep_file(&self, id: impl Into<String>) {
        self.double.seen().files.push(id.into());
    }

    /// The calls that were prepared, oldest first.
    pub fn calls(&self) -> Vec<ModelCall> {
        self.double.seen().calls.clone()
    }

    /// The requests that were sent, oldest first.
    pub fn sent(&self) -> Vec<Sent> {
        self.double.seen().sent.clone()
    }

    /// How many replies were not played yet.
    pub fn remaining(&self) -> usize {
        self.script.lock().replies.len()
    }
}

impl Provider for ScriptedProvider {
    fn origin(&self, model: &str) -> Origin {
        self.double.origin(model)
    }

    fn prepare(&self, call: ModelCall) -> BoxFuture<'_, Result<Prepared, ProviderError>> {
        Box::pin(async move {
            let failed = self.script.lock().prepare_errors.pop_front();
            failed.map_or_else(|| self.double.prepare(call), Err)
        })
    }
}
