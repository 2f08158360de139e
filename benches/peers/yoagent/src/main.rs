//! yoagent as its users have it: an `Agent` with a tool, its events read from `prompt`. Limits that would stop a long
//! run are raised; the history is not compacted, which would drop the results that the server counts.

use peers_meter::{ADD, Api, Ask, KEY, Meter, SCHEMA, SUM, SYSTEM, WRITE, WRITE_SCHEMA, ask, check, least, message};
use serde_json::Value;
use std::{path::Path, time::Duration};
use yoagent::{Agent, context::ExecutionLimits, provider::ModelConfig, session::Session, types::*};

struct Add;

#[async_trait::async_trait]
impl AgentTool for Add {
    fn name(&self) -> &str {
        "add"
    }

    fn label(&self) -> &str {
        "Add"
    }

    fn description(&self) -> &str {
        ADD
    }

    fn parameters_schema(&self) -> Value {
        check(serde_json::from_str(SCHEMA))
    }

    async fn execute(&self, _: Value, _: ToolContext) -> Result<ToolResult, ToolError> {
        Ok(ToolResult { content: vec![Content::Text { text: SUM.into() }], details: Value::Null })
    }
}

/// Never called: streams are read to the end of the call, not of the run.
struct Write;

#[async_trait::async_trait]
impl AgentTool for Write {
    fn name(&self) -> &str {
        "write_file"
    }

    fn label(&self) -> &str {
        "Write"
    }

    fn description(&self) -> &str {
        WRITE
    }

    fn parameters_schema(&self) -> Value {
        check(serde_json::from_str(WRITE_SCHEMA))
    }

    async fn execute(&self, _: Value, _: ToolContext) -> Result<ToolResult, ToolError> {
        Ok(ToolResult { content: vec![Content::Text { text: "written".into() }], details: Value::Null })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let meter = Meter::start();
    match ask() {
        Ask::Stream { api, base, .. } => meter.report(&[("text", stream(api, &base).await)]),
        Ask::Session { file, entries } => check(session(&meter, &file, entries)),
        Ask::Turns { base } => meter.report(&[("turns", run(base).await)]),
        Ask::Crowd { bases, runs } => {
            let tasks: Vec<_> = bases.iter().cycle().take(runs).map(|base| tokio::spawn(run(base.clone()))).collect();
            let mut whole = 0;
            for task in tasks {
                whole += u64::from(task.await.is_ok_and(|turns| turns == 3));
            }
            meter.report(&[("whole", whole)]);
        }
    }
}

fn model(api: Api, base: &str) -> ModelConfig {
    let mut model = match api {
        Api::OpenAi => ModelConfig::openai("gpt-4o", "gpt-4o"),
        Api::Anthropic => ModelConfig::anthropic("claude-sonnet-4-20250514", "claude"),
    };
    model.base_url = base.to_owned();
    model
}

/// Reads the first answer; the bytes of its deltas.
async fn stream(api: Api, base: &str) -> u64 {
    let mut agent = Agent::from_config(model(api, base)).with_api_key(KEY).with_system_prompt(SYSTEM);
    agent = match api {
        Api::OpenAi => agent.with_tools(vec![Box::new(Add)]),
        Api::Anthropic => agent.with_tools(vec![Box::new(Add), Box::new(Write)]),
    };
    let mut events = agent.prompt("hi").await;
    let mut text = String::new();
    while let Some(event) = events.recv().await {
        match event {
            AgentEvent::MessageUpdate {
                delta: StreamDelta::Text { delta } | StreamDelta::ToolCallDelta { delta },
                ..
            } => text.push_str(&delta),
            AgentEvent::MessageEnd { message } if message.role() == "assistant" => break,
            _ => {}
        }
    }
    agent.abort();
    agent.finish().await;
    text.len() as u64
}

/// Goes to the end; the answers that there were.
async fn run(base: String) -> u64 {
    let limits = ExecutionLimits::default()
        .with_max_turns(usize::MAX)
        .with_max_total_tokens(usize::MAX)
        .with_max_duration(Duration::from_secs(3_600));
    let agent = Agent::from_config(model(Api::OpenAi, &base)).with_api_key(KEY).with_system_prompt(SYSTEM);
    let agent = agent.with_tools(vec![Box::new(Add)]).without_context_management();
    let mut agent = agent.with_execution_limits(limits);
    let mut events = agent.prompt("go").await;
    let mut turns = 0;
    while let Some(event) = events.recv().await {
        if let AgentEvent::MessageEnd { message } = &event {
            turns += u64::from(message.role() == "assistant");
        }
        std::hint::black_box(&event);
    }
    agent.finish().await;
    turns
}

/// A session of messages, which lives in memory and is written whole.
fn session(meter: &Meter, path: &Path, entries: u64) -> Result<(), Box<dyn std::error::Error>> {
    let text = || AgentMessage::Llm(Message::user(message()));
    let mut session = Session::new();
    for _ in 0..entries {
        session.append(text());
    }
    let branch = least(1, || session.path_ids());
    let messages = least(1, || session.path_messages());
    let append = least(1, || {
        session.append(text());
        std::fs::write(path, session.to_jsonl())
    });
    let load = least(1, || std::fs::read_to_string(path).map(|text| Session::from_jsonl(&text)));
    std::fs::remove_file(path)?;
    let figures = [("entries", entries), ("branch_ns", branch), ("append_ns", append), ("load_ns", load)];
    meter.report(&[&figures[..], &[("messages_ns", messages)]].concat());
    Ok(())
}
