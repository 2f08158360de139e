//! The tests of the doubles: what others rely on when they rely on them.

mod cuts;
mod http;
mod journal;
mod provider;
mod refusals;
mod server;
mod stable;
mod support;
mod timer;
mod vendor;
