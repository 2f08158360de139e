//! When a run is stopped, with its work kept.

/// Limits of one run. Each is a graceful stop: the history stays valid, and the next prompt goes on from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// How many answers of the model; `None` is no limit.
    pub turns: Option<u64>,
    /// How many tokens, counted as [`TokenCount`] says; `None` is no limit. Looked at after each answer, so that one
    /// answer can go beyond it; its tools do not run then.
    pub tokens: Option<u64>,
    /// What counts as tokens.
    pub count: TokenCount,
    /// How long, in milliseconds; `None` is no limit. It ends a stream, a tool and a wait too. A run that is resumed
    /// begins anew.
    pub wall_ms: Option<u64>,
    /// When the model is taken to go round in circles; `None` is off.
    pub loops: Option<LoopDetection>,
}

impl Default for Limits {
    fn default() -> Self {
        let loops = Some(LoopDetection::default());
        Self { turns: Some(100), tokens: None, count: TokenCount::Processed, wall_ms: None, loops }
    }
}

impl Limits {
    /// No limit at all, and no loop detection.
    pub const NONE: Self = Self { turns: None, tokens: None, count: TokenCount::Processed, wall_ms: None, loops: None };
}

/// What a limit of tokens counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum TokenCount {
    /// Everything that was processed: each call counts its whole prompt, cached or not, and its output.
    #[default]
    Processed,
    /// What the conversation grew by since the run's first call.
    Growth,
}

/// The same calls over and over.
///
/// A call is the same when its tool and its arguments are, in any order of keys. Calls are counted over batches and
/// turns. At first the model is told once; where it goes on, the run ends before the call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct LoopDetection {
    /// How often in a row; 0 and 1 switch detection off.
    pub repetitions: u32,
    /// The longest cycle that is looked for: 1 is the same call, 2 is a, b, a, b. At most 8.
    pub period: u32,
}

impl Default for LoopDetection {
    fn default() -> Self {
        Self { repetitions: 3, period: 1 }
    }
}
