//! A toy protocol and a toy loop: the types of core in use, in the order of a real prompt.

mod agent;
mod journal;
mod server;
mod state;
mod tools;
mod wire;

pub(crate) use self::{
    agent::{Agent, Ending, OnCacheBreak},
    journal::{CrashingJournal, Death},
    server::{Seen, Server},
    state::State,
    tools::{Add, Runs, Write},
    wire::{StandingClock, ToyWire, provider},
};
