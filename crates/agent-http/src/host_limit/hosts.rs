//! The permits of each host.

use std::sync::{Arc, Mutex, PoisonError};

use http::{
    Uri,
    uri::{Authority, Scheme},
};
use tokio::sync::Semaphore;

/// From this many hosts on, those without an exchange are forgotten.
const REMEMBERED: usize = 64;

type Host = (Option<Scheme>, Option<Authority>);

/// The permits of each host that is in use; shared by all clones of a service.
#[derive(Debug)]
pub(super) struct Hosts {
    limit: usize,
    // A list: the hosts of a process are few, and comparing is cheaper than hashing.
    hosts: Mutex<Vec<(Host, Arc<Semaphore>)>>,
}

impl Hosts {
    pub(super) fn new(limit: usize) -> Self {
        // Without a permit nothing would ever be sent.
        Self { limit: limit.clamp(1, Semaphore::MAX_PERMITS), hosts: Mutex::default() }
    }

    pub(super) fn of(&self, uri: &Uri) -> Arc<Semaphore> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |host: &Host| host.1.as_ref() == uri.authority() && host.0.as_ref() == uri.scheme();
        if let Some((_, permits)) = hosts.iter().find(|(host, _)| is_it(host)) {
            return permits.clone();
        }
        if hosts.len() >= REMEMBERED {
            // Whoever waits or holds a permit holds the semaphore.
            hosts.retain(|(_, permits)| Arc::strong_count(permits) > 1);
        }
        let permits = Arc::new(Semaphore::new(self.limit));
        hosts.push(((uri.scheme().cloned(), uri.authority().cloned()), permits.clone()));
        permits
    }
}
