//! A thread for what blocks: it does its jobs in order, writes of one moment together, and ends with its session.
//!
//! A write that does not wait for a disk is done by its caller, where nothing else waits: waking a thread costs ten times
//! what such a write does.

use std::{
    collections::VecDeque,
    fmt, io, iter,
    panic::{self, AssertUnwindSafe},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use agent_core::BoxFuture;
use tokio::sync::oneshot;

use super::Acknowledged;
use crate::SessionError;

/// The most jobs that may wait.
const JOBS: usize = 4096;
/// The most bytes that may wait to be written.
const BYTES: usize = 256 << 20;
/// The most bytes that are written together, unless one batch has more.
const GROUP: usize = 8 << 20;

/// Who does a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// The thread.
    Thread,
    /// The caller, if nothing is to be done before it.
    Caller,
}

/// What the thread works with.
pub(crate) trait Backend: Send + 'static {
    /// What is written together or not at all.
    type Batch: Send + 'static;

    /// Writes batches in order and says of each whether it was written; nothing at all where all were. After an error
    /// of the whole nothing is written any more.
    fn write(&mut self, batches: &[Self::Batch]) -> Result<Vec<Result<(), SessionError>>, SessionError>;
}

type Done = oneshot::Sender<Result<(), SessionError>>;

enum Job<B: Backend> {
    Write { batch: B::Batch, bytes: usize, done: Done },
    Call(Box<dyn FnOnce(&mut B) + Send>),
}

struct Waiting<B: Backend> {
    jobs: VecDeque<Job<B>>,
    bytes: usize,
    /// What the thread works with; `None` while somebody has it: the thread for a job, or a caller for a write.
    backend: Option<B>,
    stage: Stage,
    failed: Option<Arc<SessionError>>,
    closers: Vec<Done>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Open,
    /// No more jobs are taken.
    Closing,
    /// The thread has ended.
    Gone,
}

struct Queue<B: Backend> {
    waiting: Mutex<Waiting<B>>,
    ready: Condvar,
}

/// The handle on the thread. Dropping it ends the thread when everything accepted is done.
pub(crate) struct Worker<B: Backend>(Arc<Queue<B>>);

impl<B: Backend> Worker<B> {
    /// Starts a thread that opens something and then works with it. Dropping the future ends the thread.
    pub(crate) async fn start<T: Send + 'static>(
        open: impl FnOnce() -> Result<(B, T), SessionError> + Send + 'static,
    ) -> Result<(Self, T), SessionError> {
        let waiting = Waiting {
            jobs: VecDeque::new(),
            bytes: 0,
            backend: None,
            stage: Stage::Open,
            failed: None,
            closers: Vec::new(),
        };
        let queue = Queue { waiting: Mutex::new(waiting), ready: Condvar::new() };
        let queue = Arc::new(queue);
        let worker = Self(queue.clone());
        let (opened, found) = oneshot::channel();
        let run = move || {
            let mut gone = Gone(queue);
            match open() {
                Ok((backend, found)) => {
                    gone.0.lock().backend = Some(backend);
                    // Nobody waits any more: the worker was dropped with the future, so its jobs are none.
                    _ = opened.send(Ok(found));
                    gone.0.work();
                    gone.close();
                }
                Err(error) => {
                    gone.close();
                    _ = opened.send(Err(error));
                }
            }
        };
        thread(run)?;
        let found = found.await.map_err(|_| SessionError::Closed)??;
        Ok((worker, found))
    }

    /// Accepts a batch of so many bytes, or writes it.
    pub(crate) fn write(&self, batch: B::Batch, bytes: usize, by: By) -> Result<Acknowledged, SessionError> {
        let (done, written) = oneshot::channel();
        let mut waiting = self.0.lock();
        if let Some(source) = &waiting.failed {
            return Err(SessionError::Failed { source: source.clone() });
        }
        if by == By::Caller
            && waiting.jobs.is_empty()
            && waiting.stage == Stage::Open
            && let Some(backend) = waiting.backend.take()
        {
            drop(waiting);
            let written = Busy { queue: &self.0, backend: Some(backend) }.write_now(batch);
            return Ok(Acknowledged::now(written));
        }
        if waiting.bytes > 0 && waiting.bytes.saturating_add(bytes) > BYTES {
            return Err(SessionError::Backlog { what: "bytes", limit: BYTES.try_into().unwrap_or(u64::MAX) });
        }
        waiting.push(Job::Write { batch, bytes, done })?;
        waiting.bytes = waiting.bytes.saturating_add(bytes);
        drop(waiting);
        self.0.ready.notify_one();
        Ok(Acknowledged::later(async move { written.await.unwrap_or(Err(SessionError::Closed)) }))
    }

    /// Does something behind all that was accepted before.
    pub(crate) fn call<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut B) -> Result<T, SessionError> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, SessionError>> {
        let (done, answer) = oneshot::channel();
        let job = Box::new(move |backend: &mut B| _ = done.send(job(backend)));
        let pushed = self.0.lock().push(Job::Call(job));
        self.0.ready.notify_one();
        Box::pin(async move {
            pushed?;
            answer.await.unwrap_or(Err(SessionError::Closed))
        })
    }

    /// Takes no more jobs; resolves when the thread has ended and let go of what it owned.
    pub(crate) fn close(&self) -> BoxFuture<'static, Result<(), SessionError>> {
        let (done, closed) = oneshot::channel();
        let mut waiting = self.0.lock();
        match waiting.stage {
            Stage::Gone => _ = done.send(waiting.outcome()),
            _ => {
                waiting.stage = Stage::Closing;
                waiting.closers.push(done);
            }
        }
        drop(waiting);
        self.0.ready.notify_one();
        Box::pin(async move { closed.await.unwrap_or(Ok(())) })
    }
}

impl<B: Backend> Drop for Worker<B> {
    fn drop(&mut self) {
        let mut waiting = self.0.lock();
        if waiting.stage == Stage::Open {
            waiting.stage = Stage::Closing;
        }
        drop(waiting);
        self.0.ready.notify_one();
    }
}

impl<B: Backend> fmt::Debug for Worker<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = self.0.lock();
        let mut debug = f.debug_struct("Worker");
        debug.field("jobs", &waiting.jobs.len()).field("stage", &waiting.stage).finish_non_exhaustive()
    }
}

impl<B: Backend> Waiting<B> {
    fn push(&mut self, job: Job<B>) -> Result<(), SessionError> {
        if self.stage != Stage::Open {
            return Err(SessionError::Closed);
        }
        if self.jobs.len() >= JOBS {
            return Err(SessionError::Backlog { what: "jobs", limit: JOBS.try_into().unwrap_or(u64::MAX) });
        }
        self.jobs.push_back(job);
        Ok(())
    }

    fn outcome(&self) -> Result<(), SessionError> {
        match &self.failed {
            Some(source) => Err(SessionError::Failed { source: source.clone() }),
            None => Ok(()),
        }
    }
}

/// What the thread does next.
enum Next<B: Backend> {
    Write(Vec<B::Batch>, Vec<Done>),
    Call(Box<dyn FnOnce(&mut B) + Send>),
}

impl<B: Backend> Queue<B> {
    fn lock(&self) -> MutexGuard<'_, Waiting<B>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        while let Some((next, backend)) = self.next() {
            let mut busy = Busy { queue: self, backend: Some(backend) };
            let Some(backend) = &mut busy.backend else { return };
            match next {
                Next::Call(job) => job(backend),
                Next::Write(batches, dones) => {
                    let failed = self.lock().failed.clone();
                    let written = match failed {
                        Some(source) => Err(source),
                        None => backend.write(&batches).map_err(Arc::new),
                    };
                    // Whoever dropped the future does not want to know.
                    match written {
                        Ok(each) => {
                            let each = each.into_iter().chain(iter::repeat_with(|| Ok(())));
                            dones.into_iter().zip(each).for_each(|(done, written)| _ = done.send(written));
                        }
                        Err(source) => {
                            self.lock().failed = Some(source.clone());
                            for done in dones {
                                _ = done.send(Err(SessionError::Failed { source: source.clone() }));
                            }
                        }
                    }
                }
            }
        }
    }

    fn next(&self) -> Option<(Next<B>, B)> {
        let mut waiting = self.lock();
        let backend = loop {
            match (waiting.jobs.is_empty(), waiting.stage) {
                (false, _) => {
                    if let Some(backend) = waiting.backend.take() {
                        break backend;
                    }
                }
                // A caller that writes brings it back before the end.
                (true, Stage::Closing | Stage::Gone) if waiting.backend.is_some() => return None,
                (true, _) => {}
            }
            waiting = self.ready.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        };
        let (mut batches, mut dones, mut group) = (Vec::new(), Vec::new(), 0usize);
        while let Some(job) = waiting.jobs.pop_front() {
            match job {
                Job::Write { batch, bytes, done } if batches.is_empty() || group.saturating_add(bytes) <= GROUP => {
                    batches.push(batch);
                    dones.push(done);
                    group = group.saturating_add(bytes);
                    waiting.bytes = waiting.bytes.saturating_sub(bytes);
                }
                Job::Call(job) if batches.is_empty() => return Some((Next::Call(job), backend)),
                later => {
                    waiting.jobs.push_front(later);
                    break;
                }
            }
        }
        Some((Next::Write(batches, dones), backend))
    }
}

/// Whoever has the backend. Dropped, it gives it back.
struct Busy<'a, B: Backend> {
    queue: &'a Queue<B>,
    backend: Option<B>,
}

impl<B: Backend> Busy<'_, B> {
    fn write_now(mut self, batch: B::Batch) -> Result<(), SessionError> {
        // A panic is the session's, as it is on the thread: the caller goes on.
        let write = AssertUnwindSafe(|| self.backend.as_mut().map(|backend| backend.write(&[batch])));
        let written = panic::catch_unwind(write).ok().flatten().unwrap_or(Err(SessionError::Closed));
        let written = written.map_err(|source| {
            let source = Arc::new(source);
            self.queue.lock().failed = Some(source.clone());
            SessionError::Failed { source }
        });
        written.and_then(|each| each.into_iter().next().unwrap_or(Ok(())))
    }
}

impl<B: Backend> Drop for Busy<'_, B> {
    fn drop(&mut self) {
        let mut waiting = self.queue.lock();
        waiting.backend = self.backend.take();
        let waited_for = !waiting.jobs.is_empty() || waiting.stage != Stage::Open;
        drop(waiting);
        if waited_for {
            self.queue.ready.notify_one();
        }
    }
}

/// Says that the thread is gone, also when it panicked.
struct Gone<B: Backend>(Arc<Queue<B>>);

impl<B: Backend> Gone<B> {
    fn close(&mut self) {
        // With it a lock ends, before anybody hears that the session is free.
        let backend = self.0.lock().backend.take();
        drop(backend);
        let mut waiting = self.0.lock();
        waiting.stage = Stage::Gone;
        // Their futures hear that the session is closed.
        waiting.jobs.clear();
        for closer in std::mem::take(&mut waiting.closers) {
            _ = closer.send(waiting.outcome());
        }
    }
}

impl<B: Backend> Drop for Gone<B> {
    fn drop(&mut self) {
        self.close();
    }
}

/// Does something that blocks on a thread of its own.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SessionError> + Send + 'static,
) -> Result<T, SessionError> {
    let (done, answer) = oneshot::channel();
    thread(move || _ = done.send(work()))?;
    answer.await.unwrap_or(Err(SessionError::Closed))
}

fn thread(run: impl FnOnce() + Send + 'static) -> Result<(), SessionError> {
    let started = std::thread::Builder::new().name("session".into()).spawn(run);
    started.map(drop).map_err(|source: io::Error| SessionError::Store { source: source.into() })
}
