//! Cases 21 to 28: arguments. The numbers are those of `cases.md`.

use std::sync::{Arc, Mutex};

use agent_core::{
    AgentEvent, CallId, Hook, HookFuture, OnFailure, RawJson, RunFacts, ToolCall, ToolOutcome, ToolVerdict,
};
use agent_loop::{Conversation, Ending};
use agent_testkit::{Reply, ScriptedProvider};

use crate::{
    given::{FnTool, agent, block_on, history, json},
    laws::{Ran, ran},
};

const SCHEMA: &str = r#"{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"},"n":{"type":"integer"}},
    "required":["path"]}"#;

type Got = Arc<Mutex<Vec<String>>>;

/// A tool that notes the arguments that it gets.
fn noting(schema: &str) -> (FnTool, Got) {
    let got = Got::default();
    let notes = got.clone();
    let tool = FnTool::new("write", move |arguments, _| {
        notes.lock().unwrap().push(arguments.get().to_owned());
        std::future::ready(ToolOutcome::Output("written".into()))
    });
    (tool.schema(schema), got)
}

/// One call with these arguments: what the tool got, and what the model was told.
async fn called(schema: &str, arguments: &str, hooks: &[Arc<dyn Hook>]) -> (Vec<String>, String, Ran) {
    let (tool, got) = noting(schema);
    let model = ScriptedProvider::new([Reply::call("write", arguments), Reply::text("Done.")]);
    let builder = hooks.iter().fold(agent(&model), |builder, hook| builder.hook(hook.clone(), OnFailure::Deny));
    let conversation = Conversation::new(&builder.tool(tool).build().unwrap());
    let ran = ran(&conversation, "Go").await;
    // Whatever was wrong, the model can answer it, and no vendor refuses the history.
    assert!(matches!(ran.report.ending, Ending::Completed), "{arguments}: {:#?}", ran.trace());
    let told = history(&conversation)[2].clone();
    let got = got.lock().unwrap().clone();
    (got, told, ran)
}

#[test]
fn case_21_arguments_that_are_cut_at_any_byte_ask_for_smaller_ones_and_run_nothing() {
    block_on(async {
        let whole = r#"{"path":"a.txt","text":"one\ntwo \u00e9 ü","n":12.5e3,"more":[{"x":null},true]}"#;
        // Cut before the first byte it is a call without arguments, which case 7 and 22 are about.
        for at in (1..whole.len()).filter(|at| whole.is_char_boundary(*at)) {
            let cut = whole.get(..at).unwrap();
            let (got, told, _) = called(r#"{"type":"object"}"#, cut, &[]).await;
            assert!(got.is_empty(), "{cut}");
            let smaller = "toolResult! Not run: the arguments were cut off; send smaller ones";
            assert!(told.starts_with(smaller), "{cut}: {told}");
        }
        let (got, told, _) = called(r#"{"type":"object"}"#, whole, &[]).await;
        assert_eq!((got.as_slice(), told.as_str()), ([whole.to_owned()].as_slice(), "toolResult written"));
    });
}

#[test]
fn case_22_a_tool_without_arguments_runs_with_an_empty_object() {
    block_on(async {
        for nothing in ["", " \n", "null", "{}"] {
            let (got, told, ran) = called(r#"{"type":"object"}"#, nothing, &[]).await;
            assert_eq!((got.as_slice(), told.as_str()), (["{}".to_owned()].as_slice(), "toolResult written"));
            assert_eq!(ran.count("toolStart write {}"), 1, "{nothing:?}");
        }
        // Nothing is not enough where something is required.
        let (got, told, _) = called(SCHEMA, "", &[]).await;
        assert!(got.is_empty() && told.contains("path"), "{told}");
    });
}

#[test]
fn case_23_an_object_that_is_encoded_twice_is_said_to_be_a_string() {
    block_on(async {
        let twice = serde_json::to_string(r#"{"path":"a.txt"}"#).unwrap();
        let table = [(twice.as_str(), "string"), ("[1]", "array"), ("true", "boolean"), ("12", "number")];
        for (arguments, found) in table {
            let (got, told, _) = called(SCHEMA, arguments, &[]).await;
            assert!(got.is_empty(), "{arguments}");
            assert_eq!(told, format!("toolResult! Not run: the arguments are a JSON {found}, not a JSON object."));
        }
    });
}

#[test]
fn case_24_whole_arguments_with_a_mistake_are_not_said_to_be_cut_off() {
    block_on(async {
        let wrong =
            [r#"{"path":"a.txt",}"#, "{path:1}", r#"{"path":"a.txt"}}"#, "write it", r#"{"path":"a"} {"path":"b"}"#];
        for arguments in wrong {
            let (got, told, _) = called(SCHEMA, arguments, &[]).await;
            assert!(got.is_empty(), "{arguments}");
            assert_eq!(told, "toolResult! Not run: the arguments are not valid JSON.", "{arguments}");
        }
    });
}

#[test]
fn case_26_the_order_of_keys_is_no_other_call() {
    block_on(async {
        let orders =
            [r#"{"a":1,"b":{"x":1,"y":2}}"#, r#"{"b":{"y":2,"x":1},"a":1}"#, r#"{ "b" : {"x":1,"y":2}, "a":1 }"#];
        for (last, detected) in [(orders[2], 1), (r#"{"a":1,"b":{"x":1,"y":3}}"#, 0)] {
            let replies = [Reply::call("a", orders[0]), Reply::call("a", orders[1]), Reply::call("a", last)];
            let model = ScriptedProvider::new(replies.into_iter().chain([Reply::text("Done.")]));
            let conversation = Conversation::new(&agent(&model).tool(FnTool::says("a", "A")).build().unwrap());
            assert_eq!(ran(&conversation, "Go").await.count("loopDetected a 3"), detected, "{last}");
        }
    });
}

#[test]
fn case_27_a_required_field_that_is_missing_is_named_and_the_tool_does_not_run() {
    block_on(async {
        let (got, told, _) = called(SCHEMA, r#"{"text":"one","n":"many"}"#, &[]).await;
        assert!(got.is_empty());
        assert!(
            told.starts_with("toolResult! ") && told.contains("`path`") && told.contains("/n"),
            "all at once: {told}"
        );
    });
}

/// Changes the arguments of every call to these.
struct Rewrites(&'static str);

impl Hook for Rewrites {
    fn before_tool<'a>(
        &'a self,
        _: &'a RunFacts,
        _: CallId,
        _: &'a ToolCall,
        _: &'a RawJson,
    ) -> HookFuture<'a, ToolVerdict> {
        Box::pin(async { Ok(ToolVerdict::Modify(json(self.0))) })
    }
}

#[test]
fn case_28_the_start_shows_the_arguments_that_the_tool_gets() {
    block_on(async {
        // As it came, mended, and changed by a hook.
        type Row<'a> = (&'a str, &'a [Arc<dyn Hook>], &'a str, usize);
        let rewrites: [Arc<dyn Hook>; 1] = [Arc::new(Rewrites(r#"{"path":"safe/a.txt"}"#))];
        let table: [Row<'_>; 3] = [
            (r#"{"path":"a.txt","n":1}"#, &[], r#"{"path":"a.txt","n":1}"#, 0),
            (r#"{"path":"a.txt","n":"1"}"#, &[], r#"{"path":"a.txt","n":1}"#, 1),
            (r#"{"path":"a.txt"}"#, &rewrites, r#"{"path":"safe/a.txt"}"#, 0),
        ];
        for (arguments, hooks, expected, mended) in table {
            let (got, _, ran) = called(SCHEMA, arguments, hooks).await;
            let started = ran.events.iter().find_map(|event| match event {
                AgentEvent::ToolStart { arguments, coercions, .. } => Some((arguments.get(), coercions.len())),
                _ => None,
            });
            let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            let (shown, coercions) = started.unwrap();
            assert_eq!((got[0].as_str(), coercions), (shown, mended), "{arguments}");
            assert_eq!(value(shown), value(expected), "{arguments}");
        }
        // What a hook makes of them is checked like what the model sends.
        let rewrites: [Arc<dyn Hook>; 1] = [Arc::new(Rewrites(r#"{"text":"no path"}"#))];
        let (got, told, _) = called(SCHEMA, r#"{"path":"a.txt"}"#, &rewrites).await;
        assert!(got.is_empty() && told.contains("`path`"), "{told}");
    });
}
