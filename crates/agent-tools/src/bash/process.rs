//! A process group: what was started together ends together.

use std::{process::Stdio, time::Duration};

use rustix::process::{Pid, Signal};
use tokio::process::{Child, Command};

/// How long the group may take to end by itself before it is killed.
const GRACE: Duration = Duration::from_millis(250);

/// A group and what it prints, or why it did not start.
pub(super) type Started = std::io::Result<(Group, tokio::net::unix::pipe::Receiver)>;

/// A running shell and its group, which is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) child: Child,
    leader: Option<Pid>,
}

impl Group {
    /// Starts a command as the leader of a group of its own; both outputs go to one pipe, in the order of writing.
    pub(super) fn start(mut command: Command) -> Started {
        let (reader, writer) = std::io::pipe()?;
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        let child = command.process_group(0).kill_on_drop(true).spawn()?;
        // The command holds our ends of the pipe for writing: with them it would never end.
        drop(command);
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let group = Self { child, leader };
        Ok((group, tokio::net::unix::pipe::Receiver::from_owned_fd(reader.into())?))
    }

    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            // Fails where nothing of it is left.
            let _ = rustix::process::kill_process_group(leader, signal);
        }
    }

    /// Asks all to end, then kills what is left.
    pub(super) async fn end(&mut self) {
        self.signal(Signal::TERM);
        let _ = tokio::time::timeout(GRACE, self.child.wait()).await;
        self.signal(Signal::KILL);
        let _ = self.child.wait().await;
        self.leader = None;
    }

    /// What the shell left running when it ended; it is no longer killed by dropping this.
    pub(super) fn leave(&mut self) -> Option<Job> {
        let leader = self.leader.take()?;
        rustix::process::test_kill_process_group(leader).ok()?;
        let members = members(leader);
        // Processes that have ended and were not yet collected count as a group, too.
        (!members.is_empty() || !cfg!(target_os = "linux")).then_some(Job { group: leader, members })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Processes that outlived their shell.
#[derive(Debug)]
pub(super) struct Job {
    group: Pid,
    pub(super) members: Vec<Member>,
}

#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) pid: u32,
    pub(super) name: String,
    /// In ticks since the machine started: tells it from a later process of the same number.
    started: u64,
}

impl Job {
    pub(super) fn group(&self) -> i32 {
        self.group.as_raw_nonzero().get()
    }

    /// Whether a process of it is still there.
    pub(super) fn is_alive(&self) -> bool {
        // Not by name: a shell that becomes another program keeps its number and its start.
        let was = |now: &Member| self.members.iter().any(|then| (then.pid, then.started) == (now.pid, now.started));
        members(self.group).iter().any(was)
    }

    /// Kills what is left. A group whose number has gone to others is left alone.
    pub(super) fn kill(&self) {
        if self.is_alive() {
            let _ = rustix::process::kill_process_group(self.group, Signal::KILL);
        }
    }
}

/// The processes of a group, from `/proc` (proc_pid_stat(5)); none where there is no such thing.
fn members(group: Pid) -> Vec<Member> {
    let group = group.as_raw_nonzero().to_string();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let member = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name stands in brackets and may hold brackets itself.
        let (before, after) = stat.rsplit_once(") ")?;
        let (_, name) = before.split_once(" (")?;
        // State, parent, group; the start is field 22 of the whole, so 20 of these.
        let mut fields = after.split(' ');
        let (state, of) = (fields.next()?, fields.nth(1)?);
        let started = fields.nth(16)?.parse().ok()?;
        (of == group && !matches!(state, "Z" | "X")).then(|| Member { pid, name: name.to_owned(), started })
    };
    processes.filter_map(|entry| member(entry.ok()?.file_name().to_str()?.parse().ok()?)).collect()
}
