//! An agent in ten lines: a model, a prompt, an answer.
//!
//! `cargo run -q -p mainspring-examples --example quickstart`
#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;

use agent_core::CallOptions;
use agent_http::TokioTimer;
use agent_loop::{Agent, Conversation};
use agent_testkit::{Reply, ScriptedProvider};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // A model that says what it is told to. `mainspring::agent("anthropic/claude-sonnet-5")?` begins with a real one.
    let model = ScriptedProvider::new([Reply::text("Paris, of course."), Reply::text("About two million.")]);
    let agent = Agent::builder(model, CallOptions::new("toy-1").system("Be brief."), TokioTimer::new()).build()?;

    let conversation = Conversation::new(&agent);
    for prompt in ["What is the capital of France?", "How many live there?"] {
        let answer = conversation.run(prompt)?.final_text().await.map_err(|report| format!("{:?}", report.ending))?;
        println!("{prompt} {answer}");
    }
    println!("{} messages, {} tokens", conversation.messages().len(), conversation.usage().total());
    Ok(())
}
