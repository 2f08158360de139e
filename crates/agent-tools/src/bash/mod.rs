//! `bash`: runs a command line in a shell, and everything it starts ends with it.

mod answer;
mod capture;
mod folder;
mod policy;
mod process;
mod sandbox;
mod stream;
mod words;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

pub use self::{
    policy::{CommandPolicy, CommandVerdict, Otherwise},
    sandbox::{Sandbox, SandboxError, SandboxMode, SandboxStatus},
    words::{UnreadableCommand, simple_commands},
};
use agent_core::{
    Approval, BoxFuture, Effects, RawJson, Tool, ToolContext, ToolError, ToolOutcome, ToolOutput, ToolSpec,
    ToolSpecError,
};

use serde::Deserialize;
use tokio::{net::unix::pipe::Receiver, process::Command};

use self::{
    answer::{Ended, Facts},
    capture::Capture,
    folder::{Kept, Note},
    process::{Group, Job},
    sandbox::Confined,
    stream::{Reader, Stream},
};
use crate::{Workspace, args, path::PathError, workspace::UseOf};

const DESCRIPTION: &str = "Runs a command line in bash. Both outputs are shown together, in order; of a long output the \
     beginning and the end, and the handle of the whole. There is no terminal and no input: nothing can ask questions. \
     What is started with & goes on in the background.";
const SAME_FOLDER: &str = "The working folder is the same at the start of every call.";
const KEPT_FOLDER: &str = "cd holds for the calls that come.";
const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["command"],"properties":{
    "command":{"type":"string","minLength":1,"description":"The command line"},
    "folder":{"type":"string","description":"Where to run it (default: the working folder)"},
    "timeout_ms":{"type":"integer","minimum":1,"description":"When to end it, in milliseconds"}}}"#;

/// Variables that a command gets where this process has them.
const ENVIRONMENT: &[&str] = &["PATH", "HOME", "LANG", "TERM", "USER", "SHELL", "TMPDIR"];
const SHELLS: &[&str] = &["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash", "/bin/sh"];

/// How long output is waited for after the shell ended: a background job may hold the pipe for ever.
const LINGER: Duration = Duration::from_millis(500);
/// How long output is read after everything was killed: what fled the group may hold the pipe.
const DRAIN: Duration = Duration::from_millis(250);
/// How much longer than a command the call may take, so that it can still tell what there was.
const SLACK_MS: u64 = 10_000;

/// The tool `bash`. Calls run one after the other.
///
/// A command runs in a process group of its own that is ended on a timeout, on cancel and when the future is dropped.
/// Only a process that leaves its group (`setsid`) escapes that. What a command leaves running in the background is
/// reported, its output goes on into the workspace's store, and it is killed when the tool is dropped (on Linux). The environment is empty but for a short list, so keys
/// and tokens of this process are not passed on. Paths in the command are **not** held to the workspace: that is for
/// approvals and for the system, of which [`sandbox`](Self::sandbox) asks it.
///
/// Every exit code is an ordinary result; only a timeout and cancel mark the output as an error.
#[derive(Debug)]
pub struct Bash {
    spec: ToolSpec,
    workspace: Workspace,
    timeout: Duration,
    approval: Approval,
    policy: Option<CommandPolicy>,
    allowed: Vec<OsString>,
    set: BTreeMap<OsString, OsString>,
    folder: Option<Kept>,
    confined: Option<Confined>,
    status: SandboxStatus,
    /// What the model is told of the sandbox.
    closed: &'static str,
    left: Mutex<Left>,
}

/// What outlived its call.
#[derive(Debug, Default)]
struct Left {
    jobs: Vec<Job>,
    readers: Vec<Reader>,
}

#[derive(Deserialize)]
struct Args {
    command: String,
    folder: Option<String>,
    timeout_ms: Option<u64>,
}

/// The part of the arguments that is judged.
#[derive(Deserialize)]
struct Line {
    command: String,
}

impl Bash {
    /// The tool for a workspace, where commands start.
    ///
    /// # Errors
    /// None in practice: the spec is a constant.
    pub fn new(workspace: &Workspace) -> Result<Self, ToolSpecError> {
        let spec = args::spec("bash", "Shell", &format!("{DESCRIPTION} {SAME_FOLDER}"), SCHEMA)?;
        let (timeout, approval) = (Duration::from_secs(120), Approval::default());
        let (allowed, set) = (ENVIRONMENT.iter().map(OsString::from).collect(), BTreeMap::new());
        let (workspace, policy, left) = (workspace.clone(), None, Mutex::default());
        let (folder, confined, status, closed) = (None, None, SandboxStatus::Off, "");
        Ok(Self { spec, workspace, timeout, approval, policy, allowed, set, folder, confined, status, closed, left })
    }

    /// Keeps the working folder between calls: a command begins where the last one ended, as long as that is in the
    /// workspace. A command that ends by `exec`, or that sets its own `EXIT` trap, leaves it as it was.
    #[must_use]
    pub fn keep_folder(mut self) -> Self {
        self.folder = Some(Kept::new(self.workspace.base().to_owned()));
        self.describe()
    }

    /// Has the kernel hold every command to the workspace. See [`sandbox_status`](Self::sandbox_status) for what came
    /// of it.
    ///
    /// # Errors
    /// [`SandboxError`] where it is required and not to be had.
    pub fn sandbox(mut self, sandbox: &Sandbox) -> Result<Self, SandboxError> {
        (self.confined, self.status) = sandbox.start(&self.workspace).map_err(SandboxError::new)?;
        self.closed = sandbox.closed();
        Ok(self.describe())
    }

    /// What became of the sandbox.
    pub fn sandbox_status(&self) -> &SandboxStatus {
        &self.status
    }

    /// Tells the model what it can rely on.
    fn describe(mut self) -> Self {
        let folder = if self.folder.is_some() { KEPT_FOLDER } else { SAME_FOLDER };
        let closed = if self.confined.is_some() { self.closed } else { "" };
        let description = format!("{DESCRIPTION} {folder}{closed}");
        // It cannot fail: it has not failed with another text.
        if let Ok(spec) = args::spec("bash", "Shell", &description, SCHEMA) {
            self.spec = spec;
        }
        self
    }

    /// Sets how long a command may take (120 s); a call can ask for less, not for more.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Says whether somebody has to agree to every command.
    #[must_use]
    pub fn approval(mut self, approval: Approval) -> Self {
        self.approval = approval;
        self
    }

    /// Judges every command line: what the policy allows needs no approval, what it denies is refused, the rest needs
    /// an approval, which the loop asks for. It stands in the place of [`approval`](Self::approval).
    #[must_use]
    pub fn policy(mut self, policy: CommandPolicy) -> Self {
        self.policy = Some(policy);
        self
    }

    fn verdict(&self, line: &str) -> Option<CommandVerdict> {
        self.policy.as_ref().map(|policy| policy.verdict(line))
    }

    /// Passes on a variable of this process's environment. Passed on without it are `PATH`, `HOME`, `LANG`, `TERM`,
    /// `USER`, `SHELL` and `TMPDIR`.
    #[must_use]
    pub fn allow_env(mut self, name: impl Into<OsString>) -> Self {
        self.allowed.push(name.into());
        self
    }

    /// Sets a variable for every command.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.set.insert(name.into(), value.into());
        self
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn command(&self, line: &str, folder: &Path) -> Command {
        let shell = SHELLS.iter().find(|shell| Path::new(shell).exists()).unwrap_or(&"sh");
        let mut command = Command::new(shell);
        command.arg("-c").arg(line).current_dir(folder).env_clear();
        command.envs(self.allowed.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.envs(self.confined.as_ref().and_then(Confined::temporary).map(|folder| ("TMPDIR", folder)));
        command.envs(&self.set);
        command
    }

    async fn run(&self, args: Args, context: ToolContext) -> Result<ToolOutput, ToolError> {
        if context.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        if let Some(CommandVerdict::Deny { reason }) = self.verdict(&args.command) {
            return Err(ToolError::Denied { reason });
        }
        let (folder, gone) = match (&args.folder, &self.folder) {
            (Some(folder), _) => (folder_of(&self.workspace, folder)?, None),
            (None, Some(kept)) => kept.begin(&self.workspace),
            (None, None) => (self.workspace.base().to_owned(), None),
        };
        let limit = args.timeout_ms.map_or(self.timeout, |ms| Duration::from_millis(ms).min(self.timeout));
        let begun = Instant::now();
        let failed = |e: std::io::Error| ToolError::Failed {
            message: format!("the shell could not be started in `{}`: {}", self.workspace.show(&folder), e.kind()),
            source: Some(Box::new(e)),
        };
        let temporary = self.confined.as_ref().and_then(Confined::temporary);
        let note = self.folder.as_ref().map(|_| Note::new(temporary)).transpose().map_err(failed)?;
        let line = note.as_ref().map_or_else(|| args.command.clone(), |note| note.wrap(&args.command));
        let command = self.command(&line, &folder);
        let started = match &self.confined {
            Some(confined) => confined.run(command).await,
            None => Group::start(command),
        };
        let (mut group, mut pipe) = started.map_err(failed)?;
        let capture = Capture::new(self.workspace.blobs().clone(), context.call.to_string());
        let mut stream = Stream::new(capture, &context);
        let work = tokio::time::timeout(limit, attend(&mut group, &mut pipe, &mut stream));
        let ended = match context.cancel.race(work).await {
            Some(Ok(ended)) => ended?,
            Some(Err(_)) => Ended::TimedOut,
            None => Ended::Cancelled,
        };
        if !matches!(ended, Ended::Exited { .. }) {
            group.end().await;
            let _ = tokio::time::timeout(DRAIN, stream.read(&mut pipe)).await;
        }
        stream.tell();
        let job = group.leave();
        let mut capture = stream.capture;
        let output_bytes = capture.total;
        let (text, whole) = capture.text().await;
        let goes_on = match ended {
            Ended::Exited { open: true, .. } => {
                let (handle, whole) = capture.goes_on().await;
                self.left().readers.push(Reader::start(pipe, whole));
                Some(handle)
            }
            _ => None,
        };
        let folder = self.folder.as_ref().zip(note.as_ref());
        let folder = folder.and_then(|(kept, note)| kept.settle(note, &self.workspace)).or(gone);
        let took = begun.elapsed();
        let answer =
            Facts { ended, text, output_bytes, whole, goes_on, job: job.as_ref(), limit, took, folder }.answer();
        let mut left = self.left();
        left.jobs.retain(Job::is_alive);
        left.jobs.extend(job);
        left.readers.retain(|reader| !reader.is_done());
        Ok(answer)
    }
}

impl Drop for Bash {
    fn drop(&mut self) {
        self.left().jobs.iter().for_each(Job::kill);
    }
}

impl Tool for Bash {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effects(&self, arguments: &RawJson) -> Effects {
        let line = arguments.read::<Line>().map(|line| line.command).unwrap_or_default();
        let approval = match self.verdict(&line) {
            None => self.approval,
            Some(CommandVerdict::Ask { .. }) => Approval::Needed,
            // A denied line is refused by the call: nobody has to be asked.
            Some(CommandVerdict::Allow | CommandVerdict::Deny { .. }) => Approval::NotNeeded,
        };
        let limit = u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX);
        Effects::exclusive("shell").timeout_ms(limit.saturating_add(SLACK_MS)).approval(approval)
    }

    fn call(&self, arguments: RawJson, context: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        Box::pin(async move {
            match args::read(&self.spec, &arguments) {
                Ok(args) => self.run(args, context).await.into(),
                Err(e) => ToolOutcome::Error(e),
            }
        })
    }
}

fn folder_of(workspace: &Workspace, folder: &str) -> Result<PathBuf, PathError> {
    let place = workspace.place(folder, UseOf::Reading)?;
    if place.is_missing() {
        return Err(place.not_there());
    }
    let not = PathError::Kind { path: folder.to_owned(), what: "a file", wanted: "a folder" };
    if place.is_folder() { Ok(place.real) } else { Err(not) }
}

/// Reads until the shell has ended and nothing holds the pipe any more, or holds it too long.
async fn attend(group: &mut Group, pipe: &mut Receiver, output: &mut Stream<'_>) -> Result<Ended, ToolError> {
    let failed = |e: std::io::Error| ToolError::Failed {
        message: format!("the command was lost sight of: {}", e.kind()),
        source: Some(Box::new(e)),
    };
    let early = tokio::select! {
        biased;
        status = group.child.wait() => Some(status.map_err(failed)?),
        () = output.read(pipe) => None,
    };
    let (status, open) = match early {
        Some(status) => (status, tokio::time::timeout(LINGER, output.read(pipe)).await.is_err()),
        // It closed its outputs and may go on.
        None => (group.child.wait().await.map_err(failed)?, false),
    };
    Ok(Ended::Exited { status, open })
}
