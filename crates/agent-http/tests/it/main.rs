//! The transport against servers on this machine.

mod breaks;
mod credentials;
mod layers;
mod plain;
mod proxies;
mod soak;
mod support;
mod tls;
