//! Which blocks of the history may go back to a model as they are: a pure function of origin and target.

use agent_core::Origin;

/// Whether a block of this origin goes back to this target as it came: signed parts and parts of the vendor's tools.
///
/// It does where protocol, provider and model are the same; the Gemini API and Vertex do not read each other's
/// signatures. An origin without a model, as an application makes one for a block of its own, fits every model.
///
/// ```
/// use agent_core::Origin;
/// use agent_google::{PROTOCOL, replays_to};
/// let target = Origin::new(PROTOCOL, "google", "gemini-flash-latest");
/// assert!(replays_to(&Origin::new(PROTOCOL, "google", "gemini-3.8-flash"), &target));
/// assert!(!replays_to(&Origin::new(PROTOCOL, "google", "gemini-3.1-pro-preview"), &target));
/// assert!(!replays_to(&Origin::new(PROTOCOL, "vertex", "gemini-3.8-flash"), &target));
/// ```
pub fn replays_to(origin: &Origin, target: &Origin) -> bool {
    speaks_with(origin, target) && (origin.model.is_empty() || same_model(&origin.model, &target.model))
}

/// Whether two names are spellings of one model: with a path, a revision or a snapshot, or without.
///
/// An answer names the snapshot that answered, a request mostly the model or an alias: `gemini-flash-latest` is any
/// model of the family Flash, since only the vendor knows which.
pub fn same_model(a: &str, b: &str) -> bool {
    let (a, b) = (bare(a), bare(b));
    a == b || (is_alias(a) || is_alias(b)) && family(a).eq(family(b))
}

fn is_alias(name: &str) -> bool {
    name.ends_with("-latest")
}

/// The words of a name without version, stage and date.
fn family(name: &str) -> impl Iterator<Item = &str> {
    let counts =
        |word: &&str| !matches!(*word, "latest" | "preview" | "exp") && !word.starts_with(|c: char| c.is_ascii_digit());
    name.split('-').filter(counts)
}

/// The name without the path before it, a revision and the number of a snapshot.
pub(crate) fn bare(model: &str) -> &str {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.split('@').next().unwrap_or(name);
    match name.rsplit_once('-') {
        Some((head, number)) if number.len() == 3 && number.bytes().all(|c| c.is_ascii_digit()) => head,
        _ => name,
    }
}

/// Whether two origins are of one provider over one protocol.
pub(crate) fn speaks_with(a: &Origin, b: &Origin) -> bool {
    a.protocol == b.protocol && a.provider == b.provider
}
