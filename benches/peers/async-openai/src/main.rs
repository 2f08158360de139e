//! async-openai as its users have it: a client of Chat Completions, without a loop.

use async_openai::{
    Client,
    config::OpenAIConfig,
    types::chat::{ChatCompletionRequestUserMessageArgs, CreateChatCompletionRequestArgs},
};
use futures_util::StreamExt;
use peers_meter::{Ask, KEY, Meter, ask, check};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let meter = Meter::start();
    match ask() {
        Ask::Stream { base, .. } => meter.report(&[("text", stream(&base).await)]),
        _ => check(Err("async-openai has no loop")),
    }
}

/// Reads the answer; the bytes of its text.
async fn stream(base: &str) -> u64 {
    let client = Client::with_config(OpenAIConfig::new().with_api_key(KEY).with_api_base(base));
    let message = check(ChatCompletionRequestUserMessageArgs::default().content("hi").build());
    let request = CreateChatCompletionRequestArgs::default().model("gpt-4o").messages([message.into()]).build();
    let mut chunks = check(client.chat().create_stream(check(request)).await);
    let mut text = String::new();
    while let Some(chunk) = chunks.next().await {
        if let Some(delta) = check(chunk).choices.first().and_then(|choice| choice.delta.content.as_deref()) {
            text.push_str(delta);
        }
    }
    text.len() as u64
}
