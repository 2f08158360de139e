//! `crash [--kills N] [--seed N] [--turns N] [--break GUARD]`: kills processes and says what became of their sessions.
//! The processes are this program again, as `crash child …`. `--break` breaks a guard, which has to be found.
#![cfg_attr(unix, expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a tool for the terminal"))]

#[cfg(unix)]
use mainspring_tests::crash::{Broken, Campaign, Error, child};

#[cfg(unix)]
fn main() -> Result<std::process::ExitCode, Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some((first, rest)) = arguments.split_first()
        && first == "child"
    {
        let orders = child::Orders::read(rest)?;
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        return runtime.block_on(child::run(&orders)).map(|()| std::process::ExitCode::SUCCESS);
    }
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    let (mut kills, mut seed, mut turns, mut broken) = (500, u64::from(clock.subsec_nanos()), 3, None);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("`{word}` needs a value"))?;
        match word.as_str() {
            "--kills" => kills = value.parse()?,
            "--seed" => seed = value.parse()?,
            "--turns" => turns = value.parse()?,
            "--break" => broken = Some(Broken::named(value)?),
            other => return Err(format!("no argument `{other}`").into()),
        }
    }
    let program = std::env::current_exe()?;
    let folder = std::env::temp_dir().join(format!("mainspring-crash-{}", std::process::id()));
    println!("seed {seed}; run it again with --seed {seed}");
    let judge = Campaign { program: &program, folder: folder.clone(), kills, seed, turns, broken }.run()?;
    for note in &judge.notes {
        println!("{note}");
    }
    if judge.is_clean() {
        std::fs::remove_dir_all(&folder)?;
    } else {
        println!("what could not be read is kept in {}", folder.display());
    }
    println!("{judge}");
    Ok(if judge.is_clean() { std::process::ExitCode::SUCCESS } else { std::process::ExitCode::FAILURE })
}

#[cfg(not(unix))]
fn main() {}
