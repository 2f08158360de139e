//! One prompt, one answer.

use std::io::{self, IsTerminal as _, Read as _};

use crate::{
    args::{Once, Options, When},
    config,
    drive::{Drive, Inputs},
    error::{Error, Status},
    setup::{self, Setup},
    show::{Json, Plain, Show, Std},
    terminal::Theme,
};

/// How much may be piped in, in bytes.
const MAX_STDIN: u64 = 16 * 1024 * 1024;

pub(crate) async fn once(once: Once) -> Result<Status, Error> {
    let mut options = once.options;
    let config = config::read(options.config.as_deref())?;
    config.fill(&mut options)?;
    let prompt = prompt(&once.prompt)?;
    // Who pipes something in cannot answer by the same pipe.
    let asks = !options.yes && !options.json && io::stdin().is_terminal() && io::stderr().is_terminal();
    let setup = setup::setup(&options, &config, asks).await?;
    let mut show = show(&options);
    introduce(&setup, &options, &mut show)?;
    let run = setup.conversation.run(prompt.as_str())?;
    let status = drive(&setup, &mut show, &mut inputs(asks)).run(run).await;
    finish(setup).await?;
    status.map(|(_, status)| status)
}

/// Says what was chosen where nobody had named it.
pub(crate) fn introduce(setup: &Setup, options: &Options, show: &mut Show) -> Result<(), Error> {
    if let Some(why) = &setup.model.why {
        show.note(&format!("{}: {why}", setup.model.name))?;
    }
    if let Some(unsaved) = &setup.unsaved {
        show.note(unsaved)?;
    }
    if let Some(sandbox) = &setup.sandbox {
        show.note(sandbox)?;
    }
    if options.yes
        && options.sandbox.is_none()
        && setup.conversation.agent().setup().tools.specs().iter().any(|tool| tool.name() == "bash")
    {
        show.note("--yes: commands run without asking and without a sandbox")?;
    }
    Ok(())
}

/// Standard input, where somebody is there.
pub(crate) fn inputs(asks: bool) -> Inputs {
    if asks { Inputs::Stdin(None) } else { Inputs::None }
}

/// What drives a run of this conversation.
pub(crate) fn drive<'a>(setup: &'a Setup, show: &'a mut Show, inputs: &'a mut Inputs) -> Drive<'a> {
    Drive {
        show,
        inputs,
        stop: &setup.parts.stop,
        always: &setup.parts.always,
        root: &setup.root,
        model: &setup.model.name,
        session: setup.session.as_ref().map(|session| session.id().to_string()),
    }
}

/// Ends what is open: the session's file is whole and unlocked.
pub(crate) async fn finish(setup: Setup) -> Result<(), Error> {
    if let Some(session) = setup.session {
        session.close().await?;
    }
    Ok(())
}

/// How runs are shown.
pub(crate) fn show(options: &Options) -> Show {
    if options.json {
        return Show::Json(Json::default());
    }
    let is_terminal = io::stdout().is_terminal();
    Show::Plain(Box::new(
        Plain::new(Box::new(Std), theme(options, is_terminal), width(), is_terminal)
            .redraws(io::stderr().is_terminal()),
    ))
}

pub(crate) fn theme(options: &Options, is_terminal: bool) -> Theme {
    match options.color {
        Some(When::Always) => Theme::Coloured,
        Some(When::Never) => Theme::Plain,
        Some(When::Auto) | None => Theme::detect(is_terminal && io::stderr().is_terminal(), config::env),
    }
}

/// The width of the terminal in cells; what most have, where there is none.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0)).max(20)
}

/// The prompt: the words of the command line, and what is piped in behind them.
fn prompt(words: &[String]) -> Result<String, Error> {
    let said = words.join(" ");
    let (said, wants_stdin) = match said.trim() {
        "" | "-" => (String::new(), true),
        text => (text.to_owned(), false),
    };
    let mut piped = String::new();
    let mut input = io::stdin().lock();
    if !input.is_terminal() || (wants_stdin && words.iter().any(|word| word == "-")) {
        let mut bytes = Vec::new();
        input.by_ref().take(MAX_STDIN).read_to_end(&mut bytes)?;
        piped = String::from_utf8_lossy(&bytes).into_owned();
    }
    match (said.is_empty(), piped.trim().is_empty()) {
        (true, true) => Err(Error::NoPrompt),
        (true, false) => Ok(piped),
        (false, true) => Ok(said),
        (false, false) => Ok(format!("{said}\n\n<stdin>\n{}\n</stdin>", piped.trim_end())),
    }
}
