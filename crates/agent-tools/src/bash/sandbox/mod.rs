//! A sandbox of the kernel's for commands: what is asked for, and what became of it.

#[cfg(all(feature = "sandbox", target_os = "linux"))]
mod linux;
#[cfg(not(all(feature = "sandbox", target_os = "linux")))]
mod other;

use std::{fmt, path::PathBuf};

use serde::{Deserialize, Serialize};

#[cfg(all(feature = "sandbox", target_os = "linux"))]
pub(super) use self::linux::Confined;
#[cfg(not(all(feature = "sandbox", target_os = "linux")))]
pub(super) use self::other::Confined;
use crate::Workspace;

/// How much a sandbox is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum SandboxMode {
    /// Not at all.
    #[default]
    Off,
    /// As much of it as the system has. Look at the [`SandboxStatus`], which may be that there is none.
    BestEffort,
    /// Whole, or no command is run.
    Required,
}

/// A sandbox for the commands of [`Bash`](crate::Bash), made by the kernel: a command may read everything its user may
/// read, and write only below the writable folders of the workspace, a folder for temporary files that goes with
/// the tool (`TMPDIR`, not `/tmp`), and the usual devices. It makes no new sockets, so it reaches no network and no service of this machine either; it signals no
/// process that is not its own or another command's; it gets no new privileges, so `sudo` does not work.
///
/// On Linux that is landlock (5.13, whole from 6.2 on) and seccomp, without a helper program and inside containers,
/// too, unless the container forbids them. Elsewhere, and without the feature `sandbox`, it is not available.
///
/// ```
/// use agent_tools::{Bash, Sandbox, SandboxMode, Workspace};
/// let workspace = Workspace::new(std::env::temp_dir())?;
/// let bash = Bash::new(&workspace)?.sandbox(&Sandbox::new(SandboxMode::BestEffort))?;
/// println!("{}", bash.sandbox_status());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Sandbox {
    mode: SandboxMode,
    network: bool,
    writable: Vec<PathBuf>,
}

impl Sandbox {
    /// A sandbox without network.
    pub fn new(mode: SandboxMode) -> Self {
        Self { mode, ..Self::default() }
    }

    /// Leaves sockets and the network open.
    #[must_use]
    pub fn allow_network(self) -> Self {
        Self { network: true, ..self }
    }

    /// Lets commands write below another folder, such as a package manager's cache. One that is not there is left out.
    #[must_use]
    pub fn writable(mut self, folder: impl Into<PathBuf>) -> Self {
        self.writable.push(folder.into());
        self
    }

    /// Tries the sandbox for this workspace on a thread of its own that ends with the call, and says what came of it.
    /// It takes a few milliseconds.
    pub fn probe(&self, workspace: &Workspace) -> SandboxStatus {
        match self.mode {
            SandboxMode::Off => SandboxStatus::Off,
            _ => Confined::start(self, workspace).1,
        }
    }

    /// What a model has to know of it, to be put behind other sentences.
    pub(super) fn closed(&self) -> &'static str {
        if self.network {
            " Only the working folders and $TMPDIR (not /tmp) can be written."
        } else {
            " Only the working folders and $TMPDIR (not /tmp) can be written, and there is no network."
        }
    }

    /// Starts what was asked for.
    ///
    /// # Errors
    /// The status, where it falls short of what is required.
    pub(super) fn start(&self, workspace: &Workspace) -> Result<(Option<Confined>, SandboxStatus), SandboxStatus> {
        match self.mode {
            SandboxMode::Off => Ok((None, SandboxStatus::Off)),
            SandboxMode::BestEffort => Ok(Confined::start(self, workspace)),
            SandboxMode::Required => match Confined::start(self, workspace) {
                (confined @ Some(_), status @ SandboxStatus::Active { .. }) => Ok((confined, status)),
                (_, status) => Err(status),
            },
        }
    }
}

/// What became of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "status")]
#[non_exhaustive]
pub enum SandboxStatus {
    /// None was asked for.
    Off,
    /// All that was asked for holds.
    Active {
        /// What holds it, for people.
        by: String,
    },
    /// Some of it holds.
    Partial {
        /// What holds it, for people.
        by: String,
        /// What does not hold, and why.
        missing: String,
    },
    /// Nothing of it holds.
    NotAvailable {
        /// Why.
        reason: String,
    },
}

impl fmt::Display for SandboxStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("commands run without a sandbox: none was asked for"),
            Self::Active { by } => write!(f, "commands run in a sandbox: {by}"),
            Self::Partial { by, missing } => write!(f, "commands run in half a sandbox: {by}; missing: {missing}"),
            Self::NotAvailable { reason } => write!(f, "commands run without a sandbox: {reason}"),
        }
    }
}

/// A sandbox that is required and not to be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a sandbox is required, and it is not to be had: {status}; ask for `BestEffort`, or run in a container")]
#[non_exhaustive]
pub struct SandboxError {
    /// What there would be.
    pub status: SandboxStatus,
}

impl SandboxError {
    pub(super) fn new(status: SandboxStatus) -> Self {
        Self { status }
    }
}
