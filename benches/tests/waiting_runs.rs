//! What a run keeps that waits stays small, in any profile.
#![expect(clippy::disallowed_methods, reason = "it runs the measuring program")]

use std::{io, path::Path, process::Command};

#[test]
fn a_run_that_waits_for_an_approval_keeps_at_most_8_kib() -> io::Result<()> {
    if !Path::new("/proc/self/status").exists() {
        eprintln!("skipped: there is no /proc, memory was not measured");
        return Ok(());
    }
    let output = Command::new(env!("CARGO_BIN_EXE_waiting_runs")).output()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    Ok(())
}
