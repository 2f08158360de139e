//! How the cost of the cases grows, in the dev profile: twice the work, about twice the instructions.

use std::io;
use std::path::PathBuf;

use mainspring_benches::judge::Counter;
use mainspring_benches::{CASES, callgrind};

#[test]
fn growth_is_linear() -> io::Result<()> {
    if !callgrind::is_there() {
        eprintln!("skipped: valgrind is not installed, growth was not measured");
        return Ok(());
    }
    let mut counter = Counter::new(PathBuf::from(env!("CARGO_BIN_EXE_counts")));
    let mut over = Vec::new();
    for case in CASES {
        let found = match case.growth {
            Some(growth) => Some(counter.growth(case, growth, growth.n_dev)?),
            // A cost that must not grow is judged against the same work at a small size.
            None if case.floor.is_some_and(|floor| floor.routine) => counter.versus_floor(case)?,
            None => None,
        };
        if let Some(found) = found {
            eprintln!("{found:?}");
            if found.is_over() {
                over.push(found);
            }
        }
    }
    assert_eq!(over, []);
    Ok(())
}
