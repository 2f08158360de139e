//! Loop detection: the same calls over and over.

use agent_core::ChainHash;

use crate::LoopDetection;

/// The longest cycle that is looked for.
const LONGEST: usize = 8;

/// What the calls of an answer come to; the worst of them counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Fine,
    /// The model is told, and the calls run.
    Tell {
        call: ChainHash,
        at: usize,
        repetitions: u32,
    },
    /// The run ends, and none of the calls runs.
    Stop {
        at: usize,
        repetitions: u32,
    },
}

/// Judges the last `new` calls of `recent`. `at` in the verdict counts from the first of the new ones. `told` are the
/// calls because of which the model was told before.
pub(super) fn judge(recent: &[ChainHash], new: usize, told: &[ChainHash], settings: LoopDetection) -> Verdict {
    let repetitions = usize::try_from(settings.repetitions).unwrap_or(usize::MAX);
    let longest = usize::try_from(settings.period).unwrap_or(LONGEST).clamp(1, LONGEST);
    if repetitions < 2 {
        return Verdict::Fine;
    }
    let (mut from, mut told) = (0, told.to_vec());
    let mut verdict = Verdict::Fine;
    let first_new = recent.len().saturating_sub(new);
    for end in first_new..recent.len() {
        let window = recent.get(from..=end).unwrap_or_default();
        let Some(call) = (1..=longest).find_map(|period| cycle(window, period, repetitions)) else { continue };
        let at = end - first_new;
        if told.contains(&call) {
            return Verdict::Stop { at, repetitions: settings.repetitions };
        }
        verdict = Verdict::Tell { call, at, repetitions: settings.repetitions };
        told.push(call);
        from = end + 1;
    }
    verdict
}

/// The last call, where the end of the calls is so many repetitions of a cycle of this length.
fn cycle(calls: &[ChainHash], period: usize, repetitions: usize) -> Option<ChainHash> {
    let length = period.checked_mul(repetitions)?;
    let tail = calls.get(calls.len().checked_sub(length)?..)?;
    let repeats = tail.iter().zip(tail.iter().skip(period)).all(|(a, b)| a == b);
    tail.last().copied().filter(|_| repeats)
}
