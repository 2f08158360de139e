//! What becomes of reasoning in a later request: a pure function of the block, its origin and the target.

use agent_core::{Origin, ThinkingBlock};

use crate::{PROTOCOL, Profile};

/// What becomes of a thinking block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReasoningReplay {
    /// It goes back as `reasoning_content`.
    Verbatim,
    /// It is left out, and nobody misses it: the vendor does not want its own reasoning back.
    Silent,
    /// It is left out, and that is a loss: another model's, or one that only another can read.
    Lost,
}

/// What becomes of a block of this origin in a request to this provider and model.
///
/// ```
/// use agent_core::{Origin, ThinkingBlock};
/// use agent_openai::{PROTOCOL, Profile, ReasoningReplay, replay_of};
/// let origin = Origin::new(PROTOCOL, "deepseek", "deepseek-reasoner");
/// let profile = Profile::named("deepseek").ok_or("no such profile")?;
/// let block = ThinkingBlock::new("Hm.");
/// assert_eq!(replay_of(&block, &origin, &profile, "deepseek"), ReasoningReplay::Verbatim);
/// assert_eq!(replay_of(&block, &origin, &Profile::compatible(), "other"), ReasoningReplay::Lost);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn replay_of(block: &ThinkingBlock, answer: &Origin, profile: &Profile, provider: &str) -> ReasoningReplay {
    let origin = block.origin.as_ref().unwrap_or(answer);
    let ours = origin.protocol == PROTOCOL && origin.provider == provider;
    match (ours, profile.replays_reasoning) {
        (true, true) if block.encrypted.is_none() => ReasoningReplay::Verbatim,
        (true, _) => ReasoningReplay::Silent,
        (false, _) if block.text.trim().is_empty() && block.encrypted.is_none() => ReasoningReplay::Silent,
        (false, _) => ReasoningReplay::Lost,
    }
}

/// Whether a block that only its maker can read goes back to this target: to the same model of the same provider.
pub(crate) fn goes_back(origin: &Origin, target: &Origin) -> bool {
    let same = |a: &str, b: &str| a.is_empty() || bare(a) == bare(b);
    origin.protocol == target.protocol && origin.provider == target.provider && same(&origin.model, &target.model)
}

/// The name of a model without a variant (`:free`) and a date.
fn bare(model: &str) -> &str {
    let name = model.split(':').next().unwrap_or(model);
    let dated = |c: char| c.is_ascii_digit() || c == '-';
    let head = name.trim_end_matches(dated);
    let date = name.get(head.len()..).unwrap_or_default();
    let digits = date.bytes().filter(u8::is_ascii_digit).count();
    if digits == 8 && date.starts_with('-') { head } else { name }
}
