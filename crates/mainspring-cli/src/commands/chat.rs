//! A talk in the terminal: what is typed while the agent works steers it.
//!
//! The line is edited by `rustyline`, on a thread of its own: it has history, pasted blocks, completion, and prints what
//! the agent says above the line that is being typed.

use std::{
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
    thread,
};

use agent_core::Message;
use agent_session::ExportFormat;
use rustyline::{
    Cmd, Completer, CompletionType, Config as EditorConfig, Editor as LineEditor, EventHandler, Helper, Highlighter,
    Hinter, KeyCode, KeyEvent, Modifiers, Validator, completion::FilenameCompleter, error::ReadlineError,
    history::FileHistory,
};
use tokio::sync::mpsc;

use super::once;
use crate::{
    args::Options,
    config::{self, Config},
    drive::{Input, Inputs},
    error::{Error, Status},
    setup::{self, Setup},
    show::{Editor, Plain, Show, money},
};

const HELP: &str = "\
/help              this
/model NAME        go on with another model, as provider/model
/tools             the tools that the model has
/cost              what this talk has used and cost
/clear             begin anew; the session stays saved
/history           what was asked
/checkpoint NAME   give this place a name
/fork NAME         go back to a place with a name, and on from there on a branch of its own
/undo              take back the last prompt and what came of it
/tree              the branches of this session
/export FILE       write this talk as Markdown, or as a page where the name ends with .html
/quit              leave; so does Ctrl+D
While the agent works: a line steers it, /queue TEXT waits until it is done, Ctrl+C stops the tool that runs, and
Ctrl+C again ends the run. Alt+Enter begins a new line.";

/// How many lines of history are kept.
const HISTORY: usize = 1_000;

pub(crate) async fn chat(options: Options) -> Result<Status, Error> {
    let mut options = options;
    let config = config::read(options.config.as_deref())?;
    config.fill(&mut options)?;
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Error::NoTerminal);
    }
    options.json = false;
    let setup = setup::setup(&options, &config, true).await?;
    talk(setup, &options).await
}

/// Talks until the user leaves.
pub(crate) async fn talk(mut setup: Setup, options: &Options) -> Result<Status, Error> {
    let config = config::read(options.config.as_deref())?;
    let (mut inputs, printer) = editor()?;
    let theme = once::theme(options, true);
    let mut show = Show::Plain(Box::new(Plain::new(Box::new(Editor::new(printer)), theme, once::width(), true)));
    once::introduce(&setup, options, &mut show)?;
    show.note(&format!("{}; /help says what can be typed", setup.model.name))?;
    let mut left = false;
    loop {
        match inputs.next().await {
            Input::Line(line) => {
                let line = line.trim();
                left = false;
                if let Some(command) = line.strip_prefix('/') {
                    match command_of(command, &mut setup, &config, &mut show).await {
                        Ok(true) => {}
                        Ok(false) => break,
                        Err(error) => show.note(&error.text())?,
                    }
                } else if !line.is_empty() {
                    let run = setup.conversation.run(line)?;
                    once::drive(&setup, &mut show, &mut inputs).run(run).await?;
                }
            }
            Input::Interrupt if left => break,
            Input::Interrupt => {
                left = true;
                show.note("Ctrl+C again, or Ctrl+D, leaves")?;
            }
            Input::End => break,
        }
        if matches!(inputs, Inputs::None) {
            break;
        }
    }
    if let Some(session) = &setup.session {
        show.note(&format!("saved; go on with: mainspring resume {}", session.id()))?;
    }
    once::finish(setup).await?;
    Ok(Status::Done)
}

/// Does what a line with a slash says; whether the talk goes on.
async fn command_of(command: &str, setup: &mut Setup, config: &Config, show: &mut Show) -> Result<bool, Error> {
    let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    let rest = rest.trim();
    let said = match name {
        "help" | "?" => HELP.to_owned(),
        "quit" | "exit" | "q" => return Ok(false),
        "model" if rest.is_empty() => setup.model.name.clone(),
        "model" => {
            setup.switch(rest, config).await?;
            format!("{} answers from here on", setup.model.name)
        }
        "tools" => {
            let tools = setup.conversation.agent().setup().tools.specs();
            tools.iter().map(|tool| tool.name().to_owned()).collect::<Vec<_>>().join(", ")
        }
        "cost" => cost(setup),
        "clear" => {
            setup.begin_anew().await?;
            "a new session begins".to_owned()
        }
        "history" => {
            let asked = |message: &Message| matches!(message, Message::User(_)).then(|| message.text());
            let messages = setup.conversation.messages();
            let lines: Vec<String> = messages.iter().filter_map(|message| asked(message)).collect();
            if lines.is_empty() { "nothing was asked yet".into() } else { lines.join("\n") }
        }
        "checkpoint" if !rest.is_empty() => {
            session(setup)?.checkpoint(rest).await?;
            format!("this place is `{rest}`; /fork {rest} comes back here")
        }
        "fork" if !rest.is_empty() => {
            session(setup)?.seek_checkpoint(rest).await?;
            setup.reopen().await?;
            format!("back at `{rest}`, on a branch of its own")
        }
        "undo" => undo(setup).await?,
        "tree" => super::sessions::tree(session(setup)?).await?.trim_end().to_owned(),
        "export" if !rest.is_empty() => {
            let format = if rest.ends_with(".html") { ExportFormat::Html } else { ExportFormat::Markdown };
            let text = session(setup)?.export(format).await?.text;
            std::fs::write(rest, text)?;
            format!("wrote {rest}")
        }
        "checkpoint" | "fork" | "export" => format!("/{name} wants a name behind it"),
        "queue" => "nothing runs: write it without /queue".to_owned(),
        other => format!("there is no command /{other}; /help lists them"),
    };
    for line in said.lines() {
        show.note(line)?;
    }
    Ok(true)
}

fn session(setup: &Setup) -> Result<&agent_session::Session, Error> {
    setup.session.as_ref().ok_or(Error::NotSaved)
}

fn cost(setup: &Setup) -> String {
    let usage = setup.conversation.usage();
    let unpriced = setup.conversation.state().is_ok_and(|state| state.is_unpriced());
    let spent = if unpriced { "cost not known".to_owned() } else { money(setup.conversation.spent()) };
    let left = setup.parts.budget.as_ref().map(|budget| format!(", {} left", money(budget.left())));
    let (prompt, generated) = (usage.prompt(), usage.generated());
    format!("{prompt} tokens in, {generated} out, {spent}{}", left.unwrap_or_default())
}

/// Takes the last prompt back.
async fn undo(setup: &mut Setup) -> Result<String, Error> {
    let messages = setup.conversation.messages();
    let last = messages.iter().rev().find(|message| matches!(***message, Message::User(_)));
    let Some((id, text)) = last.map(|message| (message.id(), message.text())) else {
        return Ok("nothing was asked yet".into());
    };
    session(setup)?.rewind(id).await?;
    setup.reopen().await?;
    Ok(format!("taken back: {text}"))
}

/// What edits the line: names of files are completed, and the commands of a talk.
#[derive(Helper, Completer, Hinter, Highlighter, Validator)]
struct Typing {
    #[rustyline(Completer)]
    files: Commands,
}

/// Completes commands at the beginning of a line, and names of files elsewhere.
struct Commands(FilenameCompleter);

impl rustyline::completion::Completer for Commands {
    type Candidate = rustyline::completion::Pair;

    fn complete(
        &self,
        line: &str,
        at: usize,
        context: &rustyline::Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Self::Candidate>)> {
        let typed = line.get(..at).unwrap_or_default();
        if !typed.starts_with('/') || typed.contains(' ') {
            return self.0.complete(line, at, context);
        }
        let names = HELP.lines().filter_map(|line| line.split_whitespace().next()).filter(|name| name.starts_with('/'));
        let fits = names.filter(|name| name.starts_with(typed));
        let pair =
            |name: &str| rustyline::completion::Pair { display: name.to_owned(), replacement: format!("{name} ") };
        Ok((0, fits.map(pair).collect()))
    }
}

/// Starts the line editor on a thread of its own, which ends with the process or the receiver.
fn editor() -> Result<(Inputs, impl rustyline::ExternalPrinter + Send + 'static), Error> {
    let config = EditorConfig::builder()
        .auto_add_history(true)
        .history_ignore_space(true)
        .max_history_size(HISTORY)?
        .completion_type(CompletionType::List)
        .bracketed_paste(true)
        .build();
    let mut editor: LineEditor<Typing, FileHistory> = LineEditor::with_config(config)?;
    editor.set_helper(Some(Typing { files: Commands(FilenameCompleter::new()) }));
    editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), EventHandler::Simple(Cmd::Newline));
    let history = history();
    if let Some(path) = &history {
        // There is none yet, or it is of another program: the talk begins without.
        let _ = editor.load_history(path);
    }
    let printer = editor.create_external_printer()?;
    let (send, receive) = mpsc::channel(16);
    thread::spawn(move || {
        loop {
            let input = match editor.readline("> ") {
                Ok(line) => Input::Line(line),
                Err(ReadlineError::Interrupted) => Input::Interrupt,
                Err(_) => Input::End,
            };
            let ends = matches!(input, Input::End);
            if let (Input::Line(_), Some(path)) = (&input, &history) {
                // History is a comfort; a talk does not end for want of it.
                let _ = save(&mut editor, path);
            }
            if send.blocking_send(input).is_err() || ends {
                return;
            }
        }
    });
    Ok((Inputs::Editor(receive), printer))
}

fn history() -> Option<PathBuf> {
    config::user_folder("XDG_DATA_HOME", ".local/share").map(|folder| folder.join("history"))
}

fn save(editor: &mut LineEditor<Typing, FileHistory>, path: &Path) -> Result<(), Error> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    editor.save_history(path)?;
    Ok(())
}
