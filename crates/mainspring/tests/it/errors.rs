//! What a newcomer reads when something is not as it should be: golden files, in which no secret stands.

use agent_core::{AgentEvent, Credential, RunEnding, Secret};
use agent_testkit::{WireReply, WireServer};
use mainspring::{Conversation, Models, RunSettings};

use crate::block_on;

const KEY: &str = "sk-very-secret";

/// What the run says at its end.
async fn failure(models: Models, name: &str) -> String {
    let mut settings = RunSettings::default();
    settings.retry.attempts = 1;
    let agent = models.agent(name).unwrap().settings(settings).build().unwrap();
    let (events, _) = Conversation::new(&agent).run("Hi").unwrap().collect().await;
    match events.last() {
        Some(AgentEvent::AgentEnd { ending: RunEnding::Failed(text), .. }) => text.clone(),
        other => panic!("{other:?}"),
    }
}

fn at(address: &str) -> Models {
    Models::new().base_url("anthropic", address).credential("anthropic", Credential::ApiKey(Secret::new(KEY)))
}

fn reply(status: u16, body: &'static str) -> WireReply {
    let kind = if body.starts_with('{') { "application/json" } else { "text/html" };
    WireReply::new(status).header("content-type", kind).body([body])
}

async fn answered(status: u16, body: &'static str) -> String {
    let server = WireServer::start([reply(status, body)]).await.unwrap();
    failure(at(&server.url("/v1")), "anthropic/claude-sonnet-5").await
}

#[test]
fn a_newcomers_errors_say_what_to_do() {
    block_on(async {
        let mut catalogue = agent_models::Catalogue::bundled().clone();
        let provider = r#"{"format":1,"sources":{"test":{"what":"a test","date":"2026-12-01"}},"providers":{"nowhere":{
            "name":"Nowhere","protocol":"anthropic-messages","baseUrl":"http://127.0.0.1:9/v1",
            "keys":["MAINSPRING_TEST_NO_SUCH_KEY"],"auth":"bearer","source":"test"}}}"#;
        catalogue.overlay(provider).unwrap();
        let invalid = r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#;
        let no_model = r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-sonnet-55"}}"#;
        let broken = r#"{"type":"error","error":{"type":"api_error","message":"Internal server error"}}"#;
        let all = [
            ("missing key", failure(Models::new().catalogue(catalogue), "nowhere/some-model").await),
            ("wrong key", answered(401, invalid).await),
            ("wrong model", answered(404, no_model).await),
            ("wrong address", answered(404, "<html>Not Found</html>").await),
            ("no route", failure(at("http://127.0.0.1:9/v1"), "anthropic/claude-sonnet-5").await),
            ("server error", answered(500, broken).await),
        ];
        let text: String = all
            .iter()
            .map(|(case, text)| {
                format!(
                    "{case}: {text}
"
                )
            })
            .collect();
        assert!(!text.contains(KEY), "{text}");
        let path = format!("{}/tests/golden/errors.txt", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        assert_eq!(text, std::fs::read_to_string(&path).unwrap_or_default(), "{path}; run with BLESS=1");
    });
}
