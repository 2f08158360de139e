//! Somebody has to agree before a tool runs: the run pauses as data, and goes on when there is an answer.
//!
//! `cargo run -q -p mainspring-examples --example approvals`
#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;

use agent_core::{Approval, ApprovalAnswer, CallOptions};
use agent_http::TokioTimer;
use agent_loop::{Agent, Conversation, Ending};
use agent_testkit::{Reply, ScriptedProvider};
use agent_tools::{Bash, Workspace};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = ScriptedProvider::new([
        Reply::call("bash", r#"{"command":"echo hello; rm -rf ./everything"}"#)
            .then_call("bash", r#"{"command":"echo hello"}"#),
        Reply::text("I said hello, and removed nothing."),
    ]);
    let bash = Bash::new(&Workspace::new(".")?)?.approval(Approval::Needed);
    let agent = Agent::builder(model, CallOptions::new("toy-1"), TokioTimer::new()).tool(bash).build()?;
    let conversation = Conversation::new(&agent);

    let mut report = conversation.run("Say hello, and clean up.")?.into_report().await;
    // Any process can take it up from here: what is asked stands in the journal.
    while let Ending::Paused { approvals, .. } = &report.ending {
        for asked in approvals {
            let command = asked.arguments.get();
            let answer = match command.contains("rm ") {
                true => ApprovalAnswer::Deny("nothing is to be removed".into()),
                false => ApprovalAnswer::Allow,
            };
            println!("{} {command}: {answer:?}", asked.tool);
            conversation.answer(asked.call, answer).await?;
        }
        report = conversation.resume()?.into_report().await;
    }
    println!("{}", report.final_text());
    Ok(())
}
