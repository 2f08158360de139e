//! An agent over our wires against servers that others wrote; `cargo xtask conformance wires` starts
//! them. A test whose peer is not there says aloud that it skips.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stdout, reason = "tests")]

use std::{
    env, future,
    process::Command,
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
use agent_loop::{Agent, Conversation, Ending, RunSettings};
use agent_openai::{ChatWire, ResponsesWire};
use agent_testkit::{WireReply, WireServer};

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
    Responses,
    Gemini,
    Vertex,
}

/// What llama-server speaks.
const LLAMA: [Speaks; 3] = [Speaks::Messages, Speaks::Chat, Speaks::Responses];
const ALL: [Speaks; 5] = [Speaks::Messages, Speaks::Chat, Speaks::Responses, Speaks::Gemini, Speaks::Vertex];

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
        Speaks::Responses => {
            let wire = ResponsesWire::compatible(&format!("{url}/v1")).unwrap();
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
    let mut settings = RunSettings::default();
    // Nobody but the test sees the text, so that an answer that was cut off may be asked for again.
    (settings.retry.base_ms, settings.retry.after_output) = (300, true);
    let mut agent = Agent::shared(provider, options, timer).settings(settings);
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
    for wire in LLAMA {
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
    for (wire, asked) in [(Speaks::Messages, "flaky"), (Speaks::Chat, "shaky")] {
        let (conversation, _) = talk(wire, &url, MODEL, false);
        let report = conversation.run(asked).unwrap().into_report().await;
        assert!(matches!(report.ending, Ending::Completed), "{wire:?}: {report:?}");
        assert_eq!(report.final_text(), "Back again.", "{wire:?}");
    }
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

/// A fault for the next calls of llmock, and where each wire finds it.
async fn llmock(url: &str, behaviours: &str) -> [(Speaks, String); 2] {
    let scenario = format!("{{\"behaviors\":[{behaviours}]}}");
    let request = http::Request::post(format!("{url}/_llmock/scenario")).header("content-type", "application/json");
    let client = HttpClient::from(HttpStack::builder().build());
    let answer = client.send(request.body(Body::full(scenario)).unwrap()).await.unwrap();
    assert!(answer.status().is_success(), "{}", answer.status());
    [(Speaks::Messages, format!("{url}/anthropic")), (Speaks::Chat, url.to_owned())]
}

/// What llmock thinks of it (Retry-After kept, no storm) is asked by `cargo xtask conformance` at the end.
#[tokio::test]
async fn faults_of_llmock_are_survived_or_told() {
    let Some(url) = url("MAINSPRING_LLMOCK_URL") else { return };
    let busy = r#"{"type":"fail","status":429,"retry_after":1,"times":1}"#;
    for at in 0..2 {
        let wires = llmock(&url, busy).await;
        let (wire, base) = &wires[at];
        let (conversation, _) = talk(*wire, base, MODEL, false);
        let (events, report) = conversation.run("hello").unwrap().collect().await;
        assert!(matches!(report.ending, Ending::Completed), "{wire:?}: {report:?}");
        let retries = events.iter().filter(|event| matches!(event, AgentEvent::Retry { .. })).count();
        assert_eq!(retries, 1, "{wire:?}");
        assert!(!report.final_text().is_empty(), "{wire:?}");
    }
    // A stream that is cut off is never taken for an answer: it is asked for again. One that is garbled is an error.
    for (kind, again) in [("truncate", true), ("disconnect", true), ("malformed", false)] {
        for at in 0..2 {
            let fault = format!(r#"{{"type":"stream_fault","kind":"{kind}","after_chunks":2,"times":1}}"#);
            let wires = llmock(&url, &fault).await;
            let (wire, base) = &wires[at];
            let (conversation, _) = talk(*wire, base, MODEL, false);
            let (events, report) = conversation.run(format!("hello {kind}")).unwrap().collect().await;
            let retried = events.iter().any(|event| matches!(event, AgentEvent::Retry { .. }));
            let ended = if again {
                matches!(report.ending, Ending::Completed)
            } else {
                matches!(report.ending, Ending::Failed(_))
            };
            assert!(ended && retried == again, "{kind} over {wire:?}: {report:?}");
        }
    }
}

/// Streams as the vendors' documentation has them: a text, then a call.
fn ours() -> [WireReply; 2] {
    let events = |all: &[&str]| {
        let text: String = all
            .iter()
            .map(|data| {
                let kind = data.split("\"type\":\"").nth(1).and_then(|rest| rest.split('"').next());
                let name = kind.map(|kind| format!("event: {kind}\n")).filter(|_| !data.contains("choices"));
                format!("{}data: {data}\n\n", name.unwrap_or_default())
            })
            .collect();
        WireReply::new(200).header("content-type", "text/event-stream").body([text])
    };
    let chunk = |inner: &str| {
        format!(r#"{{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{inner}]}}"#)
    };
    let usage = r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}"#;
    let chat = [
        chunk(r#"{"index":0,"delta":{"role":"assistant","content":"Let me "},"finish_reason":null}"#),
        chunk(r#"{"index":0,"delta":{"content":"look."},"finish_reason":null}"#),
        chunk(
            r#"{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"weather","arguments":""}}]},"finish_reason":null}"#,
        ),
        chunk(
            r#"{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":\"Paris\"}"}}]},"finish_reason":null}"#,
        ),
        chunk(r#"{"index":0,"delta":{},"finish_reason":"tool_calls"}"#),
        usage.to_owned(),
        "[DONE]".to_owned(),
    ];
    let messages = [
        r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Let me look."}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"weather","input":{}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"city\":\"Paris\"}"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":4}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    [events(&chat.each_ref().map(String::as_str)), events(&messages)]
}

/// The vendors' own clients read our server's streams as we do: it is a fair judge of our wires.
#[tokio::test]
async fn the_official_clients_read_our_server() {
    let python = url("MAINSPRING_CLIENTS_PYTHON").map(|folder| {
        let mut command = Command::new(format!("{folder}/bin/python"));
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/peers/clients.py"));
        (command, String::new())
    });
    let js = url("MAINSPRING_CLIENTS_JS").map(|folder| {
        let mut command = Command::new("node");
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/peers/clients.mjs"));
        (command, folder)
    });
    for (mut command, folder) in [python, js].into_iter().flatten() {
        let server = WireServer::start(ours()).await.unwrap();
        command.arg(server.url("")).arg(folder);
        let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let read: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let expected = serde_json::json!({
            "chat": ["Let me look.", [["weather", "{\"city\":\"Paris\"}"]], "tool_calls", 7],
            "messages": [
                [["text", "Let me look.", null], ["tool_use", "weather", {"city": "Paris"}]], "tool_use", 4
            ],
        });
        assert_eq!(read, expected);
        let paths: Vec<_> = server.requests().iter().map(|request| request.path.clone()).collect();
        assert_eq!(paths, ["/v1/chat/completions", "/v1/messages"]);
    }
}
