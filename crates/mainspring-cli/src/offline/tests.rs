//! The offline model on real folders, through a real agent.
#![expect(clippy::disallowed_methods, reason = "real files")]

use std::{path::Path, sync::Arc};

use agent_core::{CallOptions, Tool};
use agent_http::TokioTimer;
use agent_loop::{Agent, Conversation, Ending};
use agent_tools::Workspace;

use super::{MODEL, Offline};

fn agent(folder: &Path, tools: impl Fn(&dyn Tool) -> bool) -> Agent {
    let workspace = Workspace::new(folder).unwrap();
    let mut agent = Agent::builder(Offline::new(), CallOptions::new(MODEL), TokioTimer::new());
    let mut all: Vec<Arc<dyn Tool>> = agent_tools::read_only(&workspace).unwrap();
    all.retain(|tool| tools(&**tool));
    for tool in all {
        agent = agent.shared_tool(tool);
    }
    agent.build().unwrap()
}

fn ask_all(folder: &Path, prompts: &[&str]) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let conversation = Conversation::new(&agent(folder, |_| true));
        let mut answers = Vec::new();
        for prompt in prompts {
            let run = conversation.run(*prompt).unwrap();
            let report = run.into_report().await;
            assert!(matches!(report.ending, Ending::Completed), "{:?}", report.ending);
            answers.push(report.new_messages.last().unwrap().text());
        }
        answers
    })
}

#[test]
fn here() {
    let folder = std::env::var("OFFLINE_FOLDER").unwrap_or_else(|_| "../..".to_owned());
    let prompt = std::env::var("OFFLINE_PROMPT")
        .unwrap_or_else(|_| "Find every TODO in crates/ and say which file has most".to_owned());
    for prompt in prompt.split(" | ") {
        let prompts: Vec<&str> = prompt.split(" >> ").collect();
        println!(
            "=== {prompt}\n{:?}",
            super::ask::Ask::of(&prompts.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>())
        );
        println!("{}", ask_all(Path::new(&folder), &prompts).join("\n").replace(super::answer::FOOTER, ""));
    }
}
