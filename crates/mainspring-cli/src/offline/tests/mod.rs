//! The offline model on real folders, through a real agent with the real tools.
#![expect(clippy::disallowed_methods, reason = "real files")]

mod asks;
mod files;
mod lines;
mod outline;
mod random;
mod talk;
mod tree;

use std::{path::Path, sync::Arc};

use agent_core::{AgentEvent, CallOptions, Tool};
use agent_http::TokioTimer;
use agent_loop::{Agent, Conversation, Ending, RunSettings};
use agent_tools::Workspace;

use super::{MODEL, Offline};

/// An answer, and the tool calls that led to it.
#[derive(Debug)]
struct Answer {
    text: String,
    calls: Vec<String>,
    events: Vec<AgentEvent>,
}

/// An agent with some of the tools, of whose results it sees at most so many bytes.
fn agent(folder: &Path, offered: &[&str], cap: Option<u64>) -> Agent {
    let workspace = Workspace::new(folder).unwrap();
    let mut agent = Agent::builder(Offline::new(), CallOptions::new(MODEL), TokioTimer::new());
    let mut tools: Vec<Arc<dyn Tool>> = agent_tools::all(&workspace).unwrap();
    tools.retain(|tool| offered.contains(&tool.spec().name()));
    for tool in tools {
        agent = agent.shared_tool(tool);
    }
    let mut settings = RunSettings::default();
    settings.output_cap = cap.unwrap_or(settings.output_cap);
    agent.settings(settings).build().unwrap()
}

/// The answers of one conversation.
fn talk(folder: &Path, offered: &[&str], prompts: &[&str]) -> Vec<Answer> {
    talk_with(&agent(folder, offered, None), prompts)
}

fn talk_with(agent: &Agent, prompts: &[&str]) -> Vec<Answer> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let conversation = Conversation::new(agent);
        let mut answers = Vec::new();
        for prompt in prompts {
            let (events, report) = conversation.run(*prompt).unwrap().collect().await;
            assert!(matches!(report.ending, Ending::Completed), "{prompt}: {:?}", report.ending);
            let calls = events.iter().filter_map(|event| match event {
                AgentEvent::ToolStart { name, arguments, .. } => Some(format!("{name} {}", arguments.get())),
                _ => None,
            });
            answers.push(Answer { text: report.final_text(), calls: calls.collect(), events });
        }
        answers
    })
}

const LOOKING: &[&str] = &["list", "read", "search"];

/// The answer to one prompt.
fn ask(folder: &Path, prompt: &str) -> String {
    talk(folder, LOOKING, &[prompt]).remove(0).text
}

/// `3` of `**3 matching lines in …`, and whether it says `at least`; the number that stands before a word.
fn number(text: &str, unit: &str) -> Option<(usize, bool)> {
    let bold = text.split("**").nth(1)?;
    let words: Vec<&str> = bold.split_whitespace().collect();
    let at = words.iter().position(|word| word.trim_end_matches(['.', ',', 's']) == unit)?;
    let at = (0..at).rev().find(|at| words[*at].parse::<usize>().is_ok())?;
    Some((words[at].parse().unwrap(), words[..at].ends_with(&["at", "least"])))
}
