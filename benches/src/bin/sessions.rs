//! Sessions with many entries: reading a branch, appending, loading and memory, each beside a floor that does the least.
//!
//! `sessions [ENTRIES [MILLION]]`, of a release build. Times are the least of several rounds: what is measured does not
//! depend on what else the machine does, and the least is nearest to it.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a command line tool: files and clocks")]

use std::{
    fs::{self, OpenOptions},
    hint::black_box,
    io::Write,
    path::Path,
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use agent_core::{IdSource, JournalRecord, RecordBody, UserMessage};
use agent_session::{JsonlFile, Session};
use mainspring_benches::session::{Floor, payload, scan};

type Error = Box<dyn std::error::Error>;

/// Rounds of which the fastest counts.
const ROUNDS: usize = 9;
/// Appends that are timed.
const APPENDS: usize = 5_000;

fn main() -> Result<ExitCode, Error> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    // A process of its own, whose memory is that of one session.
    if let [what, path] = words.as_slice()
        && what == "memory"
    {
        println!("{}", runtime.block_on(memory(Path::new(path)))?);
        return Ok(ExitCode::SUCCESS);
    }
    let mut arguments = words.into_iter();
    let entries = arguments.next().map_or(Ok(100_000), |count| count.parse())?;
    let many = arguments.next().map_or(Ok(1_000_000), |count| count.parse())?;
    let folder = std::env::temp_dir().join(format!("mainspring-sessions-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let judged = runtime.block_on(measure(&folder, entries, many));
    fs::remove_dir_all(&folder)?;
    Ok(if judged? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The rows of the table, and whether all are within their limits.
struct Rows(bool);

impl Rows {
    fn row(&mut self, what: &str, measured: String, value: f64, at_most: f64) {
        let over = if value > at_most { " **OVER**" } else { "" };
        self.0 &= value <= at_most;
        println!("| {what} | {measured}{over} | {at_most} |");
    }

    fn times(&mut self, what: &str, ours: Duration, floor: Duration, at_most: f64) {
        let times = ours.as_secs_f64() / floor.as_secs_f64().max(1e-9);
        self.row(what, format!("{times:.2} ({ours:.2?}, {floor:.2?})"), times, at_most);
    }
}

async fn measure(folder: &Path, entries: u64, many: u64) -> Result<bool, Error> {
    let mut rows = Rows(true);
    println!("| what | measured | at most |\n|---|---|---|");
    let path = folder.join("some.jsonl");
    write(&path, entries).await?;

    let session = JsonlFile::new(&path).read().await?;
    let floor = Floor::new(entries);
    let (ours, least) = (fastest(|| black_box(session.path()).len()), fastest(|| black_box(floor.path()).len()));
    rows.times(&format!("reading a branch of {entries} entries, times an index walk"), ours, least, 2.0);
    drop(session);

    let (load, least) = (loads(&path).await?, fastest(|| scan(&path)));
    rows.times(&format!("loading {entries} entries, times a newline index and checksums"), load, least, 3.0);

    let line = usize::try_from(fs::metadata(&path)?.len() / entries.max(1))?;
    let (append, least) = appends(folder, line).await?;
    rows.times("an append under `Os`, acknowledged, times a bare write of its line", append, least, 5.0);

    let size = fs::metadata(&path)?.len();
    let output = Command::new(std::env::current_exe()?).arg("memory").arg(&path).output()?;
    let grown = String::from_utf8(output.stdout)?.trim().parse()?;
    let times = ratio(grown, size);
    rows.row("memory of an open session, times its payload", format!("{times:.2} ({grown}, {size} bytes)"), times, 1.2);

    let path = folder.join("many.jsonl");
    write(&path, many).await?;
    let seconds = loads(&path).await?.as_secs_f64();
    rows.row(&format!("seconds to load {many} entries to the head"), format!("{seconds:.2}"), seconds, 1.0);
    Ok(rows.0)
}

/// How much an open session takes of the memory of a process.
async fn memory(path: &Path) -> Result<u64, Error> {
    let before = resident()?;
    let session = JsonlFile::new(path).read().await?;
    let after = resident()?;
    black_box(session.len());
    Ok(after.saturating_sub(before))
}

async fn write(path: &Path, entries: u64) -> Result<(), Error> {
    let session = JsonlFile::new(path).open_or_create().await?;
    let mut ids = IdSource::seeded(1);
    let mut left = entries;
    while left > 0 {
        let some = left.min(2_000);
        session.append((0..some).map(|_| record(&mut ids)).collect()).await?;
        left -= some;
    }
    session.close().await?;
    Ok(())
}

fn record(ids: &mut IdSource) -> JournalRecord {
    let message = UserMessage::text(ids.message(0), payload());
    JournalRecord::conversation(RecordBody::MessageAppended(message.into()))
}

fn fastest<T>(mut work: impl FnMut() -> T) -> Duration {
    let round = |_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed()
    };
    (0..ROUNDS).map(round).min().unwrap_or_default()
}

async fn loads(path: &Path) -> Result<Duration, Error> {
    let mut least = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let session: Session = JsonlFile::new(path).open().await?;
        black_box(session.head());
        least = least.min(start.elapsed());
        session.close().await?;
    }
    Ok(least)
}

/// The time of an append, of many one after the other, each acknowledged before the next; and that of a bare write of as
/// many bytes. They take turns, so that both see the same machine.
async fn appends(folder: &Path, line: usize) -> Result<(Duration, Duration), Error> {
    let session = JsonlFile::new(folder.join("appends.jsonl")).open_or_create().await?;
    let mut bare = OpenOptions::new().append(true).create(true).open(folder.join("bare"))?;
    let (line, mut ids) = (vec![b'x'; line], IdSource::seeded(2));
    let (mut append, mut least) = (Duration::MAX, Duration::MAX);
    for _ in 0..2 * ROUNDS {
        let records: Vec<JournalRecord> = (0..APPENDS).map(|_| record(&mut ids)).collect();
        let start = Instant::now();
        for record in records {
            session.append(vec![record]).await?;
        }
        append = append.min(start.elapsed());
        let start = Instant::now();
        for _ in 0..APPENDS {
            bare.write_all(black_box(&line))?;
        }
        least = least.min(start.elapsed());
    }
    session.close().await?;
    let count = u32::try_from(APPENDS)?;
    Ok((append / count, least / count))
}

fn resident() -> Result<u64, Error> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes * 1024)
}

#[expect(clippy::cast_precision_loss, reason = "of a figure with two decimals")]
fn ratio(a: u64, b: u64) -> f64 {
    a as f64 / b.max(1) as f64
}
