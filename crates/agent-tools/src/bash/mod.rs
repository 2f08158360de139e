//! `bash`: runs a command line in a shell, and everything it starts ends with it.

mod capture;
mod policy;
mod process;
mod words;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt::Write as _,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::ExitStatus,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

pub use self::{
    policy::{CommandPolicy, CommandVerdict, Otherwise},
    words::{UnreadableCommand, simple_commands},
};
use agent_core::{
    Approval, BoxFuture, Effects, RawJson, Tool, ToolContext, ToolError, ToolOutcome, ToolOutput, ToolSpec,
    ToolSpecError,
};

use serde::{Deserialize, Serialize};
use tokio::{io::AsyncReadExt as _, net::unix::pipe::Receiver, process::Command};

use self::{
    capture::{Capture, boundary},
    process::{Group, Job},
};
use crate::{Workspace, args, path::PathError, workspace::UseOf};

const DESCRIPTION: &str = "Runs a command line in bash. Both outputs are shown together, in order; of a long output the \
     beginning and the end. There is no terminal and no input: nothing can ask questions. The working folder is the \
     same at the start of every call.";
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
/// How often the user hears of output.
const PROGRESS: Duration = Duration::from_millis(100);
/// How much longer than a command the call may take, so that it can still tell what there was.
const SLACK_MS: u64 = 10_000;

/// The tool `bash`. Calls run one after the other.
///
/// A command runs in a process group of its own that is ended on a timeout, on cancel and when the future is dropped.
/// Only a process that leaves its group (`setsid`) escapes that. What a command leaves running in the background is
/// reported, and killed when the tool is dropped (on Linux). The environment is empty but for a short list, so keys
/// and tokens of this process are not passed on. Paths in the command are **not** held to the workspace: that is for
/// approvals and for the system.
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
    jobs: Mutex<Vec<Job>>,
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    /// `None` where a signal ended it.
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    duration_ms: u64,
    output_bytes: u64,
    timed_out: bool,
    cancelled: bool,
    output_still_open: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    background: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    whole_output: Option<PathBuf>,
}

/// How a command came to its end.
enum Ended {
    Exited { status: ExitStatus, open: bool },
    TimedOut,
    Cancelled,
}

impl Bash {
    /// The tool for a workspace, where commands start.
    ///
    /// # Errors
    /// None in practice: the spec is a constant.
    pub fn new(workspace: &Workspace) -> Result<Self, ToolSpecError> {
        let spec = args::spec("bash", "Shell", DESCRIPTION, SCHEMA)?;
        let (timeout, approval) = (Duration::from_secs(120), Approval::default());
        let (allowed, set) = (ENVIRONMENT.iter().map(OsString::from).collect(), BTreeMap::new());
        let (workspace, policy, jobs) = (workspace.clone(), None, Mutex::default());
        Ok(Self { spec, workspace, timeout, approval, policy, allowed, set, jobs })
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

    fn jobs(&self) -> MutexGuard<'_, Vec<Job>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn command(&self, line: &str, folder: &Path) -> Command {
        let shell = SHELLS.iter().find(|shell| Path::new(shell).exists()).unwrap_or(&"sh");
        let mut command = Command::new(shell);
        command.arg("-c").arg(line).current_dir(folder).env_clear();
        command.envs(self.allowed.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
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
        let folder = match &args.folder {
            None => self.workspace.base().to_owned(),
            Some(folder) => folder_of(&self.workspace, folder)?,
        };
        let limit = args.timeout_ms.map_or(self.timeout, |ms| Duration::from_millis(ms).min(self.timeout));
        let begun = Instant::now();
        let started = Group::start(self.command(&args.command, &folder));
        let (mut group, mut pipe) = started.map_err(|e| ToolError::Failed {
            message: format!("the shell could not be started: {}", e.kind()),
            source: Some(Box::new(e)),
        })?;
        let mut output = Output::new(self.workspace.spill(), &context);
        let work = tokio::time::timeout(limit, attend(&mut group, &mut pipe, &mut output));
        let ended = match context.cancel.race(work).await {
            Some(Ok(ended)) => ended?,
            Some(Err(_)) => Ended::TimedOut,
            None => Ended::Cancelled,
        };
        if !matches!(ended, Ended::Exited { .. }) {
            group.end().await;
            let _ = tokio::time::timeout(DRAIN, output.read(&mut pipe)).await;
        }
        output.tell();
        let job = group.leave();
        let answer = answer(ended, output.capture, job.as_ref(), limit, begun.elapsed()).await;
        let mut jobs = self.jobs();
        jobs.retain(Job::is_alive);
        jobs.extend(job);
        Ok(answer)
    }
}

impl Drop for Bash {
    fn drop(&mut self) {
        self.jobs().iter().for_each(Job::kill);
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
async fn attend(group: &mut Group, pipe: &mut Receiver, output: &mut Output<'_>) -> Result<Ended, ToolError> {
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

/// Output on its way to the model and to the user.
struct Output<'a> {
    capture: Capture,
    context: &'a ToolContext,
    untold: Vec<u8>,
    told: Option<Instant>,
}

impl<'a> Output<'a> {
    fn new(spill: Option<&Path>, context: &'a ToolContext) -> Self {
        let capture = Capture::new(spill, &format!("bash-{}.log", context.call));
        Self { capture, context, untold: Vec::new(), told: None }
    }

    /// Reads to the end. Dropping the future loses nothing that was read.
    async fn read(&mut self, pipe: &mut Receiver) {
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
            let bytes = buffer.get(..read).unwrap_or_default();
            self.untold.extend_from_slice(bytes);
            self.capture.push(bytes).await;
            if self.told.is_none_or(|told| told.elapsed() >= PROGRESS) || self.untold.len() > 64 * 1024 {
                self.tell();
            }
        }
    }

    /// Tells the user what is new, up to the last whole character.
    fn tell(&mut self) {
        let end = boundary(&self.untold);
        let piece: Vec<u8> = self.untold.drain(..end).collect();
        if !piece.is_empty() {
            self.told = Some(Instant::now());
            self.context.progress(String::from_utf8_lossy(&piece));
        }
    }
}

async fn answer(ended: Ended, capture: Capture, job: Option<&Job>, limit: Duration, took: Duration) -> ToolOutput {
    let output_bytes = capture.total;
    let (mut text, whole_output) = capture.into_text().await;
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let (mut exit_code, mut signal, mut output_still_open) = (None, None, false);
    let _ = match &ended {
        Ended::Exited { status, open } => {
            (exit_code, signal, output_still_open) = (status.code(), status.signal(), *open);
            match (exit_code, signal) {
                (Some(code), _) => write!(text, "[exit code {code}]"),
                (None, signal) => write!(text, "[ended by signal {}]", signal.unwrap_or_default()),
            }
        }
        Ended::TimedOut => {
            write!(text, "[timed out after {} ms; it was ended, with all it started]", limit.as_millis())
        }
        Ended::Cancelled => write!(text, "[cancelled; it was ended, with all it started]"),
    };
    if let Some(job) = job {
        let names: Vec<_> = job.members.iter().map(|member| format!("{} ({})", member.pid, member.name)).collect();
        let group = job.group();
        let _ = write!(text, "\n[still running in the background: {}; `kill -- -{group}` ends it]", names.join(", "));
    }
    if output_still_open {
        text.push_str("\n[something still holds the output; what it writes from now on is lost]");
    }
    let (timed_out, cancelled) = (matches!(ended, Ended::TimedOut), matches!(ended, Ended::Cancelled));
    let background = job.map(|job| job.members.iter().map(|member| member.pid).collect()).unwrap_or_default();
    let details = Details {
        exit_code,
        signal,
        duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        output_bytes,
        timed_out,
        cancelled,
        output_still_open,
        background,
        whole_output,
    };
    let output = if timed_out || cancelled { ToolOutput::text(text).as_error() } else { ToolOutput::text(text) };
    match RawJson::of(&details) {
        Ok(details) => output.details(details),
        Err(_) => output,
    }
}
