//! Two tools that count their runs: one may run again after a crash, one may not.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use agent_core::{
    BoxFuture, CallId, Effects, RawJson, Tool, ToolContext, ToolError, ToolOutcome, ToolOutput, ToolSpec,
};
use serde::Deserialize;

/// How often each call ran, over all processes of a test.
pub(crate) type Runs = Arc<Mutex<BTreeMap<CallId, u32>>>;

fn spec(name: &str, schema: &str) -> ToolSpec {
    ToolSpec::new(name, format!("The tool {name}."), RawJson::parse(schema).unwrap()).unwrap()
}

fn count(runs: &Runs, context: &ToolContext) {
    *runs.lock().unwrap().entry(context.call).or_default() += 1;
}

/// Adds two numbers.
pub(crate) struct Add(ToolSpec, Runs);

impl Add {
    pub(crate) fn new(runs: &Runs) -> Self {
        let schema = r#"{"type":"object","properties":{"b":{"type":"integer"},"a":{"type":"integer"}}}"#;
        Self(spec("add", schema), runs.clone())
    }
}

#[derive(Deserialize)]
struct Two {
    a: i64,
    b: i64,
}

impl Tool for Add {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn effects(&self, _: &RawJson) -> Effects {
        Effects::shared()
    }

    fn call(&self, arguments: RawJson, context: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        count(&self.1, &context);
        let sum = arguments.read::<Two>().map(|two| ToolOutput::text((two.a + two.b).to_string()));
        let outcome = sum.map_err(|e| ToolError::invalid_arguments(e.to_string()));
        Box::pin(std::future::ready(outcome.into()))
    }
}

/// Writes something that must not be written twice.
pub(crate) struct Write(ToolSpec, Runs);

impl Write {
    pub(crate) fn new(runs: &Runs) -> Self {
        Self(spec("write", r#"{"type":"object","properties":{"text":{"type":"string"}}}"#), runs.clone())
    }
}

impl Tool for Write {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call(&self, _: RawJson, context: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        count(&self.1, &context);
        Box::pin(std::future::ready(ToolOutcome::Output("written".into())))
    }
}
