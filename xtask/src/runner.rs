//! Starts programs in the workspace root and says which; no command goes through a shell.

use std::{
    env,
    ffi::OsString,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::report::Error;

/// Where commands run.
#[derive(Debug)]
pub(crate) struct Runner {
    root: PathBuf,
}

impl Runner {
    /// Asks cargo for the workspace around the current folder.
    pub(crate) fn locate() -> Result<Self, Error> {
        let mut command = Command::new(cargo_path());
        command.args(["locate-project", "--workspace", "--message-format", "plain"]);
        let manifest = PathBuf::from(output(&mut command)?.trim());
        Ok(Self { root: manifest.parent().map(Path::to_path_buf).unwrap_or_default() })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The cargo that started us, in the workspace root.
    pub(crate) fn cargo<const N: usize>(&self, args: [&str; N]) -> Command {
        let mut command = self.program(cargo_path());
        command.args(args);
        command
    }

    /// Any program, in the workspace root.
    pub(crate) fn program(&self, program: impl Into<OsString>) -> Command {
        let mut command = Command::new(program.into());
        command.current_dir(&self.root);
        command
    }
}

/// Runs with the terminal attached; true when it succeeded.
pub(crate) fn passes(command: &mut Command) -> Result<bool, Error> {
    announce(command);
    let status = command.status().map_err(|source| start_error(command, source))?;
    Ok(status.success())
}

/// Runs quietly and returns what it wrote to stdout; a failure is an error that carries stderr.
pub(crate) fn output(command: &mut Command) -> Result<String, Error> {
    let done = command.output().map_err(|source| start_error(command, source))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    Err(Error::Failed {
        command: line(command),
        status: done.status.to_string(),
        stderr: String::from_utf8_lossy(&done.stderr).into_owned(),
    })
}

/// Which stream of a program is both shown and kept; the other one goes to the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    Stdout,
    Stderr,
}

/// Runs, shows one stream while it comes, and returns it with whether the program succeeded.
pub(crate) fn tee(command: &mut Command, keep: Keep) -> Result<(bool, String), Error> {
    announce(command);
    match keep {
        Keep::Stdout => command.stdout(Stdio::piped()),
        Keep::Stderr => command.stderr(Stdio::piped()),
    };
    let mut child = command.spawn().map_err(|source| start_error(command, source))?;
    let mut kept = String::new();
    match keep {
        Keep::Stdout => {
            copy(child.stdout.take(), &mut kept, |text| print!("{text}"));
        }
        Keep::Stderr => {
            copy(child.stderr.take(), &mut kept, |text| eprint!("{text}"));
        }
    }
    let status = child.wait().map_err(|source| start_error(command, source))?;
    Ok((status.success(), kept))
}

/// Copies line by line; a read error ends the copy like the end of the stream does.
fn copy(from: Option<impl std::io::Read>, kept: &mut String, show: impl Fn(&str)) {
    let Some(from) = from else { return };
    let mut from = BufReader::new(from);
    let mut bytes = Vec::new();
    while matches!(from.read_until(b'\n', &mut bytes), Ok(1..)) {
        let text = String::from_utf8_lossy(&bytes);
        show(&text);
        kept.push_str(&text);
        bytes.clear();
    }
}

fn announce(command: &Command) {
    eprintln!("$ {}", line(command));
}

/// The command as a person would type it, with the variables that it sets.
fn line(command: &Command) -> String {
    let mut words = Vec::new();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            words.push(format!("{}={:?}", name.display(), value.to_string_lossy()));
        }
    }
    let program = Path::new(command.get_program());
    let is_our_cargo = command.get_program() == cargo_path();
    words.push(if is_our_cargo { "cargo".to_owned() } else { program.display().to_string() });
    words.extend(command.get_args().map(|arg| arg.to_string_lossy().into_owned()));
    words.join(" ")
}

fn start_error(command: &Command, source: std::io::Error) -> Error {
    Error::Start { program: command.get_program().to_string_lossy().into_owned(), source }
}

fn cargo_path() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
