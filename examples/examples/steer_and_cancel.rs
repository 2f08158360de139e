//! Talking to a run that is on: a remark that it reads in its next turn, and an end that keeps what there is.
//!
//! `cargo run -q -p mainspring-examples --example steer_and_cancel`
#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;

use agent_core::{AgentEvent, CallOptions, ModelEvent};
use agent_http::TokioTimer;
use agent_loop::{Agent, Conversation};
use agent_testkit::{Reply, ScriptedProvider};
use agent_tools::Workspace;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = ScriptedProvider::new([
        Reply::call("list", r#"{"depth":1}"#),
        Reply::text("In short: a workspace. At length, then: it began on a rainy day ").chunks(10).hang_after(6),
    ]);
    let workspace = Workspace::new(".")?;
    let mut agent = Agent::builder(model, CallOptions::new("toy-1"), TokioTimer::new());
    for tool in agent_tools::read_only(&workspace)? {
        agent = agent.shared_tool(tool);
    }
    let conversation = Conversation::new(&agent.build()?);

    let mut run = conversation.run("Tell me about this folder.")?;
    // A handle works from anywhere: another task, a signal handler, a user interface.
    let handle = run.handle();
    let mut said = String::new();
    while let Some(event) = run.next().await {
        match event {
            AgentEvent::ToolStart { name, .. } => {
                println!("-> {name}");
                handle.steer("Keep it short, please.")?;
            }
            AgentEvent::Model(ModelEvent::TextDelta { text, .. }) => {
                said.push_str(&text);
                if said.contains("length") {
                    handle.cancel();
                }
            }
            _ => {}
        }
    }
    let report = run.into_report().await;
    println!("{:?}", report.ending);
    for message in conversation.messages().iter() {
        println!("{}: {}", message.role(), message.text().lines().next().unwrap_or_default());
    }
    Ok(())
}
