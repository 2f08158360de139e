//! A tool of your own: what the model is told, what a call may do, what it does.
//!
//! `cargo run -q -p mainspring-examples --example own_tool`
#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;

use agent_core::{BoxFuture, CallOptions, Effects, RawJson, Tool, ToolContext, ToolError, ToolOutcome, ToolSpec};
use agent_http::TokioTimer;
use agent_loop::{Agent, Conversation};
use agent_testkit::{Reply, ScriptedProvider};

struct Divide(ToolSpec);

#[derive(serde::Deserialize)]
struct Numbers {
    a: f64,
    b: f64,
}

impl Tool for Divide {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    /// It changes nothing: calls run beside each other, and again after a crash.
    fn effects(&self, _: &RawJson) -> Effects {
        Effects::shared()
    }

    fn call(&self, arguments: RawJson, _: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        Box::pin(async move {
            // They fit the schema: the loop has checked that, and mended what models often get wrong.
            match arguments.read::<Numbers>() {
                Ok(Numbers { b: 0.0, .. }) => ToolOutcome::Error(ToolError::failed("b must not be 0")),
                Ok(Numbers { a, b }) => ToolOutcome::Output((a / b).to_string().into()),
                Err(error) => ToolOutcome::Error(ToolError::invalid_arguments(error.to_string())),
            }
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let schema = r#"{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}"#;
    let divide = Divide(ToolSpec::new("divide", "Divides a by b.", RawJson::parse(schema)?)?);
    let model = ScriptedProvider::new([
        // Models send numbers as strings now and then: that is mended. What the tool refuses, the model reads.
        Reply::call("divide", r#"{"a":"84","b":0}"#),
        Reply::call("divide", r#"{"a":84,"b":2}"#),
        Reply::text("84 / 2 is 42."),
    ]);
    let agent = Agent::builder(model, CallOptions::new("toy-1"), TokioTimer::new()).tool(divide).build()?;
    let conversation = Conversation::new(&agent);
    let report = conversation.run("Divide 84 by something that works.")?.into_report().await;
    for message in conversation.messages().iter() {
        println!("{}: {}", message.role(), message.text());
    }
    println!("{:?} after {} turns", report.ending, report.turns);
    Ok(())
}
