//! genai as its users have it. It has no loop: the one here is that of its examples, which clone the request for each
//! call.

use futures_util::StreamExt;
use genai::{
    Client, ModelIden, ServiceTarget,
    adapter::AdapterKind,
    chat::{ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, Tool, ToolCall, ToolResponse},
    resolver::{AuthData, Endpoint, ServiceTargetResolver},
};
use peers_meter::{ADD, Api, Ask, KEY, Meter, SCHEMA, SUM, SYSTEM, ask, check};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let meter = Meter::start();
    match ask() {
        Ask::Stream { api, base, .. } => meter.report(&[("text", stream(api, &base).await)]),
        Ask::Turns { base } => meter.report(&[("turns", run(client(Api::OpenAi, &base)).await)]),
        Ask::Session { .. } => check(Err("it has no sessions")),
        Ask::Crowd { bases, runs } => {
            let clients: Vec<_> = bases.iter().map(|base| client(Api::OpenAi, base)).collect();
            let tasks: Vec<_> =
                clients.iter().cycle().take(runs).map(|client| tokio::spawn(run(client.clone()))).collect();
            let mut whole = 0;
            for task in tasks {
                whole += u64::from(task.await.is_ok_and(|turns| turns == 3));
            }
            meter.report(&[("whole", whole)]);
        }
    }
}

fn client(api: Api, base: &str) -> Client {
    let (kind, base) = match api {
        Api::OpenAi => (AdapterKind::OpenAI, format!("{base}/")),
        Api::Anthropic => (AdapterKind::Anthropic, format!("{base}/v1/")),
    };
    let target = move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
        let endpoint = Endpoint::from_owned(base.clone());
        let model = ModelIden::new(kind, target.model.model_name);
        Ok(ServiceTarget { endpoint, auth: AuthData::from_single(KEY), model })
    };
    check(Client::builder().with_service_target_resolver(ServiceTargetResolver::from_resolver_fn(target)).build())
}

fn request(prompt: &str) -> ChatRequest {
    let tool = Tool::new("add").with_description(ADD).with_schema(check(serde_json::from_str(SCHEMA)));
    ChatRequest::new(vec![ChatMessage::system(SYSTEM), ChatMessage::user(prompt)]).with_tools(vec![tool])
}

fn options() -> ChatOptions {
    ChatOptions::default().with_capture_tool_calls(true).with_capture_content(true)
}

/// Reads the answer; the bytes of its text and of the last state of its tool arguments, which each event repeats whole.
async fn stream(api: Api, base: &str) -> u64 {
    let model = if api == Api::OpenAi { "gpt-4o" } else { "claude-sonnet-4-20250514" };
    let client = client(api, base);
    let answer = check(client.exec_chat_stream(model, request("hi"), Some(&options())).await);
    let mut events = answer.stream;
    let (mut text, mut arguments) = (String::new(), 0);
    while let Some(event) = events.next().await {
        match check(event) {
            ChatStreamEvent::Chunk(chunk) => text.push_str(&chunk.content),
            ChatStreamEvent::ToolCallChunk(chunk) => {
                arguments = chunk.tool_call.fn_arguments.as_str().map_or(0, str::len);
            }
            _ => {}
        }
    }
    text.len() as u64 + arguments as u64
}

/// Goes to the end; the answers that there were.
async fn run(client: Client) -> u64 {
    let mut request = request("go");
    let mut turns = 0;
    loop {
        let answer = check(client.exec_chat_stream("gpt-4o", request.clone(), Some(&options())).await);
        let mut events = answer.stream;
        let mut calls: Vec<ToolCall> = Vec::new();
        while let Some(event) = events.next().await {
            if let ChatStreamEvent::End(end) = check(event) {
                calls = end.captured_into_tool_calls().unwrap_or_default();
            }
        }
        turns += 1;
        if calls.is_empty() {
            return turns;
        }
        let results: Vec<_> = calls.iter().map(|call| ToolResponse::new(call.call_id.clone(), SUM)).collect();
        request = request.append_message(ChatMessage::from(calls));
        for result in results {
            request = request.append_message(ChatMessage::from(result));
        }
    }
}
