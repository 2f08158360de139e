//! Models by their names, over real HTTP.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests may fail so")]
#![expect(clippy::disallowed_methods, reason = "golden files are read from disk")]

mod errors;

use agent_core::{Credential, ProviderErrorKind, Secret};
use agent_loop::RunError;
use agent_testkit::{WireReply, WireServer};
use mainspring::{
    Conversation, Ending, ModelError, Models, RawJson, RunSettings, Tool, ToolContext, ToolOutcome, ToolSpec,
};

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// An answer in the vendor's events, as its documentation has them.
fn hello() -> WireReply {
    let events = [
        (
            "message_start",
            r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-5","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}"#,
        ),
        (
            "content_block_start",
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        ),
        (
            "content_block_delta",
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello!"}}"#,
        ),
        ("content_block_stop", r#"{"type":"content_block_stop","index":0}"#),
        ("message_delta", r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}"#),
        ("message_stop", r#"{"type":"message_stop"}"#),
    ];
    let body: String = events.iter().map(|(name, data)| format!("event: {name}\ndata: {data}\n\n")).collect();
    WireReply::new(200).header("content-type", "text/event-stream").body([body])
}

#[test]
fn a_name_is_an_agent_that_answers() {
    block_on(async {
        let server = WireServer::start([hello()]).await.unwrap();
        let models = Models::new()
            .base_url("anthropic", server.url("/v1"))
            .credential("anthropic", Credential::ApiKey(Secret::new("sk-ours")));
        let agent = models.agent("anthropic/claude-sonnet-5").unwrap().build().unwrap();
        let report = Conversation::new(&agent).run("Hi").unwrap().into_report().await;
        assert!(matches!(report.ending, Ending::Completed), "{:?}", report.ending);
        assert_eq!(report.final_text(), "Hello!");
        assert!(report.cost.is_some(), "the catalogue knows the price");
        let requests = server.requests();
        assert_eq!(requests[0].path, "/v1/messages");
        let shown = requests[0].header("authorization").or_else(|| requests[0].header("x-api-key")).unwrap();
        assert!(shown.ends_with("sk-ours"), "{shown}");
    });
}

#[test]
fn a_compatible_server_runs_a_tool_loop_with_a_retry() {
    block_on(async {
        let chunk = |data: &str| format!("data: {data}\n\n");
        let stream = |chunks: &[&str]| {
            let body: String = chunks.iter().map(|data| chunk(data)).collect();
            WireReply::new(200).header("content-type", "text/event-stream").body([body + "data: [DONE]\n\n"])
        };
        let call = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"clock","arguments":"{}"}}]}}]}"#;
        let calls = r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":3}}"#;
        let text = r#"{"choices":[{"delta":{"content":"It is noon."},"finish_reason":"stop"}]}"#;
        let busy = WireReply::new(503).header("content-type", "application/json").body(["{}"]);
        let server = WireServer::start([stream(&[call, calls]), busy, stream(&[text])]).await.unwrap();
        let models = Models::new().base_url("compatible", server.url("/v1"));
        let clock =
            Clock(ToolSpec::new("clock", "Tells the time.", RawJson::parse(r#"{"type":"object"}"#).unwrap()).unwrap());
        let mut settings = RunSettings::default();
        settings.retry.base_ms = 1;
        let agent = models.agent("compatible/tiny").unwrap().tool(clock).settings(settings).build().unwrap();
        let conversation = Conversation::new(&agent);
        let report = conversation.run("What time is it?").unwrap().into_report().await;
        assert_eq!(report.final_text(), "It is noon.", "{:?}", report.ending);
        assert_eq!(server.requests().len(), 3);
        assert_eq!(report.usage.input, 9);
    });
}

struct Clock(ToolSpec);

impl Tool for Clock {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call(&self, _: RawJson, _: ToolContext) -> agent_core::BoxFuture<'_, ToolOutcome> {
        Box::pin(std::future::ready(ToolOutcome::Output("noon".into())))
    }
}

#[test]
fn the_environments_key_is_not_sent_to_an_address_of_yours() {
    block_on(async {
        let server = WireServer::start([hello()]).await.unwrap();
        let models = Models::new().base_url("anthropic", server.url("/v1"));
        let agent = models.agent("anthropic/claude-sonnet-5").unwrap().build().unwrap();
        Conversation::new(&agent).run("Hi").unwrap().into_report().await;
        let requests = server.requests();
        assert_eq!(requests[0].header("authorization"), None);
        assert_eq!(requests[0].header("x-api-key"), None);
    });
}

#[test]
fn a_missing_key_is_an_error_before_sending_that_names_the_variable() {
    block_on(async {
        // No variable of this name is set anywhere.
        let mut catalogue = agent_models::Catalogue::bundled().clone();
        let provider = r#"{"format":1,"sources":{"test":{"what":"a test","date":"2026-12-01"}},"providers":{"nowhere":{
            "name":"Nowhere","protocol":"anthropic-messages","baseUrl":"http://127.0.0.1:9/v1",
            "keys":["MAINSPRING_TEST_NO_SUCH_KEY"],"auth":"bearer","source":"test"}}}"#;
        catalogue.overlay(provider).unwrap();
        let agent = Models::new().catalogue(catalogue).agent("nowhere/some-model").unwrap().build().unwrap();
        let report = Conversation::new(&agent).run("Hi").unwrap().into_report().await;
        let Ending::Failed(RunError::Provider(error)) = &report.ending else { panic!("{:?}", report.ending) };
        assert_eq!(error.kind(), ProviderErrorKind::Auth);
        assert!(error.to_string().contains("set MAINSPRING_TEST_NO_SUCH_KEY"), "{error}");
    });
}

#[test]
fn names_that_are_not_enough_say_what_is_missing() {
    let models = Models::new();
    let unknown = models.open("no-such-model-anywhere").unwrap_err();
    assert!(matches!(unknown, ModelError::Name(_)), "{unknown}");
    let nowhere = models.open("no-such-provider/model").unwrap_err();
    assert!(nowhere.to_string().contains("Models::base_url"), "{nowhere}");
    let bad = models.clone().base_url("anthropic", "not an address").open("anthropic/claude-sonnet-5").unwrap_err();
    assert!(matches!(bad, ModelError::Address { .. }), "{bad}");
}
