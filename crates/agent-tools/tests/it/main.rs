//! The tools on real files and processes.

#![cfg(unix)]

mod cases;
mod folder;
mod paths;
mod read;
