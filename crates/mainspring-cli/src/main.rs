//! `mainspring`: an agent in the terminal.

#[cfg_attr(not(test), expect(dead_code, reason = "the choice of the model comes next"))]
mod offline;
mod terminal;

fn main() {}
