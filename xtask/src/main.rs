//! The checks that keep the workspace honest.
fn main() {}
