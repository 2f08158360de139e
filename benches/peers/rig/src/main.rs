//! rig as its users have it: an agent with a typed tool, its run read as a stream of items.

use std::convert::Infallible;

use futures_util::StreamExt;
use peers_meter::{ADD, Api, Ask, KEY, Meter, SCHEMA, SUM, SYSTEM, WRITE, WRITE_SCHEMA, ask, check};
use rig::{
    agent::{AgentBuilder, MultiTurnStreamItem},
    providers::{anthropic::AnthropicConfig, openai::OpenAIConfig},
    streaming::{Item, StreamEvent},
    tool::{Tool, ToolContext},
};

#[derive(Clone)]
struct Add;

#[derive(serde::Deserialize)]
struct Numbers {
    a: f64,
    b: f64,
}

impl Tool for Add {
    const NAME: &'static str = "add";
    type Args = Numbers;
    type Output = String;
    type Error = Infallible;

    fn description(&self) -> String {
        ADD.into()
    }

    fn parameters(&self) -> serde_json::Value {
        check(serde_json::from_str(SCHEMA))
    }

    async fn call(&self, _: &mut ToolContext, numbers: Numbers) -> Result<String, Infallible> {
        std::hint::black_box(numbers.a + numbers.b);
        Ok(SUM.into())
    }
}

/// Never called: streams are read to the end of the call, not of the run. rig keeps the arguments of a tool that it does
/// not know to itself.
#[derive(Clone)]
struct Write;

#[derive(serde::Deserialize)]
struct File {
    path: String,
    content: String,
}

impl Tool for Write {
    const NAME: &'static str = "write_file";
    type Args = File;
    type Output = String;
    type Error = Infallible;

    fn description(&self) -> String {
        WRITE.into()
    }

    fn parameters(&self) -> serde_json::Value {
        check(serde_json::from_str(WRITE_SCHEMA))
    }

    async fn call(&self, _: &mut ToolContext, file: File) -> Result<String, Infallible> {
        std::hint::black_box((file.path, file.content));
        Ok("written".into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let meter = Meter::start();
    match ask() {
        Ask::Stream { api, base, .. } => meter.report(&[("text", stream(agent(api, &base)).await)]),
        Ask::Turns { base } => meter.report(&[("turns", run(agent(Api::OpenAi, &base)).await)]),
        Ask::Session { .. } => check(Err("it has no sessions")),
        Ask::Crowd { bases, runs } => {
            let agents: Vec<_> = bases.iter().map(|base| agent(Api::OpenAi, base)).collect();
            let tasks: Vec<_> =
                agents.iter().cycle().take(runs).map(|agent| tokio::spawn(run(agent.clone()))).collect();
            let mut whole = 0;
            for task in tasks {
                whole += u64::from(task.await.is_ok_and(|turns| turns == 3));
            }
            meter.report(&[("whole", whole)]);
        }
    }
}

fn agent(api: Api, base: &str) -> rig::Agent {
    let builder = match api {
        Api::OpenAi => AgentBuilder::new(OpenAIConfig::new(KEY).with_base_url(base).client().chat("gpt-4o")),
        Api::Anthropic => {
            let client = AnthropicConfig::new(KEY).with_base_url(base).client();
            AgentBuilder::new(client.completion("claude-sonnet-4-20250514")).max_tokens(4_096)
        }
    };
    let builder = builder.preamble(SYSTEM).default_max_turns(1_000_000).tool(Add);
    if api == Api::Anthropic { builder.tool(Write).build() } else { builder.build() }
}

/// Reads the first answer; the bytes of its deltas.
async fn stream(agent: rig::Agent) -> u64 {
    let mut items = agent.prompt("hi").stream();
    let mut text = String::new();
    while let Some(item) = items.next().await {
        match check(item) {
            MultiTurnStreamItem::StreamAssistantItem(Item::Event(event)) => match event {
                StreamEvent::Text { text: delta, .. } => text.push_str(&delta),
                StreamEvent::Arguments { json, .. } => text.push_str(&json),
                _ => {}
            },
            MultiTurnStreamItem::StreamAssistantItem(_) => {}
            _ => break,
        }
    }
    text.len() as u64
}

/// Goes to the end; the answers that there were.
async fn run(agent: rig::Agent) -> u64 {
    let mut items = agent.prompt("go").stream();
    let mut turns = 0;
    while let Some(item) = items.next().await {
        let item = check(item);
        turns +=
            u64::from(matches!(item, MultiTurnStreamItem::ToolResult { .. } | MultiTurnStreamItem::FinalResponse(_)));
        std::hint::black_box(&item);
    }
    turns
}
