//! What is assumed of a model that no facts are given for, as a table over families and versions.
//!
//! A catalogue knows better: [`AnthropicWire::model`](crate::AnthropicWire::model) takes its facts.

use agent_core::{Effort, ModelFacts};

use crate::replay::bare;

/// A quirk: the model thinks by a budget of tokens, not adaptively (before Claude 4.6).
pub const BUDGET_THINKING: &str = "budget-thinking";
/// A quirk: the model cannot be told not to think.
pub const ALWAYS_THINKS: &str = "always-thinks";
/// A quirk: the model refuses a request that forces a tool call.
pub const NO_FORCED_TOOL: &str = "no-forced-tool";

const FAMILIES: [&str; 5] = ["opus", "sonnet", "haiku", "fable", "mythos"];

#[derive(Clone, Copy)]
enum Trait {
    /// Has `output_config.format`.
    NativeOutput,
    /// Thinks adaptively, with steps of effort up to `max`.
    Adaptive,
    /// Has the step `xhigh`.
    XHigh,
    /// Refuses `temperature` and `top_p`.
    NoSampling,
    Quirk(&'static str),
    /// Window and longest answer, in tokens.
    Sizes(u64, u64),
}

/// Family (empty for all), first version that has the trait, trait; later rows win.
const TRAITS: [(&str, (u32, u32), Trait); 14] = [
    ("", (0, 0), Trait::Sizes(200_000, 8_192)),
    ("", (4, 0), Trait::Sizes(200_000, 32_000)),
    ("", (4, 5), Trait::NativeOutput),
    ("", (4, 6), Trait::Adaptive),
    ("", (4, 6), Trait::Sizes(1_000_000, 64_000)),
    ("", (4, 7), Trait::XHigh),
    ("opus", (4, 7), Trait::NoSampling),
    ("fable", (5, 1), Trait::Quirk(ALWAYS_THINKS)),
    ("fable", (5, 1), Trait::Quirk(NO_FORCED_TOOL)),
    ("mythos", (5, 1), Trait::Quirk(ALWAYS_THINKS)),
    ("mythos", (5, 1), Trait::Quirk(NO_FORCED_TOOL)),
    ("opus", (5, 5), Trait::Quirk(ALWAYS_THINKS)),
    ("opus", (5, 5), Trait::Quirk(NO_FORCED_TOOL)),
    ("sonnet", (5, 5), Trait::Quirk(ALWAYS_THINKS)),
];

/// The facts that a model's name tells. A name that cannot be read counts as a model of today without quirks.
///
/// ```
/// use agent_anthropic::{BUDGET_THINKING, facts_of};
/// assert!(facts_of("anthropic", "claude-haiku-4-5@20251001").quirks.iter().any(|q| q == BUDGET_THINKING));
/// assert!(facts_of("anthropic", "claude-sonnet-5").quirks.is_empty());
/// ```
pub fn facts_of(provider: &str, model: &str) -> ModelFacts {
    let mut facts = ModelFacts::new(provider, model);
    let (family, version) = read(model);
    let can = &mut facts.abilities;
    (can.images, can.documents, can.tool_images, can.reasoning) = (true, true, true, version >= (3, 7));
    facts.max_image_tokens = Some(5_000);
    facts.message_overhead = Some(16);
    facts.quirks = vec![BUDGET_THINKING.to_owned()];
    for (of, since, has) in TRAITS {
        if !(of.is_empty() || of == family) || version < since {
            continue;
        }
        match has {
            Trait::NativeOutput => facts.abilities.structured_output = true,
            Trait::Adaptive => {
                facts.quirks.retain(|quirk| quirk != BUDGET_THINKING);
                facts.efforts = vec![Effort::Low, Effort::Medium, Effort::High, Effort::Max];
            }
            Trait::XHigh => facts.efforts.insert(3, Effort::XHigh),
            Trait::NoSampling => facts.abilities.temperature = false,
            Trait::Quirk(quirk) => facts.quirks.push(quirk.to_owned()),
            Trait::Sizes(window, output) => {
                (facts.context_window, facts.max_output) = (Some(window), Some(output));
            }
        }
    }
    facts
}

/// Family and version: `claude-3-5-sonnet-20241022` is (sonnet, 3.5), `claude-opus-5` is (opus, 5.0).
fn read(model: &str) -> (&'static str, (u32, u32)) {
    let parts: Vec<&str> = bare(model).split(['-', '.']).collect();
    let family = FAMILIES.into_iter().find(|family| parts.contains(family)).unwrap_or("");
    // A date is never a version.
    let number = |part: &&str| part.parse::<u32>().ok().filter(|_| part.len() <= 2);
    let Some(at) = parts.iter().position(|part| number(part).is_some()) else {
        return (family, (u32::MAX, 0));
    };
    let at_place = |at: usize| parts.get(at).and_then(number);
    (family, (at_place(at).unwrap_or(u32::MAX), at_place(at + 1).unwrap_or(0)))
}
