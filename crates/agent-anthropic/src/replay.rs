//! Which blocks of the history may go back to a model as they are: a pure function of origin and target.

use agent_core::Origin;

/// Whether a block of this origin goes back to this target byte for byte: signed and redacted thinking, and blocks of
/// server tools.
///
/// It does where protocol, provider and model are the same. Two spellings of one model are the same model (see
/// [`same_model`]); an origin without a model, as an application makes one for a block of its own, fits every model.
///
/// ```
/// use agent_anthropic::{PROTOCOL, replays_to};
/// use agent_core::Origin;
/// let target = Origin::new(PROTOCOL, "anthropic", "claude-haiku-4-5");
/// assert!(replays_to(&Origin::new(PROTOCOL, "anthropic", "claude-haiku-4-5-20251001"), &target));
/// assert!(!replays_to(&Origin::new(PROTOCOL, "anthropic", "claude-opus-5"), &target));
/// assert!(!replays_to(&Origin::new("openai-responses", "openai", "gpt-6-sol"), &target));
/// ```
pub fn replays_to(origin: &Origin, target: &Origin) -> bool {
    speaks_with(origin, target) && (origin.model.is_empty() || same_model(&origin.model, &target.model))
}

/// Whether two names are spellings of one model: with a date or without, with a window or a prefix of a gateway.
///
/// A vendor's answer names the snapshot that answered (`claude-haiku-4-5-20251001`), a request mostly the model
/// (`claude-haiku-4-5`).
pub fn same_model(a: &str, b: &str) -> bool {
    bare(a) == bare(b)
}

/// The name without a gateway's prefix, a date, a revision or a window.
pub(crate) fn bare(model: &str) -> &str {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.split(['@', '[', ':']).next().unwrap_or(name);
    let name = name.rsplit_once("anthropic.").map_or(name, |(_, name)| name);
    let name = name.strip_suffix("-v1").unwrap_or(name);
    let name = name.strip_suffix("-latest").unwrap_or(name);
    match name.rsplit_once('-') {
        Some((head, date)) if date.len() == 8 && date.bytes().all(|c| c.is_ascii_digit()) => head,
        _ => name,
    }
}

/// Whether two origins are of one provider over one protocol.
pub(crate) fn speaks_with(a: &Origin, b: &Origin) -> bool {
    a.protocol == b.protocol && a.provider == b.provider
}
