//! `mainspring`: an agent in the terminal.
#![expect(clippy::disallowed_methods, reason = "a program for people: files, environment, threads, clocks")]

mod approve;
mod args;
mod choose;
mod commands;
mod config;
mod drive;
mod error;
mod interrupt;
mod offline;
mod setup;
mod show;
mod terminal;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use clap::Parser as _;

use crate::{
    args::{Cli, Command},
    error::{Error, Status},
};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(source) => return tell(&Error::Runtime(source)),
    };
    let ended = runtime.block_on(run(cli));
    // A thread that waits for a line of input ends with the process.
    runtime.shutdown_background();
    match ended {
        Ok(status) => status.code(),
        // Who reads has gone; there is nobody to tell.
        Err(Error::Write(source)) if source.kind() == io::ErrorKind::BrokenPipe => Status::Done.code(),
        Err(error) => tell(&error),
    }
}

async fn run(cli: Cli) -> Result<Status, Error> {
    match cli.command {
        None => commands::once(cli.once).await,
        Some(Command::Chat(options)) => commands::chat(options).await,
        Some(Command::Resume(args)) => commands::resume(args).await,
        Some(Command::Sessions(args)) => commands::sessions(args).await,
        Some(Command::View(args)) => commands::view(args).await,
        Some(Command::Models(args)) => commands::models(&args),
        Some(Command::Doctor(args)) => commands::doctor(args).await,
        Some(Command::Schema) => {
            io::stdout().lock().write_all(show::SCHEMA.as_bytes())?;
            Ok(Status::Done)
        }
    }
}

fn tell(error: &Error) -> ExitCode {
    let text = format!("mainspring: {}\n", agent_core::redact(&error.text()));
    // Nothing is left to do where even this cannot be written.
    let _ = io::stderr().lock().write_all(text.as_bytes());
    error.status().code()
}
