//! Counting the instructions of a case: a run of its own under callgrind.

#![expect(clippy::disallowed_methods, reason = "counting means running valgrind")]

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Whether valgrind can be started.
#[must_use]
pub fn is_there() -> bool {
    let status = Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// The instructions that `counts run <case> <n>` takes, start-up included.
///
/// # Errors
/// When valgrind or the case fails, or when valgrind's report has no count.
pub fn count(counts: &Path, case: &str, n: u64) -> io::Result<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(counts)
        .args(["run", case, &n.to_string()])
        .output()?;
    let report = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(io::Error::other(format!("`{case}` with n = {n} failed: {report}")));
    }
    report
        .lines()
        .find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
        .ok_or_else(|| io::Error::other(format!("valgrind reported no count: {report}")))
}
