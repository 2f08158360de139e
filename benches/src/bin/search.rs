//! CPU time of `search` over the sources that cargo has fetched, a pattern without a match, beside `rg` and `grep -r`,
//! one thread each, in turns, in one run, with a warm cache.
//!
//! At most 1.5 times `rg`, and half of `grep -r`. `rg` is looked for in `target/peers/bin` first
//! (`cargo install ripgrep --root target/peers`); what is not there is said and left out.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a command line tool")]

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use agent_core::{CallId, ContentBlock, IdSource, RawJson, Tool as _, ToolContext, ToolOutcome};
use agent_tools::{Search, Workspace};

const PATTERN: &str = "no such [a-z]+ stands anywhere";
const ROUNDS: usize = 5;

fn main() -> io::Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    if let (Some("child"), Some(folder), Some(pattern)) =
        (arguments.next().as_deref(), arguments.next(), arguments.next())
    {
        print!("{}", search(&folder, &pattern)?);
        return Ok(ExitCode::SUCCESS);
    }
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo"))).unwrap_or_default();
    let folder = home.join("registry/src");
    let ours = || {
        let mut command = Command::new(std::env::current_exe().unwrap_or_default());
        command.arg("child").arg(&folder).arg(PATTERN);
        command
    };
    let rg = || {
        let kept = Path::new("target/peers/bin/rg");
        let mut command = Command::new(if kept.exists() { kept } else { Path::new("rg") });
        command.args(["-j1", "--no-config", "--no-require-git", "--no-ignore-global", PATTERN]).arg(&folder);
        command
    };
    let grep = || {
        let mut command = Command::new("grep");
        command.args(["-rE", PATTERN]).arg(&folder).env("LC_ALL", "C");
        command
    };
    // Whatever is first would read from the disk.
    spent(ours())?;
    let (mut of_rg, mut of_grep) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let ours = spent(ours())?;
        let (rg, grep) = (spent(rg()).ok(), spent(grep()).ok());
        println!("search {ours} ms of CPU, rg {}, grep -r {}", shown(rg), shown(grep));
        of_rg.extend(rg.map(|rg| ours * 100 / rg.max(1)));
        of_grep.extend(grep.map(|grep| ours * 100 / grep.max(1)));
    }
    let rg = judge("rg", of_rg, 150);
    let grep = judge("grep -r", of_grep, 50);
    // What is found comes in one order, on every run.
    let orders: Vec<String> = (0..3).map(|_| search(&folder.to_string_lossy(), "fn main")).collect::<Result<_, _>>()?;
    let same = orders.windows(2).all(|pair| matches!(pair, [a, b] if a == b));
    println!(
        "the order of {} bytes of results is {}",
        orders.first().map_or(0, String::len),
        if same { "the same" } else { "NOT the same" }
    );
    Ok(if rg && grep && same { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn shown(ms: Option<u64>) -> String {
    ms.map_or_else(|| "is not there".to_owned(), |ms| ms.to_string())
}

/// Prints the median, in hundredths; whether it is not too much.
fn judge(name: &str, mut ratios: Vec<u64>, most: u64) -> bool {
    ratios.sort_unstable();
    let Some(median) = ratios.get(ratios.len() / 2) else {
        println!("{name} is not there: not compared");
        return true;
    };
    let text = |of: u64| format!("{}.{:02}", of / 100, of % 100);
    println!("{} times the CPU of {name}, at most {}", text(*median), text(most));
    *median <= most
}

/// Searches in this process, as a run does.
fn search(folder: &str, pattern: &str) -> io::Result<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let search = Search::new(&Workspace::new(folder).map_err(io::Error::other)?).map_err(io::Error::other)?;
    let mut ids = IdSource::seeded(1);
    let context = ToolContext::new(ids.run(0), CallId::new(ids.message(0), 0));
    let arguments = RawJson::of(&serde_json::json!({"pattern": pattern})).map_err(io::Error::other)?;
    match runtime.block_on(search.call(arguments, context)) {
        ToolOutcome::Output(output) => Ok(output.content.iter().filter_map(ContentBlock::as_text).collect()),
        other => Err(io::Error::other(format!("{other:?}"))),
    }
}

/// Milliseconds on a processor of a program, user and system, from its start to its end.
fn spent(mut command: Command) -> io::Result<u64> {
    let before = children()?;
    let output = command.stdin(Stdio::null()).output()?;
    let after = children()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    // Ours says so in words; the others print nothing and end with 1.
    if !matches!(printed.trim(), "" | "[no matches]") {
        return Err(io::Error::other(format!("it is not a search without matches: {printed}")));
    }
    Ok(after.saturating_sub(before))
}

/// The processor time of all children that have ended: fields 16 and 17 of `/proc/self/stat`, in ticks of 10 ms
/// (proc_pid_stat(5)).
fn children() -> io::Result<u64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let after = stat.rsplit_once(") ").map_or("", |(_, after)| after);
    let ticks: Option<u64> = after.split(' ').skip(13).take(2).map(|field| field.parse::<u64>().ok()).sum();
    ticks.map(|ticks| ticks * 10).ok_or_else(|| io::Error::other("the kernel does not tell the time of children"))
}
