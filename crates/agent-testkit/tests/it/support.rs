//! Conversations and folds that several tests need.

use std::error::Error;

use agent_core::{
    Arguments, Assembler, AssistantMessage, CallOptions, CancelToken, ContentBlock, ContextView, IdSource, Message,
    ModelCall, ModelEvent, ModelStream, Prepared, Provider, ProviderError, RawJson, StopReason, ToolCall,
    ToolResultMessage, ToolSet, ToolSpec, Transcript, UserMessage,
};

pub(crate) type Tested = Result<(), Box<dyn Error>>;

pub(crate) fn tools(names: &[&str]) -> Result<ToolSet, Box<dyn Error>> {
    let schema = RawJson::parse(r#"{"type":"object"}"#)?;
    let specs: Result<Vec<_>, _> = names.iter().map(|name| ToolSpec::new(*name, "a tool", schema.clone())).collect();
    Ok(ToolSet::new(specs?)?)
}

pub(crate) fn user(ids: &mut IdSource, text: &str) -> Message {
    UserMessage::text(ids.message(0), text).into()
}

pub(crate) fn assistant(ids: &mut IdSource, content: Vec<ContentBlock>) -> AssistantMessage {
    AssistantMessage::new(ids.message(0), content, StopReason::EndTurn)
}

pub(crate) fn calls(ids: &mut IdSource, names: &[&str]) -> AssistantMessage {
    let block = |name: &&str| ContentBlock::ToolCall(ToolCall::new(*name, Arguments::empty()));
    assistant(ids, names.iter().map(block).collect())
}

/// The results of all calls of an answer.
pub(crate) fn results(ids: &mut IdSource, answer: &AssistantMessage) -> Vec<Message> {
    let result = |(id, call): (_, &ToolCall)| {
        ToolResultMessage::new(ids.message(0), id, call.name.as_str(), vec!["ok".into()]).into()
    };
    answer.tool_calls().map(result).collect()
}

pub(crate) fn view(messages: Vec<Message>) -> Result<ContextView, Box<dyn Error>> {
    let mut transcript = Transcript::new();
    for message in messages {
        transcript.append(message)?;
    }
    Ok(ContextView::of(&transcript)?)
}

/// A call that says "Hi" to the model `toy-1`.
pub(crate) fn hi() -> Result<ModelCall, Box<dyn Error>> {
    let hi = user(&mut IdSource::seeded(1), "Hi");
    Ok(ModelCall::new(CallOptions::new("toy-1"), view(vec![hi])?))
}

pub(crate) async fn prepare(provider: &impl Provider, call: ModelCall) -> Result<Prepared, ProviderError> {
    provider.prepare(call).await
}

pub(crate) async fn events(stream: &mut ModelStream) -> Result<Vec<ModelEvent>, ProviderError> {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event?);
    }
    Ok(events)
}

/// Sends and folds the whole answer.
pub(crate) async fn answer(prepared: &Prepared) -> Result<AssistantMessage, Box<dyn Error>> {
    let mut stream = prepared.send(CancelToken::new()).await?;
    let mut assembler = Assembler::new(IdSource::seeded(99).message(0));
    while let Some(event) = stream.next().await {
        assembler.push(&event?)?;
    }
    Ok(assembler.finish())
}
