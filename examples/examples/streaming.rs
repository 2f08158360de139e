//! A run as a stream of events, shown as they come.
//!
//! `cargo run -q -p mainspring-examples --example streaming`
#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::{
    error::Error,
    io::{self, Write as _},
};

use agent_core::{AgentEvent, CallOptions, ModelEvent};
use agent_http::TokioTimer;
use agent_loop::{Agent, Conversation};
use agent_testkit::{Reply, ScriptedProvider};
use agent_tools::Workspace;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = ScriptedProvider::new([
        Reply::thinking("I should look first.").then_call("list", r#"{"depth":1,"glob":"*.toml"}"#).chunks(5),
        Reply::text("There is a manifest of a Cargo workspace here.").chunks(4),
    ]);
    let workspace = Workspace::new(".")?;
    let mut agent = Agent::builder(model, CallOptions::new("toy-1"), TokioTimer::new());
    for tool in agent_tools::read_only(&workspace)? {
        agent = agent.shared_tool(tool);
    }
    let conversation = Conversation::new(&agent.build()?);

    let mut run = conversation.run("What is in this folder?")?;
    while let Some(event) = run.next().await {
        match event {
            AgentEvent::Model(ModelEvent::ThinkingDelta { text, .. }) => print!("({text})"),
            AgentEvent::Model(ModelEvent::TextDelta { text, .. }) => print!("{text}"),
            AgentEvent::ToolStart { name, arguments, .. } => println!("\n-> {name} {}", arguments.get()),
            AgentEvent::ToolEnd { output, .. } => {
                let text: String = output.content.iter().filter_map(|block| block.as_text()).collect();
                println!("<- {} lines", text.lines().count());
            }
            AgentEvent::AgentEnd { usage, .. } => println!("\n[{} tokens]", usage.total()),
            _ => {}
        }
        io::stdout().flush()?;
    }
    Ok(())
}
