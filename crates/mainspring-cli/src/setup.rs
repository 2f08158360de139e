//! From options to a conversation that can be run: model, tools, policy, budget, session.

use std::{env::temp_dir, path::PathBuf, sync::Arc};

use agent_core::{Budget, CallOptions, Effort, Money, OnFailure, Reasoning, Tool};
use agent_http::TokioTimer;
use agent_loop::{Agent, ApprovalMode, Conversation, RunSettings};
use agent_session::{JsonlFolder, Session, SessionStore as _};
use agent_tools::{Bash, Edit, FolderBlobs, List, Output, Read, Sandbox, SandboxMode, Search, Workspace, Write};

use crate::{
    approve::{Always, Policy},
    args::{EffortArg, Options, SandboxArg},
    choose::{self, Chosen},
    config::{self, Config},
    error::Error,
    interrupt::Stoppable,
};

/// The names of the tools, as the help lists them.
const TOOLS: [&str; 7] = ["bash", "edit", "list", "output", "read", "search", "write"];
/// Those that change nothing.
const READING: [&str; 4] = ["list", "output", "read", "search"];

/// What a model is told that is told nothing else.
const SYSTEM: &str = "\
You are Mainspring, an agent that works on the user's files from the command line. Do what is asked, with the tools; \
look before you answer, and never guess what a file says. Change only what the task needs. When you are done, say in a \
few sentences what you found or did, with the paths.";

/// Everything that a run needs.
pub(crate) struct Setup {
    pub(crate) conversation: Conversation,
    pub(crate) model: Chosen,
    pub(crate) root: PathBuf,
    /// What became of the sandbox, where one was asked for.
    pub(crate) sandbox: Option<String>,
    /// Where it is saved.
    pub(crate) session: Option<Session>,
    /// Why it is not saved, where that was wanted.
    pub(crate) unsaved: Option<String>,
    pub(crate) parts: Parts,
    options: Options,
}

/// The folder of saved sessions.
pub(crate) fn sessions() -> Result<JsonlFolder, Error> {
    Ok(JsonlFolder::new(sessions_folder()?))
}

/// Where that is.
pub(crate) fn sessions_folder() -> Result<PathBuf, Error> {
    let folder = config::user_folder("XDG_DATA_HOME", ".local/share").ok_or(Error::NoHome)?;
    Ok(folder.join("sessions"))
}

/// `asks` says whether there is somebody who can be asked.
pub(crate) async fn setup(options: &Options, config: &Config, asks: bool) -> Result<Setup, Error> {
    let model = choose::choose(options.model.as_deref(), config).await?;
    let first = options.root.first().cloned().unwrap_or_else(|| PathBuf::from("."));
    let mut workspace = Workspace::new(&first)?;
    for folder in options.root.iter().skip(1) {
        workspace = workspace.also(folder)?;
    }
    let workspace = workspace.outputs(outputs(options)?);

    let (stop, always) = (Stoppable::default(), Always::default());
    let budget = options.max_cost.map(Money::from_dollars).transpose()?.map(Budget::new);
    let parts = Parts { workspace, stop, always, budget, asks };
    let (agent, sandbox) = parts.agent(options, &model)?;

    let mut unsaved = None;
    let session = match (&options.session, options.no_save) {
        (Some(id), _) => {
            let store = sessions()?;
            let found = store.find(id).await?;
            Some(store.open(found.header.id).await?)
        }
        (None, true) => None,
        // The work matters more than its record: a home that cannot be written to stops nobody.
        (None, false) => match new_session().await {
            Ok(session) => Some(session),
            Err(error) => {
                unsaved = Some(format!("this is not saved: {}", error.text()));
                None
            }
        },
    };
    let conversation = match &session {
        Some(session) => Conversation::from_journal(&agent, Arc::new(session.journal())).await?,
        None => Conversation::new(&agent),
    };
    Ok(Setup { conversation, model, root: first, sandbox, session, parts, unsaved, options: options.clone() })
}

impl Setup {
    /// Goes on with another model; the conversation stays.
    pub(crate) async fn switch(&mut self, name: &str, config: &Config) -> Result<(), Error> {
        let model = choose::choose(Some(name), config).await?;
        let (agent, _) = self.parts.agent(&self.options, &model)?;
        self.conversation = self.conversation.with_agent(&agent);
        self.model = model;
        Ok(())
    }

    /// Begins a conversation without history, in a session of its own where this one is saved.
    pub(crate) async fn begin_anew(&mut self) -> Result<(), Error> {
        if let Some(old) = &self.session {
            old.close().await?;
            self.session = Some(new_session().await?);
        }
        self.reopen().await
    }

    /// Reads the conversation anew from its session, whose head has moved.
    pub(crate) async fn reopen(&mut self) -> Result<(), Error> {
        let agent = self.conversation.agent().clone();
        self.conversation = match &self.session {
            Some(session) => Conversation::from_journal(&agent, Arc::new(session.journal())).await?,
            None => Conversation::new(&agent),
        };
        Ok(())
    }
}

/// Where long outputs go: beside the sessions, so that they are found again as long as these are; else where temporary
/// files are.
fn outputs(options: &Options) -> Result<Arc<FolderBlobs>, Error> {
    let data = config::user_folder("XDG_DATA_HOME", ".local/share").filter(|_| !options.no_save);
    let lasting = data.and_then(|folder| FolderBlobs::new(folder.join("outputs")).ok());
    match lasting {
        Some(blobs) => Ok(Arc::new(blobs)),
        None => Ok(Arc::new(FolderBlobs::new(
            temp_dir().join(format!("mainspring-{}", rustix::process::getuid().as_raw())),
        )?)),
    }
}

/// A saved session without anything in it.
async fn new_session() -> Result<Session, Error> {
    let store = sessions()?;
    let cwd = std::env::current_dir().map(|path| path.display().to_string()).unwrap_or_default();
    let header = store.new_header().cwd(cwd);
    Ok(store.create_with(header).await?)
}

/// What every agent of a session shares.
pub(crate) struct Parts {
    workspace: Workspace,
    /// The tools that run now; for the first Ctrl+C.
    pub(crate) stop: Stoppable,
    /// The tools that are agreed to for good.
    pub(crate) always: Always,
    pub(crate) budget: Option<Budget>,
    asks: bool,
}

impl Parts {
    /// An agent that asks this model, and what became of the sandbox.
    fn agent(&self, options: &Options, model: &Chosen) -> Result<(Agent, Option<String>), Error> {
        let (tools, sandbox) = tools(options, &self.workspace)?;
        let timer = Arc::new(TokioTimer::new());
        let mut agent = Agent::shared(model.provider.clone(), call_options(options, model), timer);
        agent = agent.facts(model.facts.clone());
        for tool in tools {
            agent = agent.shared_tool(self.stop.wrap(tool));
        }
        // Where it is wanted that somebody is asked and nobody is there, the run waits as data.
        let policy = Policy::new(options.yes, self.asks || options.ask, self.always.clone());
        agent = agent.hook(Arc::new(policy), OnFailure::Deny);
        // What is free by itself has nothing to be reserved for.
        if let Some(budget) = self.budget.as_ref().filter(|_| model.name != choose::demo_name()) {
            agent = agent.budget(budget.clone());
        }
        let mut settings = RunSettings::default();
        settings.approvals = if self.asks { ApprovalMode::Wait } else { ApprovalMode::Pause };
        if let Some(turns) = options.max_turns {
            settings.limits.turns = Some(turns);
        }
        Ok((agent.settings(settings).build()?, sandbox))
    }
}

fn call_options(options: &Options, model: &Chosen) -> CallOptions {
    let mut call = CallOptions::new(&model.facts.model);
    if let Some(tokens) = model.facts.max_output {
        call = call.max_output(tokens);
    }
    call = call.system(options.system.as_deref().unwrap_or(SYSTEM));
    let effort = match options.effort {
        None => return call,
        Some(EffortArg::Off) => return call.reasoning(Reasoning::Off),
        Some(EffortArg::Minimal) => Effort::Minimal,
        Some(EffortArg::Low) => Effort::Low,
        Some(EffortArg::Medium) => Effort::Medium,
        Some(EffortArg::High) => Effort::High,
        Some(EffortArg::Xhigh) => Effort::XHigh,
        Some(EffortArg::Max) => Effort::Max,
    };
    call.reasoning(Reasoning::Effort(effort))
}

type Tools = Vec<Arc<dyn Tool>>;

/// The tools that were asked for, in the order of their names, and what became of the sandbox.
fn tools(options: &Options, workspace: &Workspace) -> Result<(Tools, Option<String>), Error> {
    let all: Vec<String> = match &options.tools {
        Some(names) => names.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect(),
        None => TOOLS.map(str::to_owned).to_vec(),
    };
    let mut names: Vec<&str> = Vec::new();
    for name in &all {
        let known = TOOLS.into_iter().find(|known| known == name);
        names.push(known.ok_or_else(|| Error::NoTool { name: name.clone(), known: TOOLS.join(", ") })?);
    }
    names.retain(|name| !options.read_only || READING.contains(name));
    names.sort_unstable();
    names.dedup();
    let mut tools = Tools::new();
    let mut sandbox = None;
    for name in names {
        tools.push(match name {
            "bash" => {
                let mode = match options.sandbox {
                    None | Some(SandboxArg::Off) => SandboxMode::Off,
                    Some(SandboxArg::BestEffort) => SandboxMode::BestEffort,
                    Some(SandboxArg::Required) => SandboxMode::Required,
                };
                let bash = Bash::new(workspace)?.keep_folder().sandbox(&Sandbox::new(mode))?;
                sandbox = (mode != SandboxMode::Off).then(|| bash.sandbox_status().to_string());
                Arc::new(bash)
            }
            "edit" => Arc::new(Edit::new(workspace)?),
            "list" => Arc::new(List::new(workspace)?),
            "output" => Arc::new(Output::new(workspace)?),
            "read" => Arc::new(Read::new(workspace)?),
            "search" => Arc::new(Search::new(workspace)?),
            _ => Arc::new(Write::new(workspace)?),
        });
    }
    Ok((tools, sandbox))
}
