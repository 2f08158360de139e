//! What comes to a run from outside: commands of handles, and events of tools.

use std::{
    collections::VecDeque,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Waker},
};

use agent_core::AgentEvent;

use crate::Command;

/// How many commands and events wait at most. Events beyond it are left out, commands refused.
pub(crate) const ROOM: usize = 1_024;

#[derive(Default)]
pub(crate) struct Inbox {
    inner: Mutex<Inner>,
    /// Whether there is anything: a run that streams looks here once for each delta.
    full: AtomicBool,
}

#[derive(Default)]
struct Inner {
    commands: VecDeque<Command>,
    events: VecDeque<AgentEvent>,
    cancel: bool,
    waker: Option<Waker>,
}

impl Inbox {
    /// Puts a command; `false` where there is no room.
    pub(super) fn command(&self, command: Command) -> bool {
        let mut inner = self.lock();
        if matches!(command, Command::Cancel) {
            inner.cancel = true;
        } else if inner.commands.len() >= ROOM {
            return false;
        } else {
            inner.commands.push_back(command);
        }
        self.wake(inner);
        true
    }

    pub(crate) fn event(&self, event: AgentEvent) {
        let mut inner = self.lock();
        if inner.events.len() < ROOM {
            inner.events.push_back(event);
        }
        self.wake(inner);
    }

    fn wake(&self, mut inner: MutexGuard<'_, Inner>) {
        self.full.store(true, Ordering::Release);
        let waker = inner.waker.take();
        drop(inner);
        waker.into_iter().for_each(Waker::wake);
    }

    /// What came since; `None` where nothing did.
    pub(crate) fn take(&self) -> Option<(VecDeque<Command>, VecDeque<AgentEvent>)> {
        if !self.full.swap(false, Ordering::Acquire) {
            return None;
        }
        let mut inner = self.lock();
        let mut commands = std::mem::take(&mut inner.commands);
        if std::mem::take(&mut inner.cancel) {
            // Behind what was asked for before, which is not lost by it.
            commands.push_back(Command::Cancel);
        }
        Some((commands, std::mem::take(&mut inner.events)))
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.lock().cancel
    }

    /// Forgets a cancel, and events of tools, that came too late for the run before.
    pub(crate) fn begin_run(&self) {
        let mut inner = self.lock();
        inner.cancel = false;
        inner.events.clear();
    }

    /// Wakes this task when something comes. To be called before the last look.
    pub(crate) fn register(&self, cx: &Context<'_>) {
        let mut inner = self.lock();
        match &mut inner.waker {
            Some(waker) if waker.will_wake(cx.waker()) => {}
            waker => *waker = Some(cx.waker().clone()),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.full.load(Ordering::Acquire)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
