//! What a newcomer reads when something is not as it should be: golden files, in which no secret stands.

use agent_core::{AgentEvent, Credential, RunEnding, Secret};
use agent_testkit::{WireReply, WireServer};
use mainspring::{Conversation, Models, RunSettings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

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

/// The error of an address that wants a key and got none.
async fn no_key() -> String {
    let server = WireServer::start([reply(401, r#"{"error":{"message":"missing key"}}"#)]).await.unwrap();
    let models = Models::new().base_url("anthropic", server.url("/v1"));
    neutral(&server, &failure(models, "anthropic/claude-sonnet-5").await)
}

/// The error of a server that speaks no TLS, at an address that wants it.
async fn without_tls() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let serve = async {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut hello = [0; 1024];
            let _ = stream.read(&mut hello).await;
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
        }
    };
    tokio::select! {
        text = failure(at(&format!("https://{host}/v1")), "anthropic/claude-sonnet-5") => text.replace(&host, "127.0.0.1:PORT"),
        () = serve => unreachable!("it serves for ever"),
    }
}

/// The text without the port, which is another one in every run.
fn neutral(server: &WireServer, text: &str) -> String {
    let address = server.url("");
    let host = address.trim_start_matches("http://").trim_end_matches('/');
    text.replace(host, "127.0.0.1:PORT")
}

async fn answered(status: u16, body: &'static str) -> String {
    let server = WireServer::start([reply(status, body)]).await.unwrap();
    let text = failure(at(&server.url("/v1")), "anthropic/claude-sonnet-5").await;
    neutral(&server, &text)
}

/// The error where the key in the environment is not accepted.
async fn from_a_variable() -> String {
    let server = WireServer::start([reply(401, r#"{"error":{"message":"invalid key"}}"#)]).await.unwrap();
    let mut catalogue = agent_models::Catalogue::bundled().clone();
    // A variable that is set everywhere stands for the key.
    let provider = format!(
        r#"{{"format":1,"sources":{{"test":{{"what":"a test","date":"2026-12-01"}}}},"providers":{{"somewhere":{{
        "name":"Somewhere","protocol":"openai-chat","baseUrl":"{}","keys":["CARGO_PKG_NAME"],"auth":"bearer","source":"test"}}}}}}"#,
        server.url("/v1")
    );
    catalogue.overlay(&provider).unwrap();
    let text = failure(Models::new().catalogue(catalogue), "somewhere/some-model").await;
    neutral(&server, &text)
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
            ("wrong key in a variable", from_a_variable().await),
            ("no key for an address of yours", no_key().await),
            ("wrong model", answered(404, no_model).await),
            ("wrong address", answered(404, "<html>Not Found</html>").await),
            ("no route", failure(at("http://127.0.0.1:9/v1"), "anthropic/claude-sonnet-5").await),
            ("no TLS", without_tls().await),
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
