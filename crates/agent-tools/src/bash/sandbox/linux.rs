//! Landlock (landlock(7)) and seccomp (seccomp(2)) on a thread that starts the commands.
//!
//! Both hold for a thread and for what it starts, so a thread restricts itself and starts every command from then on:
//! nothing runs between fork and exec, and this process stays as free as it was. All commands of one tool are in one
//! domain, so a later command can end what an earlier one left running.

use std::{
    collections::BTreeMap,
    fs::DirBuilder,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::{
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, LandlockStatus, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};
use tokio::{
    process::Command,
    runtime::Handle,
    sync::{mpsc as async_mpsc, oneshot},
};

use super::{Sandbox, SandboxStatus};
use crate::{
    Workspace,
    bash::process::{Group, Started},
};

/// Devices that are for writing.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/shm",
];

/// Calls that make a way out: sockets, and rings that could make them unseen.
const CALLS: &[i64] =
    &[libc::SYS_socket, libc::SYS_connect, libc::SYS_bind, libc::SYS_listen, libc::SYS_io_uring_setup];
/// The same calls by the numbers of the x32 interface of x86_64 kernels.
const X32: i64 = 0x4000_0000;

/// A thread that can start commands and no longer do what they may not.
#[derive(Debug)]
pub(in crate::bash) struct Confined {
    requests: async_mpsc::Sender<Request>,
    temporary: Temporary,
}

/// A folder for the temporary files of the commands, which goes with the tool: the one that all programs share would
/// be a way to them.
#[derive(Debug)]
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> std::io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        loop {
            let name = format!("mainspring-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            let path = std::env::temp_dir().join(name);
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                // Left by a process that had this number.
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A command, the runtime that it belongs to, and who waits for it.
struct Request {
    command: Command,
    runtime: Handle,
    reply: oneshot::Sender<Started>,
}

impl Confined {
    /// Starts the thread; it ends when this is dropped. `None` where nothing could be restricted.
    pub(super) fn start(sandbox: &Sandbox, workspace: &Workspace) -> (Option<Self>, SandboxStatus) {
        let mut writable: Vec<PathBuf> = workspace.writable().map(PathBuf::from).collect();
        let temporary = match Temporary::new() {
            Ok(temporary) => temporary,
            Err(e) => return (None, none(format!("there is no folder for temporary files: {}", e.kind()))),
        };
        writable.push(temporary.0.clone());
        writable.extend(sandbox.writable.iter().cloned());
        writable.extend(DEVICES.iter().map(PathBuf::from));
        let network = sandbox.network;
        let (tell, told) = mpsc::sync_channel(1);
        let (requests, mut asked) = async_mpsc::channel::<Request>(1);
        let thread = std::thread::Builder::new().name("mainspring-sandbox".to_owned()).spawn(move || {
            if tell.send(restrict(&writable, network)).is_err() {
                return;
            }
            while let Some(Request { command, runtime, reply }) = asked.blocking_recv() {
                let _inside = runtime.enter();
                // Who no longer waits gets the group back by dropping it, which ends it.
                let _ = reply.send(Group::start(command));
            }
        });
        let status = match thread {
            Ok(_) => told.recv().unwrap_or_else(|_| none("its thread broke off".to_owned())),
            Err(e) => none(format!("its thread could not be started: {}", e.kind())),
        };
        let some = !matches!(status, SandboxStatus::NotAvailable { .. });
        (some.then_some(Self { requests, temporary }), status)
    }

    /// Where the commands keep temporary files.
    pub(in crate::bash) fn temporary(&self) -> Option<&Path> {
        Some(&self.temporary.0)
    }

    /// Starts a command inside. Dropping the future ends it.
    pub(in crate::bash) async fn run(&self, command: Command) -> Started {
        let gone = || std::io::Error::other("the sandbox's thread has ended");
        let (reply, answer) = oneshot::channel();
        let request = Request { command, runtime: Handle::current(), reply };
        self.requests.send(request).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

fn none(reason: String) -> SandboxStatus {
    SandboxStatus::NotAvailable { reason }
}

/// Restricts this thread for ever.
fn restrict(writable: &[PathBuf], network: bool) -> SandboxStatus {
    let (mut by, mut missing) = (Vec::new(), Vec::new());
    match files(writable, network) {
        Ok((status, LandlockStatus::Available { effective_abi, .. })) if status != RulesetStatus::NotEnforced => {
            by.push(format!("landlock ABI {}", effective_abi as i32));
            if effective_abi < ABI::V3 {
                missing.push("other files can be emptied (that needs Linux 6.2)".to_owned());
            }
            if effective_abi < ABI::V6 {
                // What can be signalled belongs to the same user; it is told, and not a reason to refuse.
                by.push("without signals (that needs Linux 6.12)".to_owned());
            }
        }
        Ok((_, LandlockStatus::NotEnabled)) => missing.push("landlock is not enabled in this kernel".to_owned()),
        Ok(_) => missing.push("this kernel has no landlock, which is in Linux from 5.13 on".to_owned()),
        Err(e) => missing.push(format!("landlock: {e}")),
    }
    if !network {
        match sockets() {
            Ok(()) => by.push("seccomp".to_owned()),
            Err(e) => missing.push(format!("the network is open: seccomp: {e}")),
        }
    }
    let (by, missing) = (by.join(", "), missing.join("; "));
    match (by.is_empty(), missing.is_empty()) {
        (true, _) => none(missing),
        (false, true) => SandboxStatus::Active { by },
        (false, false) => SandboxStatus::Partial { by, missing },
    }
}

/// Nothing is written but below these; with a closed network, no TCP either, as a second line behind seccomp.
fn files(writable: &[PathBuf], network: bool) -> Result<(RulesetStatus, LandlockStatus), RulesetError> {
    let write = AccessFs::from_write(ABI::V5);
    let mut rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(write)?;
    if !network {
        rules = rules.handle_access(AccessNet::from_all(ABI::V4))?;
    }
    let rules = rules.scope(Scope::from_all(ABI::V6))?.create()?;
    let status = rules.add_rules(path_beneath_rules(writable, write))?.restrict_self()?;
    Ok((status.ruleset, status.landlock))
}

/// No socket is made and none is connected.
fn sockets() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let arch: TargetArch = std::env::consts::ARCH.try_into()?;
    let mut calls: BTreeMap<i64, Vec<_>> = CALLS.iter().map(|call| (*call, Vec::new())).collect();
    if arch == TargetArch::x86_64 {
        calls.extend(CALLS.iter().map(|call| (call | X32, Vec::new())));
    }
    let refuse = SeccompAction::Errno(u32::try_from(libc::EPERM)?);
    let filter = SeccompFilter::new(calls, SeccompAction::Allow, refuse, arch)?;
    let program: BpfProgram = filter.try_into()?;
    seccompiler::apply_filter(&program)?;
    Ok(())
}
