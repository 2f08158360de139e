//! What is assumed of a model that no facts are given for, as a table over families and versions.
//!
//! A catalogue knows better: [`GoogleWire::model`](crate::GoogleWire::model) takes its facts.
//! The rules follow <https://ai.google.dev/gemini-api/docs/thinking> and <https://ai.google.dev/gemini-api/docs/models>.

use agent_core::{Effort, ModelFacts};

use crate::replay::bare;

/// A quirk: the model is of a generation before Gemini 3. It takes no media inside of results, no schema of the answer
/// together with functions, and does not check the signatures of calls.
pub const BEFORE_3: &str = "before-gemini-3";
/// A quirk: the model cannot be told not to think.
pub const ALWAYS_THINKS: &str = "always-thinks";

const ALL: [Effort; 4] = [Effort::Minimal, Effort::Low, Effort::Medium, Effort::High];

/// The facts that a model's name tells. A name that cannot be read counts as a model of today.
///
/// ```
/// use agent_core::Effort;
/// use agent_google::{BEFORE_3, facts_of};
/// assert!(facts_of("google", "gemini-2.5-flash").quirks.iter().any(|quirk| quirk == BEFORE_3));
/// assert_eq!(facts_of("google", "gemini-3.8-flash").efforts, [Effort::Low, Effort::Medium, Effort::High]);
/// ```
pub fn facts_of(provider: &str, model: &str) -> ModelFacts {
    let mut facts = ModelFacts::new(provider, model);
    let name = bare(model);
    let is = |part: &str| name.split(['-', '.']).any(|word| word == part);
    let version = version_of(name);
    let can = &mut facts.abilities;
    (can.images, can.documents, can.tool_images, can.structured_output) = (true, true, true, true);
    can.reasoning = version >= (2, 5) && !is("tts") && !is("live");
    facts.context_window = Some(1_048_576);
    facts.max_output = Some(if version >= (2, 5) { 65_536 } else { 8_192 });
    facts.quirks = quirks_of(model);
    if !facts.abilities.reasoning || version < (3, 0) || name == "gemini-flash-lite-latest" {
        return facts;
    }
    let minimal = is("lite") || (is("flash") && matches!(version, (3, 0 | 5 | 6)));
    facts.efforts = match () {
        () if is("image") && is("pro") => vec![Effort::High],
        () if is("image") => vec![Effort::Minimal, Effort::High],
        () if minimal => ALL.to_vec(),
        () => ALL.into_iter().skip(1).collect(),
    };
    facts
}

/// The quirks that a model's name tells; known whatever facts are given.
pub(crate) fn quirks_of(model: &str) -> Vec<String> {
    let name = bare(model);
    let version = version_of(name);
    let mut quirks = Vec::new();
    if version < (3, 0) {
        quirks.push(BEFORE_3.to_owned());
    }
    if version == (2, 5) && name.contains("pro") {
        quirks.push(ALWAYS_THINKS.to_owned());
    }
    quirks
}

/// The version: `gemini-2.5-pro` is 2.5, `gemini-3-flash-preview` 3.0; a name without one is newer than all.
fn version_of(name: &str) -> (u32, u32) {
    let newest = (u32::MAX, 0);
    let Some(word) = name.strip_prefix("gemini-").and_then(|rest| rest.split('-').next()) else { return newest };
    let (major, minor) = word.split_once('.').unwrap_or((word, "0"));
    match (major.parse(), minor.parse()) {
        (Ok(major), Ok(minor)) => (major, minor),
        _ => newest,
    }
}
