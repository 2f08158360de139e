//! The seam to a model: prepare a request, look at it, then send it.

mod tower;

use std::{borrow::Cow, fmt, sync::Arc};

pub use self::tower::{ForeignProvider, ForeignService, ProviderService};
use crate::macros::{getters, setters};
use crate::{BoxFuture, CancelToken, Chain, Log, MessageId, ModelCall, ModelStream, Origin, ProviderError};
use crate::{Segments, TokenBound};

/// What sending resolves to.
type Sending = BoxFuture<'static, Result<ModelStream, ProviderError>>;

/// A model somewhere.
///
/// `prepare` turns a call into an immutable request without sending anything; the cache guard and
/// the budget look at it; [`Prepared::send`] sends it, as often as it has to be tried.
///
/// ```
/// use agent_core::{CallOptions, CancelToken, ContextView, IdSource, Message, ModelCall, Provider, Transcript, UserMessage};
/// use agent_testkit::{Reply, ScriptedProvider};
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let mut transcript = Transcript::new();
/// transcript.append(Message::from(UserMessage::text(IdSource::seeded(1).message(0), "Hi")))?;
/// let model = ScriptedProvider::new([Reply::text("Hello!")]);
/// let call = ModelCall::new(CallOptions::new("toy-1").max_output(100), ContextView::of(&transcript)?);
///
/// let prepared = model.prepare(call).await?;
/// assert!(prepared.chain().is_some() && model.sent().is_empty(), "nothing is sent yet");
/// let mut stream = prepared.send(CancelToken::new()).await?;
/// while let Some(event) = stream.next().await {
///     println!("{:?}", event?);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).map_err(|e| e.to_string())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Provider: Send + Sync {
    /// Who answers calls of this model: protocol and provider, for logs, errors and the origin of
    /// reasoning.
    fn origin(&self, model: &str) -> Origin;

    /// Makes a request of a call. Nothing is sent; dropping the future leaves nothing behind.
    ///
    /// # Errors
    /// [`ProviderError`] where the wire cannot carry the call.
    fn prepare(&self, call: ModelCall) -> BoxFuture<'_, Result<Prepared, ProviderError>>;
}

/// What a provider does to send one of its requests.
pub trait SendPrepared: Send + Sync {
    /// Sends the request with these segments; see [`Prepared::send`].
    fn send(&self, segments: Option<&Segments>, cancel: CancelToken) -> Sending;
}

/// An immutable request: what it consists of, what it costs at most, and what was lost on the way.
///
/// A clone is O(1). It can be sent several times: each time is one attempt and may be billed.
#[derive(Clone)]
pub struct Prepared {
    segments: Option<Segments>,
    input_bound: TokenBound,
    max_output: Option<u64>,
    losses: Losses,
    sender: Arc<dyn SendPrepared>,
}

impl Prepared {
    /// A request of segments, whose input is bounded by them.
    pub fn new(segments: Segments, sender: Arc<dyn SendPrepared>) -> Self {
        let unguarded = Self::unguarded(segments.bound(), sender);
        Self { segments: Some(segments), ..unguarded }
    }

    /// A request that cannot be looked into: no cache guard, and an input bound by somebody's word.
    pub fn unguarded(input_bound: TokenBound, sender: Arc<dyn SendPrepared>) -> Self {
        Self { segments: None, input_bound, max_output: None, losses: Losses::default(), sender }
    }

    /// Adds what the vendor adds to the input, such as a few tokens for each message.
    #[must_use]
    pub fn overhead(mut self, bound: TokenBound) -> Self {
        self.input_bound = self.input_bound.plus(bound);
        self
    }

    /// Sends the request once. Resolves when the vendor has accepted it.
    ///
    /// The only resends inside are those of which provably nothing was billed: a connection that was
    /// not made, and one with fresh credentials after a 401. Cancelling, and dropping the future or
    /// the stream, ends the call.
    ///
    /// # Errors
    /// [`ProviderError`], which says whether the call can have been billed.
    pub fn send(&self, cancel: CancelToken) -> BoxFuture<'static, Result<ModelStream, ProviderError>> {
        self.sender.send(self.segments.as_ref(), cancel)
    }
}

setters!(Prepared {
    /// Says how many tokens the vendor will generate at most; not said where it ignores limits.
    max_output(tokens: u64) => max_output = Some(tokens);
    /// Says what the vendor cannot carry.
    losses(losses: Losses) => losses = losses;
});

getters!(Prepared {
    /// The body in pieces; `None` where the provider cannot show it.
    segments -> Option<&Segments> = |this| this.segments.as_ref();
    /// The hash chain of the body; `None` where the provider cannot show it, and no guard can work.
    chain -> Option<&Chain> = |this| this.segments.as_ref().map(Segments::chain);
    /// How many input tokens it can cost at most.
    input_bound -> TokenBound = |this| this.input_bound;
    /// How many tokens can be generated at most; `None` where nothing limits them.
    output_bound -> Option<u64> = |this| this.max_output;
    /// What the vendor cannot carry.
    lost -> &Losses = |this| &this.losses;
});

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { input_bound: bound, max_output, losses, .. } = self;
        let chain = self.chain();
        write!(f, "Prepared {{ chain: {chain:?}, bound: {bound:?}, max_output: {max_output:?}, losses: {losses:?} }}")
    }
}

/// What of a call the vendor cannot carry.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Losses {
    /// Of its options, tools and schemas.
    pub options: Vec<Loss>,
    /// Of its messages, oldest first; shared with the requests before.
    pub messages: Log<Loss>,
}

impl Losses {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Loss> {
        self.options.iter().chain(self.messages.iter())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.options.len() + self.messages.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Something of a call that the vendor cannot carry and that was left out or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// The message that it stood in; `None` for an option.
    pub message: Option<MessageId>,
    /// What was lost, and what was sent instead if anything was.
    pub what: Cow<'static, str>,
}

impl Loss {
    /// An option that was lost.
    pub fn option(what: impl Into<Cow<'static, str>>) -> Self {
        Self { message: None, what: what.into() }
    }

    /// Something of a message that was lost.
    pub fn message(message: MessageId, what: impl Into<Cow<'static, str>>) -> Self {
        Self { message: Some(message), what: what.into() }
    }
}
