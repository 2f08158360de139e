//! What a tool call may do.

use serde::{Deserialize, Serialize};

use crate::macros::setters;

/// Whether calls may run beside each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Access {
    /// With all others.
    Shared,
    /// Not beside another call with the same key: a path, a host, a name.
    Exclusive(String),
}

/// Whether somebody has to agree before a call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Approval {
    /// Nobody, unless a hook asks.
    #[default]
    NotNeeded,
    /// Somebody, every time.
    Needed,
}

/// What to do after a crash with a call that had begun and not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Replay {
    /// Run it again with the same idempotency key: twice is as good as once.
    Rerun,
    /// Ask the tool whether it took effect.
    Verify,
    /// Resume the run that it is.
    Resume,
    /// Tell the model that it was interrupted and its outcome is unknown.
    #[default]
    AskModel,
}

/// What a tool call may do; it decides when it runs, who has to agree, and what a crash means.
///
/// ```
/// use agent_core::{Access, Effects, Replay};
/// let read = Effects::shared();
/// assert_eq!((read.access, read.replay), (Access::Shared, Replay::Rerun));
/// let write = Effects::exclusive("/tmp/a.txt").timeout_ms(5_000);
/// assert_eq!(write.replay, Replay::AskModel);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Effects {
    /// Whether it runs beside others.
    pub access: Access,
    /// Whether twice is as good as once.
    #[serde(default)]
    pub idempotent: bool,
    /// Whether it cannot be undone.
    #[serde(default)]
    pub irreversible: bool,
    /// Whether somebody has to agree.
    #[serde(default)]
    pub approval: Approval,
    /// How long it may take, in milliseconds; `None` is the loop's default, 0 is for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// What to do after a crash.
    #[serde(default)]
    pub replay: Replay,
    /// How many bytes of text the model is shown; `None` is the loop's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_cap: Option<u64>,
    /// Whether the run ends after it.
    #[serde(default)]
    pub ends_turn: bool,
}

impl Effects {
    /// A call that changes nothing: runs beside others, and again after a crash.
    pub fn shared() -> Self {
        Self { idempotent: true, replay: Replay::Rerun, ..Self::with(Access::Shared) }
    }

    /// A call that changes the thing with this key.
    pub fn exclusive(key: impl Into<String>) -> Self {
        Self::with(Access::Exclusive(key.into()))
    }

    fn with(access: Access) -> Self {
        let (approval, replay) = (Approval::default(), Replay::default());
        let (idempotent, irreversible, ends_turn) = (false, false, false);
        Self { access, idempotent, irreversible, approval, timeout_ms: None, replay, output_cap: None, ends_turn }
    }

    /// Says that twice is as good as once, so that a crash runs it again.
    #[must_use]
    pub fn idempotent(self) -> Self {
        Self { idempotent: true, replay: Replay::Rerun, ..self }
    }
}

setters!(Effects {
    /// Says that it cannot be undone.
    irreversible() => irreversible = true;
    /// Says that somebody has to agree.
    approval(approval: Approval) => approval = approval;
    /// Limits its time, in milliseconds; 0 is for ever.
    timeout_ms(ms: u64) => timeout_ms = Some(ms);
    /// Says what to do after a crash.
    replay(replay: Replay) => replay = replay;
    /// Limits what the model is shown, in bytes of text.
    output_cap(bytes: u64) => output_cap = Some(bytes);
    /// Says that the run ends after it.
    ends_turn() => ends_turn = true;
});
