//! Mainspring as its users have it: a model opened by its name, an agent with a typed tool, the run read as a stream of
//! events. Its settings are the defaults, but for the limit of turns and that of exchanges with one host.

mod session;

use std::{error::Error, future, sync::Arc};

use mainspring::{
    Agent, AgentEvent, Conversation, Effects, Ending, Message, Models, RawJson, RunSettings, Tool, ToolContext,
    ToolOutcome, ToolSpec,
    core::{BoxFuture, Credential, HttpClient, ModelEvent, Secret, ToolError},
    http::{HttpStack, TokioTimer},
};
use peers_meter::{ADD, Api, Ask, KEY, Meter, SCHEMA, SUM, SYSTEM, WRITE, WRITE_SCHEMA, ask, check};

type Any = Box<dyn Error + Send + Sync>;

struct Add(ToolSpec);

#[derive(serde::Deserialize)]
struct Numbers {
    a: f64,
    b: f64,
}

impl Tool for Add {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn effects(&self, _: &RawJson) -> Effects {
        Effects::shared()
    }

    fn call(&self, arguments: RawJson, _: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        let outcome = match arguments.read::<Numbers>() {
            Ok(Numbers { a, b }) => {
                std::hint::black_box(a + b);
                ToolOutcome::Output(SUM.into())
            }
            Err(error) => ToolOutcome::Error(ToolError::invalid_arguments(error.to_string())),
        };
        Box::pin(future::ready(outcome))
    }
}

/// Never called: streams are read to the end of the call, not of the run.
struct Write(ToolSpec);

impl Tool for Write {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call(&self, _: RawJson, _: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        Box::pin(future::ready(ToolOutcome::Output("written".into())))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let meter = Meter::start();
    let timer = Arc::new(TokioTimer::new());
    let http = HttpClient::from(HttpStack::builder().exchanges_per_host(1_000).build());
    let models = Models::new().http(http).timer(timer);
    match ask() {
        Ask::Stream { api, base, .. } => {
            let agent = check(agent(&models, api, &base));
            meter.report(&[("text", check(stream(&agent).await))]);
        }
        Ask::Session { file, entries } => check(session::measure(&meter, &file, entries).await),
        Ask::Turns { base } => {
            let agent = check(agent(&models, Api::OpenAi, &base));
            meter.report(&[("turns", check(run(agent).await))]);
        }
        Ask::Crowd { bases, runs } => {
            let agents: Vec<_> = bases.iter().map(|base| check(agent(&models, Api::OpenAi, base))).collect();
            let tasks: Vec<_> =
                agents.iter().cycle().take(runs).map(|agent| tokio::spawn(run(agent.clone()))).collect();
            let mut whole = 0;
            for task in tasks {
                whole += u64::from(task.await.is_ok_and(|turns| turns.is_ok_and(|turns| turns == 3)));
            }
            meter.report(&[("whole", whole)]);
        }
    }
}

fn agent(models: &Models, api: Api, base: &str) -> Result<Agent, Any> {
    let (provider, name) = match api {
        Api::OpenAi => ("openai", "openai/gpt-4o"),
        Api::Anthropic => ("anthropic", "anthropic/claude-sonnet-4-20250514"),
    };
    let models = models.clone().base_url(provider, base).credential(provider, Credential::ApiKey(Secret::new(KEY)));
    let model = models.open(name)?;
    let mut settings = RunSettings::default();
    settings.limits.turns = None;
    let tool = Add(ToolSpec::new("add", ADD, RawJson::parse(SCHEMA)?)?);
    let mut agent = model.agent_with(model.options().system(SYSTEM)).settings(settings).tool(tool);
    if api == Api::Anthropic {
        agent = agent.tool(Write(ToolSpec::new("write_file", WRITE, RawJson::parse(WRITE_SCHEMA)?)?));
    }
    Ok(agent.build()?)
}

/// Reads the first answer; the bytes of its deltas.
async fn stream(agent: &Agent) -> Result<u64, Any> {
    let conversation = Conversation::new(agent);
    let mut run = conversation.run("hi")?;
    let mut text = String::new();
    while let Some(event) = run.next().await {
        match event {
            AgentEvent::Model(ModelEvent::TextDelta { text: delta, .. }) => text.push_str(&delta),
            AgentEvent::Model(ModelEvent::ArgumentsDelta { json, .. }) => text.push_str(&json),
            AgentEvent::MessageEnd { message } if matches!(*message, Message::Assistant(_)) => break,
            _ => {}
        }
    }
    Ok(text.len() as u64)
}

/// Goes to the end; the answers that there were.
async fn run(agent: Agent) -> Result<u64, Any> {
    let conversation = Conversation::new(&agent);
    let mut run = conversation.run("go")?;
    while let Some(event) = run.next().await {
        std::hint::black_box(&event);
    }
    let report = run.into_report().await;
    match report.ending {
        Ending::Completed => Ok(report.turns),
        other => Err(format!("{other:?}").into()),
    }
}
