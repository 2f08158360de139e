//! The tools of the process: they append to a file, and call a server that counts.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
};

use agent_core::{
    Approval, BoxFuture, CallId, Effects, RawJson, Tool, ToolContext, ToolError, ToolOutcome, ToolOutput, ToolSpec,
};

use super::Error;

/// The file in which the tools leave their traces.
pub(super) const EFFECTS: &str = "effects.log";

/// What a tool does.
#[derive(Debug, Clone)]
enum Does {
    /// Appends a line to the file. Twice is not as good as once.
    Append(PathBuf),
    /// Asks the server to count, under the key of the call.
    Count(String),
}

/// A tool of the process.
#[derive(Debug)]
pub(super) struct Traces {
    spec: ToolSpec,
    effects: Effects,
    does: Does,
}

/// The tools by what a crash means for them.
pub(super) fn tools(folder: &Path, server: &str, append: Effects) -> Result<Vec<Traces>, Error> {
    let tool = |name: &str, effects, does| -> Result<Traces, Error> {
        let schema = RawJson::parse(r#"{"type":"object"}"#)?;
        Ok(Traces { spec: ToolSpec::new(name, "Leaves a trace.", schema)?, effects, does })
    };
    let file = Does::Append(folder.join(EFFECTS));
    Ok(vec![
        // Told to be unknown.
        tool("append", append, file.clone())?,
        // Looked for in the file.
        tool("verified", Effects::exclusive("disk").replay(agent_core::Replay::Verify), file.clone())?,
        // Repeated under the same key.
        tool("count", Effects::shared().idempotent(), Does::Count(server.to_owned()))?,
        // Somebody agrees first.
        tool("asked", Effects::exclusive("disk").approval(Approval::Needed), file)?,
    ])
}

fn line(tool: &str, call: CallId) -> String {
    format!("{tool} {call}\n")
}

fn count(address: &str, key: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(format!("{key}\n").as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

impl Tool for Traces {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effects(&self, _: &RawJson) -> Effects {
        self.effects.clone()
    }

    fn call(&self, _: RawJson, context: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        let done = match &self.does {
            Does::Append(path) => {
                let file = fs::OpenOptions::new().append(true).create(true).open(path);
                let text = line(self.spec.name(), context.call);
                file.and_then(|mut file| file.write_all(text.as_bytes())).map(|()| "did it".to_owned())
            }
            Does::Count(address) => count(address, &context.idempotency_key()),
        };
        Box::pin(std::future::ready(match done {
            Ok(text) => ToolOutcome::Output(text.into()),
            Err(error) => ToolOutcome::Error(ToolError::failed(error.to_string())),
        }))
    }

    fn verify(&self, _: RawJson, context: ToolContext) -> BoxFuture<'_, Result<Option<ToolOutput>, ToolError>> {
        let Does::Append(path) = &self.does else {
            return Box::pin(std::future::ready(Err(ToolError::failed("nothing to look for"))));
        };
        let text = fs::read_to_string(path).unwrap_or_default();
        let found = text.contains(&line(self.spec.name(), context.call));
        Box::pin(std::future::ready(Ok(found.then(|| "did it before".into()))))
    }
}
