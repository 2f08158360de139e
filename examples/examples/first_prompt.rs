//! A whole prompt by hand, offline: prepare, look, reserve, send, run a tool, and the second request.
//!
//! `cargo run -q -p mainspring-examples --example first_prompt`
#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;

use agent_core::{
    Assembler, Budget, CallOptions, CancelToken, ContextView, IdSource, Message, ModelCall, ModelEvent, Money,
    PieceCache, Prepared, Price, Provider, Rates, RawJson, ToolResultMessage, ToolSet, ToolSpec, Transcript,
    UserMessage,
};
use agent_testkit::{Reply, ScriptedProvider};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // A model that says what it is told to; a real one is prepared and sent in the same way.
    let model = ScriptedProvider::new([
        Reply::text("Let me add that up.").chunks(6).then_call("add", r#"{"a":19,"b":23}"#),
        Reply::text("19 + 23 is 42.").chunks(4),
    ]);
    let price = Price::new(Rates::new(Money::from_dollars(3e-6)?, Money::from_dollars(15e-6)?));
    let budget = Budget::new(Money::from_dollars(0.05)?);

    let schema =
        r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}"#;
    let tools = ToolSet::new(vec![ToolSpec::new("add", "Adds two whole numbers.", RawJson::parse(schema)?)?])?;
    let options = CallOptions::new("toy-1").system("You add numbers.").max_output(200);

    let mut ids = IdSource::from_hash_keys();
    let mut transcript = Transcript::new();
    transcript.append(Message::from(UserMessage::text(ids.message(0), "What is 19 + 23?")))?;
    println!("user       What is 19 + 23?");

    let (cache, mut last) = (PieceCache::new(), None::<Prepared>);
    loop {
        let view = ContextView::of(&transcript)?;
        let call = ModelCall::new(options.clone(), view).tools(tools.clone()).cache(cache.clone());

        // Nothing is sent yet: look at the request first.
        let prepared = model.prepare(call).await?;
        if let (Some(now), Some(last)) = (prepared.segments(), last.as_ref().and_then(Prepared::segments)) {
            match now.diverges_from(last.chain(), Some(last)) {
                None => println!("           the last request is a prefix of this one: the prompt cache holds"),
                Some(at) => println!("           the prompt cache breaks at segment {}: {:?}", at.segment, at.cause),
            }
        }
        let worst = price.worst_case(prepared.input_bound(), prepared.output_bound())?;
        let mut reservation = budget.reserve(worst)?;
        println!("           at most {worst} is reserved, {} is left", budget.left());

        reservation.sent();
        let mut stream = prepared.send(CancelToken::new()).await?;
        let mut answer = Assembler::new(ids.message(0));
        print!("model      ");
        while let Some(event) = stream.next().await {
            let event = event?;
            if let ModelEvent::TextDelta { text, .. } = &event {
                print!("{text}");
            }
            answer.push(&event)?;
        }
        println!();
        let cost = price.cost(&answer.usage());
        reservation.settle(cost);
        last = Some(prepared);

        let answer = answer.finish();
        let calls: Vec<_> = answer.tool_calls().map(|(id, call)| (id, call.clone())).collect();
        transcript.append(Message::from(answer))?;
        if calls.is_empty() {
            println!("           {} of {} was spent", budget.spent(), budget.limit());
            return Ok(());
        }
        for (id, call) in calls {
            let sum = match call.arguments.as_object() {
                Some(arguments) => {
                    let two: Two = arguments.read()?;
                    (two.a + two.b).to_string()
                }
                None => "the arguments are no object".to_owned(),
            };
            println!("tool       {}{} = {sum}", call.name, call.arguments.text());
            let result = ToolResultMessage::new(ids.message(0), id, call.name, vec![sum.into()]);
            transcript.append(Message::from(result))?;
        }
    }
}

#[derive(serde::Deserialize)]
struct Two {
    a: i64,
    b: i64,
}
