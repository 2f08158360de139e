//! One conversation, two providers over two wires: each reads what the other said.
//!
//! `cargo run -q -p mainspring-examples --example two_providers`
#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::{error::Error, sync::Arc};

use agent_anthropic::AnthropicWire;
use agent_core::{CallOptions, Credential, HttpClient, HttpProvider, Provider, Timer};
use agent_http::{HttpStack, TokioTimer};
use agent_loop::{Agent, Conversation};
use agent_openai::ChatWire;
use agent_testkit::{WireReply, WireServer};

const CLAUDE: &str = r#"{"type":"message","id":"m","model":"claude-x","role":"assistant","content":[{"type":"text","text":"It is a town in Norway."}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":7}}"#;
const GPT: &str = r#"{"id":"c","model":"gpt-x","choices":[{"message":{"content":"Then it is cold there."},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":6}}"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // A server that answers in both protocols stands for the vendors.
    let json = |body: &'static str| WireReply::new(200).header("content-type", "application/json").body([body]);
    let server = WireServer::start([json(CLAUDE), json(GPT)]).await?;
    let timer: Arc<dyn Timer> = Arc::new(TokioTimer::new());
    let http = HttpClient::from(HttpStack::builder().build());
    let key: Arc<dyn agent_core::CredentialSource> = Arc::new(Credential::ApiKey("k".into()));

    let claude = AnthropicWire::at(&server.url("/v1"))?;
    let claude: Arc<dyn Provider> = Arc::new(HttpProvider::new(claude, http.clone(), key.clone(), timer.clone()));
    let gpt = ChatWire::compatible(&server.url("/v1"))?;
    let gpt: Arc<dyn Provider> = Arc::new(HttpProvider::new(gpt, http, key, timer.clone()));

    let first = Agent::shared(claude, CallOptions::new("claude-x").max_output(100), timer.clone()).build()?;
    let second = Agent::shared(gpt, CallOptions::new("gpt-x").max_output(100), timer).build()?;

    let conversation = Conversation::new(&first);
    println!("{}", conversation.run("What is Hell?")?.into_report().await.final_text());
    // The history goes along; what the other wire cannot carry would be told as an event.
    let conversation = conversation.with_agent(&second);
    println!("{}", conversation.run("What does that mean for the weather?")?.into_report().await.final_text());
    for request in server.requests() {
        println!("{} {} bytes", request.path, request.body.len());
    }
    Ok(())
}
