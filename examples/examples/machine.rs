//! The machine under a run, stepped by hand: it says what is to be done, and is told what came of it.
//!
//! `cargo run -q -p mainspring-examples --example machine`
#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::{error::Error, sync::Arc};

use agent_core::{
    Arguments, AssistantMessage, CallOptions, ContentBlock, Effects, IdSource, ModelFacts, PieceCache, RawJson,
    StopReason, TokenBound, ToolCall, ToolOutcome, ToolSet, ToolSpec, Usage, UserMessage,
};
use agent_loop::{Begin, CallOutcome, Effect, Input, Judgement, Machine, MachineSetup, PreparedFacts, State, Step};

fn main() -> Result<(), Box<dyn Error>> {
    let mut setup = MachineSetup::new(CallOptions::new("toy-1").max_output(100), ModelFacts::new("toy", "toy-1"));
    let clock = ToolSpec::new("clock", "Tells the time.", RawJson::parse(r#"{"type":"object"}"#)?)?;
    setup.tools = ToolSet::new(vec![clock])?;
    let mut ids = IdSource::seeded(1);
    let begin = Begin::Prompt(vec![UserMessage::text(ids.message(0), "What time is it?").into()]);
    let mut machine = Machine::new(Arc::new(setup), State::default(), begin, ids, PieceCache::new(), None, 0);

    // No runtime, no clock, no network: the same inputs give the same steps, always.
    let mut turn = 0;
    loop {
        match machine.next() {
            Step::Emit(event) => println!("      tell      {}", word(&event)),
            Step::Start(id, effect) => {
                println!("do    {}", word(&effect));
                let input = obey(effect, &mut turn);
                machine.handle(0, id, input);
            }
            Step::Done(report) => {
                println!("done  {:?}: {}", report.ending, report.final_text());
                return Ok(());
            }
            other => println!("      {other:?}"),
        }
    }
}

/// Does what the machine wants, or says that it was done.
fn obey(effect: Effect, turn: &mut u32) -> Input {
    match effect {
        // Written before anything that follows from it: a crash loses nothing.
        Effect::Append(records) => {
            records.iter().for_each(|record| println!("          write {}", record.body.kind()));
            Input::Appended(Ok(()))
        }
        Effect::Prepare { .. } => Input::Prepared(Ok(Box::new(PreparedFacts::new(TokenBound::AtMost(50), Some(100))))),
        Effect::Send { message, .. } => {
            *turn += 1;
            let clock = || ContentBlock::from(ToolCall::new("clock", Arguments::empty()));
            let (content, stop) = match turn {
                1 => (vec![clock()], StopReason::ToolUse),
                _ => (vec!["It is noon.".into()], StopReason::EndTurn),
            };
            let answer = AssistantMessage::new(message, content, stop);
            Input::CallEnded(Box::new(CallOutcome::answered(answer, Usage::new(40, 5))))
        }
        Effect::Judge(call) => {
            let (arguments, effects) = (call.arguments, Effects::shared());
            let (coercions, version) = (Vec::new(), "1".to_owned());
            Input::Judged(Box::new(Judgement::Run {
                arguments,
                coercions,
                effects,
                version,
                modified: false,
                ask: None,
            }))
        }
        Effect::Tool(_) => Input::ToolEnded(ToolOutcome::Output("noon".into())),
        _ => Input::Slept,
    }
}

/// The name of a variant.
fn word(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    text.split(['(', ' ', '{']).next().unwrap_or_default().to_owned()
}
