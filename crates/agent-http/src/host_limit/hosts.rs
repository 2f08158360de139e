//! The permits of each host.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

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
    hosts: Mutex<HashMap<Host, Arc<Semaphore>>>,
}

impl Hosts {
    pub(super) fn new(limit: usize) -> Self {
        // Without a permit nothing would ever be sent.
        Self { limit: limit.clamp(1, Semaphore::MAX_PERMITS), hosts: Mutex::default() }
    }

    pub(super) fn of(&self, uri: &Uri) -> Arc<Semaphore> {
        let key = (uri.scheme().cloned(), uri.authority().cloned());
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.len() >= REMEMBERED && !hosts.contains_key(&key) {
            // Whoever waits or holds a permit holds the semaphore.
            hosts.retain(|_, permits| Arc::strong_count(permits) > 1);
        }
        hosts.entry(key).or_insert_with(|| Arc::new(Semaphore::new(self.limit))).clone()
    }
}
