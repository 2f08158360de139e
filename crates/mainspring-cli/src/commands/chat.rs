//! A talk in the terminal: what is typed while the agent works steers it.
//!
//! The line is edited by `reedline`, on a thread of its own: it has history, pasted blocks, completion, and prints what
//! the agent says above the line that is being typed.

use std::{
    borrow::Cow,
    io::{self, IsTerminal as _},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use agent_core::Message;
use agent_session::ExportFormat;
use reedline::{
    Color, ColumnarMenu, DefaultCompleter, EditCommand, Emacs, ExternalPrinter, FileBackedHistory, KeyCode,
    KeyModifiers, MenuBuilder as _, Prompt, PromptEditMode, PromptHistorySearch, Reedline, ReedlineEvent, ReedlineMenu,
    Signal, default_emacs_keybindings,
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
    let (mut inputs, lines) = Lines::start()?;
    let theme = once::theme(options, true);
    let sink = Editor::new(lines.printer.clone(), lines.ended.clone());
    let mut show = Show::Plain(Box::new(Plain::new(Box::new(sink), theme, once::width(), true)));
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
    // The terminal is as it was before anything else is said.
    drop(lines);
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

/// The line editor on its thread.
struct Lines {
    printer: std::sync::mpsc::SyncSender<String>,
    /// Set when the editor has ended, or is to end.
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Leaves the terminal as it was, however the talk ends.
impl Drop for Lines {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
        // A panic of the editor has been told by itself.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Lines {
    fn start() -> Result<(Inputs, Self), Error> {
        let ended = Arc::new(AtomicBool::new(false));
        let printer = ExternalPrinter::new(PRINTED);
        let lines = printer.sender();
        let mut editor = editor(printer, ended.clone())?;
        let (send, receive) = mpsc::channel(16);
        let end = ended.clone();
        let thread = thread::spawn(move || {
            while !end.load(Ordering::Acquire) {
                let input = match editor.read_line(&Arrow) {
                    Ok(Signal::Success(line)) => Input::Line(line),
                    Ok(Signal::CtrlC) => Input::Interrupt,
                    // Asked to end by us: nobody listens any more.
                    Ok(_) if end.load(Ordering::Acquire) => break,
                    Ok(_) | Err(_) => Input::End,
                };
                let ends = matches!(input, Input::End);
                if send.blocking_send(input).is_err() || ends {
                    break;
                }
            }
            end.store(true, Ordering::Release);
        });
        Ok((Inputs::Editor(receive), Self { printer: lines, ended, thread: Some(thread) }))
    }
}

/// How many pieces of text may wait to be printed above the line.
const PRINTED: usize = 1024;
/// How often the editor looks for text to print.
const POLL: Duration = Duration::from_millis(15);

fn editor(printer: ExternalPrinter<String>, ended: Arc<AtomicBool>) -> Result<Reedline, Error> {
    let mut commands = DefaultCompleter::with_inclusions(&['/']);
    let names = HELP.lines().filter_map(|line| line.split_whitespace().next()).filter(|name| name.starts_with('/'));
    commands.insert(names.map(str::to_owned).collect());
    let mut keys = default_emacs_keybindings();
    let complete = ReedlineEvent::UntilFound(vec![ReedlineEvent::Menu("commands".into()), ReedlineEvent::MenuNext]);
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, complete);
    let newline = ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
    keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, newline);
    let menu = ReedlineMenu::EngineCompleter(Box::new(ColumnarMenu::default().with_name("commands")));
    let mut editor = Reedline::create()
        .with_external_printer(printer)
        .with_poll_interval(POLL)
        .with_break_signal(ended)
        .with_completer(Box::new(commands))
        .with_menu(menu)
        .with_edit_mode(Box::new(Emacs::new(keys)))
        .with_ansi_colors(config::env("NO_COLOR").is_none())
        .use_bracketed_paste(true);
    if let Some(path) = history() {
        editor = editor.with_history(Box::new(FileBackedHistory::with_file(HISTORY, path)?));
    }
    Ok(editor)
}

fn history() -> Option<PathBuf> {
    config::user_folder("XDG_DATA_HOME", ".local/share").map(|folder| folder.join("history"))
}

/// What stands before the line.
struct Arrow;

impl Prompt for Arrow {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        "> ".into()
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        "  ".into()
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        format!("(search: {}) ", search.term).into()
    }

    fn get_indicator_color(&self) -> Color {
        Color::Green
    }
}
