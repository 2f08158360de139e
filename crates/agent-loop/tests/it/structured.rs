//! A structured answer that comes as a call of the tool which stands for the schema.

use agent_core::OutputSchema;
use agent_loop::{Conversation, Ending};
use agent_testkit::{Reply, ScriptedProvider};

use crate::given::{FnTool, agent, block_on, history, json, options, run};

fn schema() -> OutputSchema {
    OutputSchema::new("answer", json(r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#))
}

#[test]
fn a_structured_answer_is_text_before_its_end_is_told() {
    block_on(async {
        // Beside another tool, as an agent has it in the middle of its work.
        let model = ScriptedProvider::new([Reply::call("answer", r#"{"n":42}"#)]);
        let timer = agent_testkit::PausedTimer::at(0);
        let builder = agent_loop::Agent::builder(model, options().output_schema(schema()), timer);
        let conversation = Conversation::new(&builder.tool(FnTool::says("a", "ok")).build().unwrap());
        let (lines, report) = run(&conversation, "Go").await;
        assert!(matches!(report.ending, Ending::Completed), "{:?}", report.ending);
        assert_eq!(report.final_text(), r#"{"n":42}"#);
        assert!(lines.contains(&r#"messageEnd assistant {"n":42}"#.to_owned()), "{lines:#?}");
        assert_eq!(history(&conversation), ["user Go", r#"assistant {"n":42}"#]);
    });
}

#[test]
fn case_93_a_tool_of_the_schemas_name_is_run() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::call("answer", "{}"), Reply::text("Done.")]);
        let timer = agent_testkit::PausedTimer::at(0);
        let tool = FnTool::says("answer", "ok");
        let builder = agent_loop::Agent::builder(model, options().output_schema(schema()), timer);
        let conversation = Conversation::new(&builder.tool(tool.clone()).build().unwrap());
        run(&conversation, "Go").await;
        assert_eq!(tool.runs(), 1);
    });
}

#[test]
fn without_a_schema_nothing_is_unwrapped() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::call("answer", "{}"), Reply::text("Done.")]);
        let conversation = Conversation::new(&agent(&model).tool(FnTool::says("a", "ok")).build().unwrap());
        run(&conversation, "Go").await;
        assert!(history(&conversation)[2].contains("no tool `answer`"), "{:?}", history(&conversation));
    });
}
