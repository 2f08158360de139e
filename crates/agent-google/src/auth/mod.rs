//! Access tokens of Google Cloud: asked for when they are needed, refreshed before they expire, by one caller for all.

mod grant;
mod metadata;
#[cfg(feature = "service-account")]
mod rsa;
mod service_account;
mod token;
mod user;

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
    time::Duration,
};

use agent_core::{
    Billed, BoxFuture, Credential, CredentialSource, HttpClient, ProviderError, ProviderErrorKind, Timer,
};
use tokio::sync::Mutex as Flight;

#[cfg(feature = "service-account")]
pub use self::rsa::RsaSigner;
use self::token::Token;
pub use self::{
    grant::TokenGrant,
    metadata::MetadataServer,
    service_account::{ServiceAccount, Signer},
    user::AuthorizedUser,
};

/// How long a look-up may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a failed refresh is not tried again while the old token is good.
const PAUSE_MS: u64 = 10_000;

/// A [`CredentialSource`] of access tokens.
///
/// A token is refreshed some minutes before it expires. Callers that ask at the same time share one look-up and its
/// outcome, a failure too; while the old token is good nobody waits but the one who refreshes, and a failure is no
/// failure. Dropping the future of the one who looks up ends the look-up, and another who waits begins it anew.
///
/// ```
/// use std::sync::Arc;
/// use agent_core::CredentialSource;
/// use agent_google::{GoogleTokens, MetadataServer};
/// use agent_testkit::{HttpReply, PausedTimer, ScriptedHttp};
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let reply = r#"{"access_token":"ya29.x","expires_in":3599,"token_type":"Bearer"}"#;
/// let http = ScriptedHttp::new([HttpReply::new(http::StatusCode::OK).header("metadata-flavor", "Google").body([reply])]);
/// let tokens = GoogleTokens::new(MetadataServer::new(), http.client(), Arc::new(PausedTimer::at(0)));
/// assert_eq!(tokens.credential().await?.to_string(), "a bearer token");
/// assert_eq!(tokens.credential().await?.to_string(), "a bearer token");
/// assert_eq!(http.requests().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).map_err(|e| e.to_string())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GoogleTokens {
    grant: TokenGrant,
    http: HttpClient,
    timer: Arc<dyn Timer>,
    state: Mutex<State>,
    flight: Flight<()>,
}

#[derive(Default)]
struct State {
    current: Option<Token>,
    /// How many look-ups have ended.
    ended: u64,
    /// How the last one failed, if it did.
    failure: Option<(ProviderErrorKind, String)>,
}

impl GoogleTokens {
    /// Tokens by this grant, asked for over this client.
    pub fn new(grant: impl Into<TokenGrant>, http: HttpClient, timer: Arc<dyn Timer>) -> Self {
        Self { grant: grant.into(), http, timer, state: Mutex::default(), flight: Flight::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The token that is good now, and whether it is time for another.
    fn known(&self) -> (Option<Credential>, bool) {
        let now = self.timer.now_ms();
        let state = self.state();
        let good = state.current.as_ref().filter(|token| now < token.expires_ms);
        (good.map(Token::credential), good.is_none_or(|token| now >= token.refresh_ms))
    }

    async fn current(&self) -> Result<Credential, ProviderError> {
        let seen = self.state().ended;
        match self.known() {
            (Some(good), false) => Ok(good),
            (Some(good), true) => match self.flight.try_lock() {
                // Somebody refreshes already.
                Err(_) => Ok(good),
                Ok(_alone) => match self.known() {
                    // Somebody has just done so.
                    (Some(new), false) => Ok(new),
                    _ => Ok(self.renewed(good).await),
                },
            },
            (None, _) => {
                let _alone = self.flight.lock().await;
                if let (Some(good), _) = self.known() {
                    return Ok(good);
                }
                self.failure_since(seen)?;
                Ok(self.look_up().await?.credential())
            }
        }
    }

    /// A new token, or the old one while a new one is not to be had.
    async fn renewed(&self, good: Credential) -> Credential {
        match self.look_up().await {
            Ok(token) => token.credential(),
            Err(_) => {
                let again = self.timer.now_ms().saturating_add(PAUSE_MS);
                if let Some(token) = &mut self.state().current {
                    token.refresh_ms = again;
                }
                good
            }
        }
    }

    async fn instead_of(&self, rejected: &Credential) -> Result<Option<Credential>, ProviderError> {
        let seen = self.state().ended;
        let _alone = self.flight.lock().await;
        if let (Some(good), _) = self.known()
            && !same(&good, rejected)
        {
            return Ok(Some(good));
        }
        if self.state().ended != seen {
            // Somebody looked in the meantime, and found no other.
            self.failure_since(seen)?;
            return Ok(None);
        }
        let found = self.look_up().await?.credential();
        Ok(Some(found).filter(|found| !same(found, rejected)))
    }

    /// The failure of a look-up that was not over when the caller began to wait.
    fn failure_since(&self, seen: u64) -> Result<(), ProviderError> {
        let state = self.state();
        match &state.failure {
            Some((kind, message)) if state.ended != seen => {
                Err(ProviderError::new(*kind, message).with_billed(Billed::No))
            }
            _ => Ok(()),
        }
    }

    async fn look_up(&self) -> Result<Token, ProviderError> {
        let result = self.in_time(self.exchange()).await;
        let mut state = self.state();
        state.ended = state.ended.wrapping_add(1);
        match &result {
            Ok(token) => (state.current, state.failure) = (Some(token.clone()), None),
            Err(error) => state.failure = Some((error.kind(), error.message().to_owned())),
        }
        result
    }

    async fn exchange(&self) -> Result<Token, ProviderError> {
        let asked = self.timer.now_ms();
        let request = self.grant.request(asked)?;
        let response = self.http.send(request).await.map_err(|e| {
            let text = format!("{} cannot be reached", self.grant);
            ProviderError::new(ProviderErrorKind::Network, text).with_billed(Billed::No).with_source(e)
        })?;
        token::read(&self.grant, response, asked).await
    }

    async fn in_time<T>(&self, work: impl Future<Output = Result<T, ProviderError>>) -> Result<T, ProviderError> {
        let mut deadline = self.timer.sleep(PATIENCE);
        let mut work = pin!(work);
        poll_fn(|cx| match work.as_mut().poll(cx) {
            Poll::Ready(result) => Poll::Ready(result),
            Poll::Pending => deadline.as_mut().poll(cx).map(|()| {
                let text = format!("{} did not answer within {} s", self.grant, PATIENCE.as_secs());
                Err(ProviderError::new(ProviderErrorKind::Timeout, text).with_billed(Billed::No))
            }),
        })
        .await
    }
}

impl CredentialSource for GoogleTokens {
    fn credential(&self) -> BoxFuture<'_, Result<Credential, ProviderError>> {
        Box::pin(self.current())
    }

    fn refresh<'a>(&'a self, rejected: &'a Credential) -> BoxFuture<'a, Result<Option<Credential>, ProviderError>> {
        Box::pin(self.instead_of(rejected))
    }
}

impl fmt::Debug for GoogleTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GoogleTokens").field("grant", &self.grant).finish_non_exhaustive()
    }
}

fn same(a: &Credential, b: &Credential) -> bool {
    matches!((a, b), (Credential::Bearer(a), Credential::Bearer(b)) if a.expose() == b.expose())
}

fn failed(text: impl AsRef<str>) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Auth, text).with_billed(Billed::No)
}
