//! A budget that cannot be overspent: the worst case is reserved before a request is sent.
//!
//! `cargo run -q -p mainspring-examples --example budget`
#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;

use agent_core::{Budget, CallOptions, ModelFacts, Money, Price, Rates};
use agent_http::TokioTimer;
use agent_loop::{Agent, Conversation, Ending};
use agent_testkit::{Reply, ScriptedProvider};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = ScriptedProvider::new(
        ["One.", "Two.", "Three.", "Four.", "Five.", "Six.", "Seven.", "Eight."].map(Reply::text),
    );
    let sent = model.clone();
    let mut facts = ModelFacts::new("toy", "toy-1");
    // Dollars for a token.
    facts.price = Some(Price::new(Rates::new(Money::from_dollars(3e-6)?, Money::from_dollars(15e-6)?)));

    let budget = Budget::new(Money::from_dollars(0.004)?);
    let agent = Agent::builder(model, CallOptions::new("toy-1").max_output(100), TokioTimer::new())
        .facts(facts)
        .budget(budget.clone())
        .build()?;
    let conversation = Conversation::new(&agent);
    loop {
        let report = conversation.run("Count on.")?.into_report().await;
        println!("{:<8} spent {}, left {}", report.final_text(), budget.spent(), budget.left());
        if let Ending::Stopped(cause) = &report.ending {
            println!("stopped: {cause}");
            break;
        }
    }
    println!("{} requests were sent, and {} of {} was spent", sent.sent().len(), budget.spent(), budget.limit());
    Ok(())
}
