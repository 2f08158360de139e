//! The connections that are kept from one request to the next.
//!
//! hyper-util's pool is not used: it gets an HTTP/1 connection back in a task of its own, which the
//! next request of the same run overtakes; that request then connects anew, and a crowd of runs pays
//! twice as many connections as it needs. Here the response body gives its connection back itself,
//! before it tells its end.

use std::{
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use http::{
    Uri,
    uri::{Authority, Scheme},
};
use hyper::client::conn::http2;
use tokio::{runtime::Handle, time::Instant};

use super::{
    connection::{Connection, Http1},
    upload::Upload,
};

/// How long an unused connection is kept: less than the servers' usual limits.
const IDLE: Duration = Duration::from_secs(55);

/// Where a connection leads.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Host {
    https: bool,
    pub(super) authority: Authority,
}

impl Host {
    pub(super) fn of(uri: &Uri) -> Option<Self> {
        Some(Self { https: uri.scheme() == Some(&Scheme::HTTPS), authority: uri.authority()?.clone() })
    }
}

/// The kept connections of all hosts.
pub(super) struct Pool {
    idle_per_host: usize,
    // A list: the hosts of a process are few, and comparing is cheaper than hashing.
    hosts: Mutex<Vec<(Host, Kept)>>,
    is_swept: AtomicBool,
}

/// The kept connections of one host.
#[derive(Default)]
struct Kept {
    /// Those without an exchange, the longest unused first.
    idle: Vec<(Http1, Instant)>,
    /// The connection for all, and when it was asked for last.
    shared: Option<(http2::SendRequest<Upload>, Instant)>,
}

impl Pool {
    pub(super) fn new(idle_per_host: usize) -> Arc<Self> {
        Arc::new(Self { idle_per_host, hosts: Mutex::default(), is_swept: AtomicBool::new(false) })
    }

    /// A kept connection: for HTTP/1, the one that was used last.
    pub(super) fn take(&self, host: &Host) -> Option<Connection> {
        let mut hosts = self.lock();
        let (_, kept) = hosts.iter_mut().find(|(other, _)| other == host)?;
        let now = Instant::now();
        if let Some((sender, asked)) = kept.shared.as_mut().filter(|(sender, _)| !sender.is_closed()) {
            *asked = now;
            return Some(Connection::Http2(sender.clone()));
        }
        while let Some((http1, since)) = kept.idle.pop() {
            if is_fresh(since, now) && !http1.sender.is_closed() {
                return Some(Connection::Http1(http1));
            }
        }
        None
    }

    /// Keeps an HTTP/1 connection whose exchange is over.
    pub(super) fn keep(self: &Arc<Self>, host: Host, http1: Http1) {
        if http1.sender.is_closed() {
            return;
        }
        self.change(host, |kept| {
            if kept.idle.len() < self.idle_per_host {
                kept.idle.push((http1, Instant::now()));
            }
        });
    }

    /// Shares an HTTP/2 connection, unless the host has one already; says which is to be used.
    pub(super) fn share(self: &Arc<Self>, host: Host, made: http2::SendRequest<Upload>) -> Connection {
        self.change(host, |kept| {
            let old = kept.shared.take().map(|(sender, _)| sender).filter(|sender| !sender.is_closed());
            let (sender, _) = kept.shared.insert((old.unwrap_or(made), Instant::now()));
            Connection::Http2(sender.clone())
        })
    }

    /// Shares the HTTP/2 connection of a host no more: it took a request and gave it back.
    pub(super) fn unshare(&self, host: &Host) {
        if let Some((_, kept)) = self.lock().iter_mut().find(|(other, _)| other == host) {
            kept.shared = None;
        }
    }

    fn change<T>(self: &Arc<Self>, host: Host, change: impl FnOnce(&mut Kept) -> T) -> T {
        let mut hosts = self.lock();
        let found = hosts.iter().position(|(other, _)| *other == host);
        let result = match found.and_then(|at| hosts.get_mut(at)) {
            Some((_, kept)) => change(kept),
            None => {
                let mut kept = Kept::default();
                let result = change(&mut kept);
                hosts.push((host, kept));
                result
            }
        };
        drop(hosts);
        self.sweep_later();
        result
    }

    /// Sees to it that what nobody uses is closed in time.
    fn sweep_later(self: &Arc<Self>) {
        // Outside a runtime the connections go when the next request looks at them.
        let Ok(runtime) = Handle::try_current() else { return };
        if self.is_swept.swap(true, Ordering::AcqRel) {
            return;
        }
        let sweeper = Sweeper(Arc::downgrade(self));
        runtime.spawn(async move {
            loop {
                tokio::time::sleep(IDLE).await;
                if sweeper.0.upgrade().is_none_or(|pool| pool.sweep()) {
                    return;
                }
            }
        });
    }

    /// Closes what is unused for too long; says whether nothing is left.
    fn sweep(&self) -> bool {
        let mut hosts = self.lock();
        let now = Instant::now();
        hosts.retain_mut(|(_, kept)| {
            kept.idle.retain(|(http1, since)| is_fresh(*since, now) && !http1.sender.is_closed());
            kept.shared = mem::take(&mut kept.shared).filter(|(to, asked)| is_fresh(*asked, now) && !to.is_closed());
            !kept.idle.is_empty() || kept.shared.is_some()
        });
        hosts.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Host, Kept)>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_fresh(since: Instant, now: Instant) -> bool {
    now.saturating_duration_since(since) < IDLE
}

/// The task that sweeps; another may begin when it ends, be it with its runtime.
struct Sweeper(Weak<Pool>);

impl Drop for Sweeper {
    fn drop(&mut self) {
        if let Some(pool) = self.0.upgrade() {
            pool.is_swept.store(false, Ordering::Release);
        }
    }
}
