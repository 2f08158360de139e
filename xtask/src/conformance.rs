//! `cargo xtask conformance wires [--fast]`: our wires against servers that others wrote, offline.

mod peer;

use crate::{
    report::{Error, Fault, Report},
    runner::{self, Keep, Runner},
};
use peer::{PEERS, Peer, Running};

/// The test binaries that talk to the peers, and the packages they are in.
const TESTS: [&str; 6] = ["-p", "mainspring-tests", "-p", "mainspring-cli", "--test", "peers"];

pub(crate) fn run(runner: &Runner, args: &[String]) -> Result<Report, Error> {
    let mut fast = false;
    let mut part = None;
    for arg in args {
        match arg.as_str() {
            "--fast" => fast = true,
            "wires" if part.is_none() => part = Some("wires"),
            other => return Err(Error::Argument { command: "conformance", argument: other.to_owned() }),
        }
    }
    if part.is_none() {
        let what = "says no part";
        return Ok(Report::new("nothing run", vec![Fault::new("conformance", what, "name a part: `wires`")]));
    }
    let wanted: Vec<&Peer> = PEERS.iter().filter(|peer| peer.fast || !fast).collect();
    // Dropped at the end of this function and when it unwinds: each kills its process group.
    let mut running: Vec<Running> = Vec::new();
    let (mut clients, mut faults) = (Vec::new(), Vec::new());
    for peer in wanted {
        match peer.install(runner)? {
            Some(reason) => eprintln!("{}: skipped, {reason}", peer.name),
            None => match peer.client(runner) {
                Some(folder) => clients.push((peer.variable, folder)),
                None => match peer.start(runner)? {
                    Ok(server) => running.push(server),
                    Err(what) => faults.push(Fault::new(peer.name, what, "look at its log below target/peers")),
                },
            },
        }
    }
    if running.is_empty() && faults.is_empty() {
        return Ok(Report::skipped("no peer could be installed"));
    }
    let mut command = runner.cargo(["test", "--no-fail-fast"]);
    command.args(TESTS).args(["--", "--nocapture"]);
    for server in &running {
        command.env(server.variable, &server.url);
    }
    command.envs(clients);
    let (success, text) = runner::tee(&mut command, Keep::Stdout)?;
    for server in running.iter().filter(|server| server.judges) {
        let mut judge = runner.program(runner.root().join(peer::JUDGE));
        judge.args(["report", "--url", &server.url]);
        if !runner::passes(&mut judge)? {
            let what = "the judge found fault with our retries, see above";
            faults.push(Fault::new("llmock", what, "mend the retry policy; it names the rule that was broken"));
        }
    }
    drop(running);
    let (passed, total) = counts(&text);
    // A test without its peer returns early, which libtest calls a pass; it proves nothing.
    let without = text.lines().filter(|line| line.starts_with("skipped: ")).count();
    let (passed, total) = (passed.saturating_sub(without), total.saturating_sub(without));
    if !success || passed != total || total == 0 {
        let what = format!("{passed} of {total} tests passed");
        faults.push(Fault::new("wires", what, "read the failures above; the peers' logs are below target/peers"));
    }
    Ok(Report::new(format!("passed {passed} of {total}"), faults))
}

/// How many tests passed, and how many there are, by the line `test result: ok. 3 passed; 1 failed; ..`.
fn counts(text: &str) -> (usize, usize) {
    let (mut passed, mut failed) = (0, 0);
    for line in text.lines().filter(|line| line.starts_with("test result:")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        for pair in words.windows(2) {
            let [number, word] = pair else { continue };
            let number: usize = number.parse().unwrap_or(0);
            match word.trim_end_matches(';') {
                "passed" => passed += number,
                "failed" => failed += number,
                _ => {}
            }
        }
    }
    (passed, passed + failed)
}

#[cfg(test)]
mod tests {
    //! Reading the figures of libtest.

    use super::counts;

    #[test]
    fn figures_are_read_from_the_result_line() {
        let text = "noise 9 passed\ntest result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured\n";
        assert_eq!(counts(text), (3, 4));
        assert_eq!(counts(""), (0, 0));
    }
}
