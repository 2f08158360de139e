//! What it says of itself, how it speaks, and what it does where it cannot help.

use std::sync::Arc;

use agent_core::{
    AgentEvent, CallOptions, CancelToken, ContextView, IdSource, Message, ModelCall, ModelEvent, Money, Provider,
    ProviderErrorKind, Tool, ToolChoice, ToolSet, Transcript, Usage, UserMessage,
};
use agent_tools::{List, Search, Workspace};

use super::{LOOKING, ask, talk, tree::Folder};
use crate::offline::{MODEL, Offline};

fn folder() -> Folder {
    let folder = Folder::new();
    folder.put("src/a.rs", "// TODO: one\nfn a() {}\n// TODO: two\n").put("src/b.rs", "// TODO: three\n");
    folder.put("README.md", "# Title\n\nAbout it.\n");
    folder
}

#[test]
fn it_says_what_it_is() {
    let folder = folder();
    for prompt in ["hello", "What can you do?", "write me a poem", "delete src/a.rs", "Explain monads"] {
        let answer = talk(folder.path(), LOOKING, &[prompt]).remove(0);
        assert!(answer.calls.is_empty(), "{prompt}: {:?}", answer.calls);
        for part in ["demo/offline", "not a language model", "Find every TODO", "ANTHROPIC_API_KEY", "Ollama"] {
            assert!(answer.text.contains(part), "{prompt}: {part} in {}", answer.text);
        }
    }
    for prompt in ["find TODO", "what files are here", "summarise README.md", "how many lines has README.md"] {
        let text = ask(folder.path(), prompt);
        assert!(text.contains("demo/offline") && text.contains("not a language model"), "{prompt}: {text}");
    }
}

#[test]
fn the_examples_that_it_names_work() {
    let folder = folder();
    let text = ask(folder.path(), "hello");
    let examples: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("- `")?.strip_suffix('`')).collect();
    assert_eq!(examples.len(), 3, "{text}");
    for (example, said) in examples.iter().zip(["**3 matching lines in 2 files**", "**1 file**", "1 heading"]) {
        let text = ask(folder.path(), example);
        assert!(text.contains(said), "{example}: {text}");
    }
}

#[test]
fn it_is_free_and_named() {
    let facts = Offline::facts();
    assert_eq!((facts.provider.as_str(), facts.model.as_str()), ("demo", "offline"));
    assert_eq!(facts.price.unwrap().cost(&Usage::new(1_000_000, 1_000_000)), Money::ZERO);
    assert_eq!(Offline::new().origin(MODEL).provider, "demo");
}

#[test]
fn it_speaks_in_small_pieces() {
    let folder = folder();
    let answer = talk(folder.path(), LOOKING, &["find TODO"]).remove(0);
    let pieces = answer.events.iter().filter_map(|event| match event {
        AgentEvent::Model(ModelEvent::TextDelta { text, .. }) => Some(text.to_string()),
        _ => None,
    });
    let pieces: Vec<String> = pieces.collect();
    assert!(pieces.len() > 10 && pieces.iter().all(|piece| piece.len() <= 64), "{pieces:?}");
    assert_eq!(pieces.concat(), answer.text);
}

#[test]
fn it_works_without_memory() {
    let folder = folder();
    let answers = talk(
        folder.path(),
        LOOKING,
        &["find TODO in src/a.rs", "and in src/b.rs?", "how many .rs files?", "find TODO in src/a.rs"],
    );
    let firsts: Vec<&str> = answers.iter().map(|answer| answer.text.lines().next().unwrap()).collect();
    assert_eq!(
        firsts,
        [
            "**2 matching lines in 1 file** in `src/a.rs` have `TODO`.",
            "**1 matching line in 1 file** in `src/b.rs` has `TODO`.",
            "**2 files** in this folder (files `*.rs`), folders inside counted in.",
            "**2 matching lines in 1 file** in `src/a.rs` have `TODO`.",
        ]
    );
    // What was found before is looked up again: it may have changed.
    assert!(answers.iter().all(|answer| answer.calls.len() == 1), "{answers:?}");
}

#[test]
fn a_tool_that_is_not_offered_is_named() {
    let folder = folder();
    for (offered, prompt, tool) in [
        (&["list", "read"], "find TODO", "search"),
        (&["search", "read"], "what files are here", "list"),
        (&["search", "list"], "summarise README.md", "read"),
    ] {
        let answer = talk(folder.path(), offered, &[prompt]).remove(0);
        assert!(answer.text.contains(&format!("I need the tool `{tool}`")), "{}", answer.text);
        assert!(answer.calls.is_empty(), "{:?}", answer.calls);
    }
}

fn call(prompt: &str, options: CallOptions, folder: &Folder) -> ModelCall {
    let mut transcript = Transcript::new();
    transcript.append(Message::from(UserMessage::text(IdSource::seeded(1).message(0), prompt))).unwrap();
    let workspace = Workspace::new(folder.path()).unwrap();
    let tools = [List::new(&workspace).unwrap().spec().clone(), Search::new(&workspace).unwrap().spec().clone()];
    let view = ContextView::of(&transcript).unwrap();
    ModelCall::new(Arc::new(options), view).tools(ToolSet::new(tools.to_vec()).unwrap())
}

#[tokio::test]
async fn it_calls_nothing_when_it_must_not() {
    let folder = folder();
    let call = call("find TODO", CallOptions::new(MODEL).tool_choice(ToolChoice::Never), &folder);
    let mut stream = Offline::new().prepare(call).await.unwrap().send(CancelToken::new()).await.unwrap();
    let mut text = String::new();
    while let Some(event) = stream.next().await {
        match event.unwrap() {
            ModelEvent::TextDelta { text: more, .. } => text.push_str(&more),
            ModelEvent::ArgumentsDelta { json, .. } => panic!("a call: {json}"),
            _ => {}
        }
    }
    assert!(text.contains("I need the tool `search`"), "{text}");
}

#[tokio::test]
async fn a_cancel_ends_it() {
    let folder = folder();
    let prepared = Offline::new().prepare(call("hello", CallOptions::new(MODEL), &folder)).await.unwrap();
    let cancel = CancelToken::new();
    let mut stream = prepared.send(cancel.clone()).await.unwrap();
    assert!(stream.next().await.unwrap().is_ok());
    cancel.cancel();
    assert_eq!(stream.next().await.unwrap().unwrap_err().kind(), ProviderErrorKind::Cancelled);
    assert!(stream.next().await.is_none());
    assert!(prepared.send(cancel).await.is_err());
}
