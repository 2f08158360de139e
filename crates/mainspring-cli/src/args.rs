//! What can be said on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// What the exit status says; printed below the help.
const AFTER: &str = "\
Exit status: 0 done, 1 failed, 2 wrong usage or configuration, 3 stopped by a limit or the budget,
4 refused by the model, 5 waiting for an approval, 130 cancelled.

Examples:
  mainspring \"Find every TODO in src/ and say which file has most\"
  git diff | mainspring \"Review this change\"
  mainspring --model anthropic/claude-sonnet-5 --max-cost 0.50 --yes \"Make the tests pass\"
  mainspring chat

With no key in the environment and no local server, `demo/offline` answers: rules in the place of a model.
More: https://github.com/mainspring-rs/mainspring/blob/main/docs/cli.md";

/// An agent that works on your files.
#[derive(Debug, Parser)]
#[command(name = "mainspring", version, after_help = AFTER, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) once: Once,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Talk with the agent in the terminal.
    Chat(Options),
    /// Go on with a saved session: the last one, or the one with this id.
    Resume(Resume),
    /// What was saved: list, search, show, export, remove.
    Sessions(SessionsArgs),
    /// Write a saved session as one web page that needs nothing else.
    View(View),
    /// The models that are known, what they cost, and which of them can be used here.
    Models(Models),
    /// Look at keys, local servers, the sandbox, the terminal and the configuration.
    Doctor(Doctor),
    /// Print the JSON schema of what `--json` writes.
    Schema,
}

/// One prompt, one answer.
#[derive(Debug, Args)]
pub(crate) struct Once {
    /// What to do; `-` or nothing reads it from standard input, and what is piped in goes behind it.
    pub(crate) prompt: Vec<String>,
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Options {
    /// The model, as `provider/model` [env: MAINSPRING_MODEL].
    #[arg(long, short)]
    pub(crate) model: Option<String>,
    /// The tools, with commas between: bash, edit, list, output, read, search, write.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub(crate) tools: Option<Vec<String>>,
    /// The folder to work in; more than one may be given.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    /// Run every tool without asking.
    #[arg(long, short, conflicts_with_all = ["ask", "read_only"])]
    pub(crate) yes: bool,
    /// Ask before anything is changed or run (the default).
    #[arg(long, conflicts_with = "read_only")]
    pub(crate) ask: bool,
    /// Only tools that change nothing.
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Write what happens as JSON lines.
    #[arg(long)]
    pub(crate) json: bool,
    /// Stop before this many dollars are exceeded [env: MAINSPRING_MAX_COST].
    #[arg(long, value_name = "DOLLARS")]
    pub(crate) max_cost: Option<f64>,
    /// Stop after so many answers of the model.
    #[arg(long, value_name = "N")]
    pub(crate) max_turns: Option<u64>,
    /// Instructions in the place of the usual ones.
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// How hard the model thinks.
    #[arg(long, value_enum)]
    pub(crate) effort: Option<EffortArg>,
    /// Whether the kernel holds commands to the folder.
    #[arg(long, value_enum)]
    pub(crate) sandbox: Option<SandboxArg>,
    /// Colours.
    #[arg(long, value_enum)]
    pub(crate) color: Option<When>,
    /// The configuration file [env: MAINSPRING_CONFIG].
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Do not save the session.
    #[arg(long, conflicts_with = "session")]
    pub(crate) no_save: bool,
    /// Go on with this saved session.
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Resume {
    /// The session: its id, or its beginning or end. The last one where nothing is said.
    pub(crate) id: Option<String>,
    /// What to do next; without it, an open run goes on, or a chat begins.
    #[arg(long, short)]
    pub(crate) prompt: Option<String>,
    /// Answer the approvals that the session waits for: allow them.
    #[arg(long, conflicts_with = "deny")]
    pub(crate) allow: bool,
    /// Answer the approvals that the session waits for: deny them, for this reason.
    #[arg(long, value_name = "REASON")]
    pub(crate) deny: Option<String>,
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SessionsCommand>,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum SessionsCommand {
    /// The saved sessions, newest first.
    List,
    /// The messages that have a text in them.
    Search {
        /// The text, in any case.
        text: String,
    },
    /// The branches of a session.
    Tree {
        /// The session.
        id: String,
    },
    /// A session as Markdown.
    Show {
        /// The session.
        id: String,
    },
    /// A session in another format: markdown, html, openai, anthropic.
    Export {
        /// The session.
        id: String,
        /// The format.
        #[arg(long, default_value = "markdown")]
        format: String,
    },
    /// Remove a session.
    Rm {
        /// The session.
        id: String,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct View {
    /// The session.
    pub(crate) id: String,
    /// Where to write the page; standard output where nothing is said.
    #[arg(long, short)]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Models {
    /// Only models whose name has this in it.
    pub(crate) filter: Option<String>,
    /// Only those that can be used with the keys that are there.
    #[arg(long)]
    pub(crate) usable: bool,
    /// As JSON lines.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// As one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// The configuration file [env: MAINSPRING_CONFIG].
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SandboxArg {
    Off,
    BestEffort,
    Required,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EffortArg {
    Off,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}
