//! How much the model thinks: by effort or by a budget of tokens
//! (<https://docs.claude.com/en/docs/build-with-claude/adaptive-thinking>,
//! <https://docs.claude.com/en/docs/build-with-claude/extended-thinking>).

use agent_core::{CallOptions, Effort, Loss, ModelFacts, Reasoning};

use crate::models::{ALWAYS_THINKS, BUDGET_THINKING};

/// The least budget that the vendor takes, and what is kept for the answer beside one.
const LEAST_BUDGET: u64 = 1_024;
/// The longest answer where neither the call nor the facts say one.
const DEFAULT_OUTPUT: u64 = 8_192;

/// What a request says about thinking and length.
pub(super) struct Thinking {
    /// The value of `thinking`.
    pub(super) field: Option<String>,
    /// The value of `output_config.effort`.
    pub(super) effort: Option<&'static str>,
    /// Whether the model was told to think.
    pub(super) on: bool,
    pub(super) max_tokens: u64,
}

/// The steps of effort, each with its name and with the budget that stands for it on models that think by budget.
fn step(effort: Effort) -> (&'static str, u64) {
    match effort {
        Effort::Minimal => ("low", 1_024),
        Effort::Low => ("low", 2_048),
        Effort::Medium => ("medium", 4_096),
        Effort::High => ("high", 8_192),
        Effort::XHigh => ("xhigh", 16_384),
        _ => ("max", 30_720),
    }
}

impl Thinking {
    pub(super) fn of(options: &CallOptions, facts: &ModelFacts, cap: Option<u64>, losses: &mut Vec<Loss>) -> Self {
        let asked = options.max_output.map(|tokens| cap.map_or(tokens, |cap| tokens.min(cap)));
        let max_tokens = asked.or(facts.max_output).unwrap_or(DEFAULT_OUTPUT);
        let quirk = |name: &str| facts.quirks.iter().any(|quirk| quirk == name);
        let mut lost = |what: String| losses.push(Loss::option(what));
        let none = Self { field: None, effort: None, on: false, max_tokens };
        if !facts.abilities.reasoning && !matches!(options.reasoning, Reasoning::Default | Reasoning::Off) {
            lost("reasoning: the model does not think; it is left out".to_owned());
            return none;
        }
        match options.reasoning {
            Reasoning::Off if quirk(ALWAYS_THINKS) => {
                lost("reasoning: the model thinks always; it cannot be switched off".to_owned());
                none
            }
            Reasoning::Off if !facts.abilities.reasoning => none,
            Reasoning::Off => Self { field: Some(r#"{"type":"disabled"}"#.to_owned()), ..none },
            Reasoning::Effort(effort) if quirk(BUDGET_THINKING) => budget(step(effort).1, asked, none, &mut lost),
            Reasoning::Budget(tokens) if quirk(BUDGET_THINKING) => budget(tokens, asked, none, &mut lost),
            Reasoning::Effort(effort) => adaptive(effort, facts, none, &mut lost),
            Reasoning::Budget(tokens) => {
                let steps = [Effort::Low, Effort::Medium, Effort::High, Effort::XHigh];
                let nearest = steps.into_iter().find(|effort| tokens <= step(*effort).1).unwrap_or(Effort::Max);
                lost(format!("reasoning: the model has no budget; {tokens} tokens became the effort of about as many"));
                adaptive(nearest, facts, none, &mut lost)
            }
            _ => none,
        }
    }
}

fn adaptive(effort: Effort, facts: &ModelFacts, none: Thinking, lost: &mut impl FnMut(String)) -> Thinking {
    let nearest = facts.nearest_effort(effort).map(|nearest| step(nearest).0);
    match nearest {
        None => lost("reasoning: the model has no steps of effort; it thinks as much as it likes".to_owned()),
        Some(name) if name != step(effort).0 => {
            lost(format!("reasoning: the model has no effort `{}`; `{name}` is sent", step(effort).0));
        }
        Some(_) => {}
    }
    Thinking { field: Some(r#"{"type":"adaptive"}"#.to_owned()), effort: nearest, on: true, ..none }
}

/// A budget has to be at least 1,024 tokens and leave room for the answer: a limit that the caller set is kept, and
/// the budget gives way.
fn budget(tokens: u64, asked: Option<u64>, none: Thinking, lost: &mut impl FnMut(String)) -> Thinking {
    let wanted = tokens.max(LEAST_BUDGET);
    let (tokens, max_tokens) = match asked {
        None => (wanted, none.max_tokens.max(wanted.saturating_add(LEAST_BUDGET))),
        Some(limit) if limit < 2 * LEAST_BUDGET => {
            lost(format!("reasoning: {limit} tokens of output leave no room to think; it is left out"));
            return none;
        }
        Some(limit) => (wanted.min(limit - LEAST_BUDGET), limit),
    };
    if tokens < wanted {
        lost(format!("reasoning: the budget of {wanted} tokens became {tokens}, to leave room for the answer"));
    }
    let field = format!(r#"{{"type":"enabled","budget_tokens":{tokens}}}"#);
    Thinking { field: Some(field), on: true, max_tokens, ..none }
}
