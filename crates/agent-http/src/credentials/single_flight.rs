//! One look-up for all who ask at the same time.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

use agent_core::{BoxFuture, Credential, CredentialSource, ProviderError, ProviderErrorKind};
use tokio::sync::Mutex;

use super::Fetch;

/// A [`CredentialSource`] that keeps what was looked up, and looks up again only for a credential that
/// was rejected.
///
/// Callers that ask at the same time share one look-up and its outcome, a failure too. Dropping the
/// future of the one who looks up ends the look-up, and another who waits begins it anew.
pub struct SingleFlight<F> {
    fetch: F,
    /// How many look-ups have ended.
    ended: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    current: Option<Credential>,
    /// How the last look-up ended, if not with a new credential.
    without: Option<Without>,
}

#[derive(Clone)]
enum Without {
    /// It found the same credential again.
    Change,
    /// It failed.
    Success { kind: ProviderErrorKind, message: String },
}

impl<F: Fetch> SingleFlight<F> {
    /// Shares what this looks up.
    pub fn new(fetch: F) -> Self {
        Self { fetch, ended: AtomicU64::new(0), state: Mutex::default() }
    }

    async fn current(&self) -> Result<Credential, ProviderError> {
        let seen = self.ended.load(Ordering::Acquire);
        let mut state = self.state.lock().await;
        if let Some(credential) = &state.current {
            return Ok(credential.clone());
        }
        if let Some(Without::Success { kind, message }) = self.outcome_since(seen, &state) {
            return Err(again(kind, &message));
        }
        self.look_up(&mut state).await
    }

    async fn instead_of(&self, rejected: &Credential) -> Result<Option<Credential>, ProviderError> {
        let seen = self.ended.load(Ordering::Acquire);
        let mut state = self.state.lock().await;
        if let Some(credential) = &state.current
            && !same(credential, rejected)
        {
            return Ok(Some(credential.clone()));
        }
        match self.outcome_since(seen, &state) {
            Some(Without::Change) => return Ok(None),
            Some(Without::Success { kind, message }) => return Err(again(kind, &message)),
            None => {}
        }
        let found = self.look_up(&mut state).await?;
        if same(&found, rejected) {
            state.without = Some(Without::Change);
            return Ok(None);
        }
        Ok(Some(found))
    }

    /// How a look-up ended that was not over when the caller began to wait.
    fn outcome_since(&self, seen: u64, state: &State) -> Option<Without> {
        let ended = self.ended.load(Ordering::Acquire);
        state.without.clone().filter(|_| ended != seen)
    }

    async fn look_up(&self, state: &mut State) -> Result<Credential, ProviderError> {
        // Dropped here, it leaves the state as it was.
        let result = self.fetch.fetch().await;
        state.without = None;
        match &result {
            Ok(credential) => state.current = Some(credential.clone()),
            Err(error) => {
                let (kind, message) = (error.kind(), error.message().to_owned());
                state.without = Some(Without::Success { kind, message });
            }
        }
        self.ended.fetch_add(1, Ordering::Release);
        result
    }
}

fn again(kind: ProviderErrorKind, message: &str) -> ProviderError {
    ProviderError::new(kind, message).with_billed(agent_core::Billed::No)
}

fn same(a: &Credential, b: &Credential) -> bool {
    match (a, b) {
        (Credential::Anonymous, Credential::Anonymous) => true,
        (Credential::ApiKey(a), Credential::ApiKey(b)) | (Credential::Bearer(a), Credential::Bearer(b)) => {
            a.expose() == b.expose()
        }
        (
            Credential::Signing { access_key_id: a, secret_key: b, session_token: c },
            Credential::Signing { access_key_id: x, secret_key: y, session_token: z },
        ) => {
            let token = |token: &Option<agent_core::Secret>| token.as_ref().map(|token| token.expose().to_owned());
            a == x && b.expose() == y.expose() && token(c) == token(z)
        }
        _ => false,
    }
}

impl<F: Fetch> CredentialSource for SingleFlight<F> {
    fn credential(&self) -> BoxFuture<'_, Result<Credential, ProviderError>> {
        Box::pin(self.current())
    }

    fn place(&self) -> Option<String> {
        self.fetch.place()
    }

    fn refresh<'a>(&'a self, rejected: &'a Credential) -> BoxFuture<'a, Result<Option<Credential>, ProviderError>> {
        Box::pin(self.instead_of(rejected))
    }
}

impl<F: fmt::Debug> fmt::Debug for SingleFlight<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SingleFlight").field("fetch", &self.fetch).finish_non_exhaustive()
    }
}
