//! No sandbox: another system, or a build without the feature.

use tokio::process::Command;

use super::{Sandbox, SandboxStatus};
use crate::{Workspace, bash::process::Started};

/// Nothing: there is no way to make one.
#[derive(Debug)]
pub(in crate::bash) enum Confined {}

impl Confined {
    pub(super) fn start(_: &Sandbox, _: &Workspace) -> (Option<Self>, SandboxStatus) {
        let reason = if cfg!(target_os = "linux") {
            "this program was built without the feature `sandbox` of agent-tools"
        } else {
            "there is none for this system"
        };
        (None, SandboxStatus::NotAvailable { reason: reason.to_owned() })
    }

    pub(in crate::bash) fn temporary(&self) -> Option<&std::path::Path> {
        match *self {}
    }

    pub(in crate::bash) async fn run(&self, _: Command) -> Started {
        match *self {}
    }
}
