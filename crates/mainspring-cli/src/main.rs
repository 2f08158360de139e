//! `mainspring`: an agent in the terminal.

mod offline;
mod terminal;

fn main() {}
