//! An agent over our wires against servers that others wrote; `cargo xtask conformance wires` starts
//! them. A test whose peer is not there says aloud that it skips.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stdout, reason = "tests")]

use std::{
    env, future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use agent_anthropic::AnthropicWire;
use agent_core::{
    AgentEvent, Body, BoxFuture, CallOptions, Credential, HttpClient, HttpProvider, Message, ModelEvent, Provider,
    RawJson, Tool, ToolContext, ToolOutcome, ToolSpec,
};
use agent_google::GoogleWire;
use agent_http::{HttpStack, TokioTimer};
use agent_loop::{Agent, Conversation, Ending};
use agent_openai::ChatWire;

struct Says {
    spec: ToolSpec,
    text: &'static str,
    runs: Arc<AtomicUsize>,
}

impl Tool for Says {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, arguments: RawJson, _: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        assert!(arguments.get().contains("\"city\""), "{arguments:?}");
        self.runs.fetch_add(1, Ordering::Relaxed);
        Box::pin(future::ready(ToolOutcome::Output(self.text.into())))
    }
}

fn url(variable: &str) -> Option<String> {
    let url = env::var(variable).ok();
    if url.is_none() {
        println!("\nskipped: {variable} is not set, run `cargo xtask conformance wires`");
    }
    url
}

/// The wires that the peers speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaks {
    Messages,
    Chat,
    Gemini,
    Vertex,
}

const BOTH: [Speaks; 2] = [Speaks::Messages, Speaks::Chat];
const ALL: [Speaks; 4] = [Speaks::Messages, Speaks::Chat, Speaks::Gemini, Speaks::Vertex];

/// A conversation over a wire, with or without two tools that count their runs.
fn talk(wire: Speaks, url: &str, model: &str, with_tools: bool) -> (Conversation, Arc<AtomicUsize>) {
    let timer = Arc::new(TokioTimer::new());
    let key = Arc::new(Credential::ApiKey("k".into()));
    // A stack of its own: its connections live in the runtime of this test.
    let http = HttpClient::from(HttpStack::builder().build());
    let provider: Arc<dyn Provider> = match wire {
        Speaks::Messages => {
            let wire = AnthropicWire::at(&format!("{url}/v1")).unwrap();
            Arc::new(HttpProvider::new(wire, http, key, timer.clone()))
        }
        Speaks::Chat => {
            let wire = ChatWire::compatible(&format!("{url}/v1")).unwrap();
            Arc::new(HttpProvider::new(wire, http, key, timer.clone()))
        }
        Speaks::Gemini => Arc::new(HttpProvider::new(GoogleWire::gemini().at(url).unwrap(), http, key, timer.clone())),
        Speaks::Vertex => {
            let wire = GoogleWire::vertex("p", "global").at(url).unwrap();
            let token = Arc::new(Credential::Bearer("t".into()));
            Arc::new(HttpProvider::new(wire, http, token, timer.clone()))
        }
    };
    let options = CallOptions::new(model).system("You help.").max_output(200);
    let runs = Arc::new(AtomicUsize::new(0));
    let mut agent = Agent::shared(provider, options, timer);
    if with_tools {
        for (name, text) in [("get_weather", "sunny"), ("get_time", "noon")] {
            let schema = r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#;
            let spec = ToolSpec::new(name, "Tells of a city.", RawJson::parse(schema).unwrap()).unwrap();
            agent = agent.tool(Says { spec, text, runs: runs.clone() });
        }
    }
    (Conversation::new(&agent.build().unwrap()), runs)
}

const MODEL: &str = "some-model";

#[tokio::test]
async fn two_tools_with_aimock() {
    let Some(url) = url("MAINSPRING_AIMOCK_URL") else { return };
    for wire in ALL {
        let (conversation, runs) = talk(wire, &url, MODEL, true);
        let report = conversation.run("weather").unwrap().into_report().await;
        assert!(matches!(report.ending, Ending::Completed), "{wire:?}: {report:?}");
        assert_eq!(report.final_text(), "Sunny in both.", "{wire:?}");
        assert_eq!((report.turns, runs.load(Ordering::Relaxed)), (2, 2), "{wire:?}");
    }
}

#[tokio::test]
async fn two_tools_with_llama_server() {
    let Some(url) = url("MAINSPRING_LLAMA_URL") else { return };
    for wire in BOTH {
        let (conversation, runs) = talk(wire, &url, "tiny", true);
        let report = conversation.run("weather").unwrap().into_report().await;
        assert!(matches!(report.ending, Ending::Completed), "{wire:?}: {report:?}");
        assert_eq!(report.final_text().trim(), "Hello from a tiny model.", "{wire:?}");
        assert_eq!(report.turns, 2, "{wire:?}");
        assert!(runs.load(Ordering::Relaxed) >= 1, "{wire:?}");
        assert!(report.usage.output > 0, "{wire:?}: {:?}", report.usage);
    }
}

#[tokio::test]
async fn a_retry_after_an_overload_of_aimock() {
    let Some(url) = url("MAINSPRING_AIMOCK_URL") else { return };
    let (conversation, _) = talk(Speaks::Messages, &url, MODEL, false);
    let report = conversation.run("flaky").unwrap().into_report().await;
    assert!(matches!(report.ending, Ending::Completed), "{report:?}");
    assert_eq!(report.final_text(), "Back again.");
}

#[tokio::test]
async fn a_cancel_in_the_middle_of_a_stream_of_aimock() {
    let Some(url) = url("MAINSPRING_AIMOCK_URL") else { return };
    for wire in ALL {
        let (conversation, _) = talk(wire, &url, MODEL, false);
        let mut run = conversation.run("slow").unwrap();
        let handle = run.handle();
        let mut text_seen = false;
        while let Some(event) = run.next().await {
            if !text_seen && matches!(event, AgentEvent::Model(ModelEvent::TextDelta { .. })) {
                text_seen = true;
                handle.cancel();
            }
        }
        let report = run.into_report().await;
        assert!(text_seen, "{wire:?}: no delta came: {report:?}");
        assert!(matches!(report.ending, Ending::Cancelled), "{wire:?}: {report:?}");
        let whole = "Slow words come one by one by one.";
        assert!(report.final_text().len() < whole.len() && whole.starts_with(&report.final_text()), "{report:?}");
        let last = conversation.messages().iter().last().cloned().unwrap();
        assert!(matches!(*last, Message::Assistant(_) | Message::User(_)), "{wire:?}: {last:?}");
    }
}

/// What llmock thinks of it (Retry-After kept, no storm) is asked by `cargo xtask conformance` at the end.
#[tokio::test]
async fn retry_after_is_kept_with_llmock() {
    let Some(url) = url("MAINSPRING_LLMOCK_URL") else { return };
    let scenario = r#"{"behaviors":[{"type":"fail","status":429,"retry_after":1,"times":1}]}"#;
    let request = http::Request::post(format!("{url}/_llmock/scenario")).header("content-type", "application/json");
    let client = HttpClient::from(HttpStack::builder().build());
    let answer = client.send(request.body(Body::full(scenario)).unwrap()).await.unwrap();
    assert!(answer.status().is_success(), "{}", answer.status());
    let (conversation, _) = talk(Speaks::Messages, &format!("{url}/anthropic"), MODEL, false);
    let (events, report) = conversation.run("hello").unwrap().collect().await;
    assert!(matches!(report.ending, Ending::Completed), "{report:?}");
    let retries = events.iter().filter(|event| matches!(event, AgentEvent::Retry { .. })).count();
    assert_eq!(retries, 1);
    assert!(!report.final_text().is_empty());
}
