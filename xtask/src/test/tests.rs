//! Summary lines of nextest and libtest.

use super::{Counts, Harness, count, selects_packages};

#[track_caller]
fn check(harness: Harness, text: &str, passed: usize, failed: usize) {
    assert_eq!(count(harness, text), Counts { passed, failed }, "{text}");
}

#[test]
fn nextest_summaries() {
    let check = |text: &str, passed, failed| check(Harness::Nextest, text, passed, failed);
    check("     Summary [   0.005s] 3 tests run: 3 passed, 0 skipped\n", 3, 0);
    check("     Summary [   0.005s] 1 test run: 0 passed, 1 failed, 2 skipped\n", 0, 1);
    let all = "Summary [ 0.1s] 7/9 tests run: 3 passed (1 slow, 1 leaky), 2 failed, 1 timed out, \
        1 exec failed, 0 skipped";
    check(all, 3, 4);
    check("     Summary [   0.000s] 0 tests run: 0 passed, 0 skipped", 0, 0);
    check("        PASS [   0.004s] x 3 passed, 1 failed\nerror: could not compile", 0, 0);
}

#[test]
fn the_output_of_a_failed_test_is_not_counted() {
    let text = "        FAIL [   0.005s] (1/1) agent-testkit t::a\n  stdout ---\n\n    \
        running 1 test\n    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured\n\n\
        Summary [0.1s] 9 tests run: 9 passed\n\
        ────────────\n     Summary [   0.1s] 3 tests run: 2 passed, 1 failed, 0 skipped\n\
        \x20       FAIL [   0.005s] (1/1) agent-testkit t::a\nerror: test run failed\n";
    check(Harness::Nextest, text, 2, 1);
}

#[test]
fn libtest_summaries() {
    let check = |text: &str, passed, failed| check(Harness::Libtest, text, passed, failed);
    let ok = "test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; \
        finished in 0.01s\n";
    check(ok, 4, 0);
    check("test result: FAILED. 4 passed; 2 failed; 0 ignored; finished in 0.01s", 4, 2);
    check(&ok.repeat(2), 8, 0);
    check("test a ... FAILED\nerror: 4 passed; 2 failed", 0, 0);
}

#[test]
fn package_selections() {
    let check = |args: &[&str], expected| {
        let args: Vec<_> = args.iter().map(|arg| (*arg).to_owned()).collect();
        assert_eq!(selects_packages(&args), expected, "{args:?}");
    };
    check(&[], false);
    check(&["sse", "--no-capture"], false);
    check(&["-p", "agent-core"], true);
    check(&["-pagent-core"], true);
    check(&["--package=agent-core"], true);
    check(&["--", "-p"], false);
}
