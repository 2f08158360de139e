//! The figures: how each is measured, and what ours may be (see benches/peers/README.md).

use std::fs;

use super::{
    client::Client,
    measure::{Bench, Outcome},
    table::{Cell, Column, Table},
};
use crate::{report::Error, runner};

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    /// Events of the two streams whose difference is counted.
    events: (u64, u64),
    /// After how many turns one more is counted, and the most instructions of ours.
    turns: &'static [(u64, f64)],
    /// How many runs go on at once.
    crowds: &'static [u64],
    /// The messages of a session.
    messages: u64,
}

impl Extent {
    pub(super) fn of(fast: bool) -> Self {
        if fast {
            Self {
                events: (1_000, 3_000),
                turns: &[(10, 130_000.0), (100, 170_000.0)],
                crowds: &[1_000],
                messages: 10_000,
            }
        } else {
            let turns = &[(10, 130_000.0), (100, 170_000.0), (300, 250_000.0)];
            Self { events: (1_000, 6_000), turns, crowds: &[1_000, 9_900], messages: 100_000 }
        }
    }
}

/// `None` where it cannot be measured here.
type Figure = fn(&Bench<'_>, &[&Client], Extent) -> Result<Option<Table>, Error>;

pub(super) const ALL: &[Figure] = &[openai, anthropic, turns, long, crowd, session, size];

/// The events of the stream whose time is taken.
const EVENTS: u64 = 50_000;
/// The tool calls of the long run.
const CALLS: u64 = 1_000;
/// Turns over which the cost of one is averaged.
const STEP: u64 = 10;

fn openai(bench: &Bench<'_>, clients: &[&Client], extent: Extent) -> Result<Option<Table>, Error> {
    Ok(stream(bench, clients, extent, "openai", "OpenAI chunks of 301 bytes", 7_000.0))
}

fn anthropic(bench: &Bench<'_>, clients: &[&Client], extent: Extent) -> Result<Option<Table>, Error> {
    let what = "Anthropic events of 127 bytes, half text, half tool arguments";
    Ok(stream(bench, clients, extent, "anthropic", what, 3_500.0))
}

fn stream(bench: &Bench<'_>, clients: &[&Client], extent: Extent, api: &str, what: &str, max: f64) -> Option<Table> {
    let (low, high) = extent.events;
    let how = format!(
        "Instructions: the difference of {high} and {low} events under callgrind, by event. CPU time: of {EVENTS} events \
         with start-up, user and kernel, by event. Writes of 16 KiB; every client must come to the same text."
    );
    let columns = vec![Column::new("instructions per event", 0).at_most(max), Column::new("CPU ns per event", 0)];
    let mut table = Table::new(format!("A streamed event: {what}"), how, columns);
    let mut expected = None;
    for client in clients.iter().filter(|client| client.speaks.contains(&api)) {
        let instructions = bench.counts().then(|| {
            let (few, many) = (
                bench.count(client, &[client.stream, api], &[low])?,
                bench.count(client, &[client.stream, api], &[high])?,
            );
            Ok(ratio(many.0.saturating_sub(few.0), high - low))
        });
        let run = || bench.run(client, &[client.stream, api], &[EVENTS]);
        let cpu = run().and_then(|figures| {
            let text = figures.of("text")?;
            let of_all = *expected.get_or_insert(text);
            whole(text, of_all)?;
            bench.median(client, || Ok([ratio(run()?.of("cpu_ns")?, EVENTS)]))
        });
        table.row(client.name, vec![instructions.map_or(Cell::None, cell), cell(cpu.map(|[cpu]| cpu))]);
    }
    Some(table)
}

fn turns(bench: &Bench<'_>, clients: &[&Client], extent: Extent) -> Result<Option<Table>, Error> {
    if !bench.counts() {
        return Ok(None);
    }
    let how = format!(
        "Instructions per turn (a call, its result), from runs of N and N + {STEP} turns under callgrind. Streams of \
         OpenAI chunks; one tool."
    );
    let columns = extent.turns.iter().map(|(at, max)| Column::new(format!("at N = {at}"), 0).at_most(*max)).collect();
    let mut table = Table::new("One more turn over HTTP", how, columns);
    for client in clients.iter().filter(|client| client.turns) {
        let count = |turns: u64| {
            let (count, figures) = bench.count(client, &["turns"], &[turns])?;
            whole(figures.of("turns")?, turns + 1).map(|()| count)
        };
        let cells = extent.turns.iter().map(|(at, _)| {
            let (more, less) = (count(at + STEP), count(*at));
            cell(more.and_then(|more| Ok(ratio(more.saturating_sub(less?), STEP))))
        });
        table.row(client.name, cells.collect());
    }
    Ok(Some(table))
}

fn long(bench: &Bench<'_>, clients: &[&Client], _: Extent) -> Result<Option<Table>, Error> {
    let how = "CPU time of the whole process, user and kernel, and the connections that the server saw. Times depend on \
               the machine: read them beside the floor's.";
    let columns = vec![Column::new("CPU ms", 1).at_most(60.0), Column::new("connections", 0).at_most(1.0)];
    let mut table = Table::new(format!("A run of {CALLS} turns over HTTP"), how, columns);
    for client in clients.iter().filter(|client| client.turns) {
        let run = || {
            let figures = bench.run(client, &["turns"], &[CALLS])?;
            whole(figures.of("turns")?, CALLS + 1)?;
            Ok([ratio(figures.of("cpu_ns")?, 1_000_000)])
        };
        let before = bench.server.seen()?;
        let once = run();
        let after = bench.server.seen()?;
        let connections = once.and_then(|_| {
            whole(after.requests - before.requests, CALLS + 1)?;
            Ok(ratio((after.connections - before.connections).saturating_sub(1), 1))
        });
        let cpu = bench.median(client, run).map(|[cpu]| cpu);
        table.row(client.name, vec![cell(cpu), cell(connections)]);
    }
    Ok(Some(table))
}

fn crowd(bench: &Bench<'_>, clients: &[&Client], extent: Extent) -> Result<Option<Table>, Error> {
    let how = "Runs of two tool calls and a text, all at once on one thread, over 16 addresses; the server waits 20 ms \
               before it answers. CPU time of the process by run; growth of its memory to the peak (`VmHWM`) by run.";
    let mut columns = Vec::new();
    for runs in extent.crowds {
        columns.push(Column::new(format!("CPU us per run, {runs} runs"), 0).at_most(250.0));
        columns.push(Column::new(format!("KB per run, {runs} runs"), 1).at_most(40.0));
        columns.push(Column::new(format!("connections per run, {runs} runs"), 2));
    }
    if extent.crowds.len() > 1 {
        columns.push(Column::new("growth of CPU per run", 2).at_most(1.25));
    }
    let mut table = Table::new("Many runs at once", how, columns);
    for client in clients.iter().filter(|client| client.crowd > 0) {
        let mut cells = Vec::new();
        let mut costs = Vec::new();
        for runs in extent.crowds {
            if *runs > client.crowd {
                cells.extend([Cell::None, Cell::None, Cell::None]);
                continue;
            }
            let run = || {
                let before = bench.server.seen().map_err(|error| error.to_string())?;
                let figures = bench.run(client, &["crowd"], &[*runs, 20])?;
                whole(figures.of("whole")?, *runs)?;
                let after = bench.server.seen().map_err(|error| error.to_string())?;
                let opened = (after.connections - before.connections).saturating_sub(1);
                let (cpu, bytes) = (figures.of("cpu_ns")?, figures.of("grown_bytes")?);
                Ok([ratio(cpu, runs * 1_000), ratio(bytes, runs * 1_000), ratio(opened, *runs)])
            };
            match bench.median(client, run) {
                Ok(figures) => {
                    costs.extend(figures.first().copied());
                    cells.extend(figures.map(Cell::Value));
                }
                Err(reason) => cells.extend([Cell::Failed(reason), Cell::None, Cell::None]),
            }
        }
        if extent.crowds.len() > 1 {
            let growth = costs.first().zip(costs.get(1)).map(|(few, many)| many / few);
            cells.push(growth.map_or(Cell::None, Cell::Value));
        }
        table.row(client.name, cells);
    }
    Ok(Some(table))
}

fn session(bench: &Bench<'_>, clients: &[&Client], extent: Extent) -> Result<Option<Table>, Error> {
    let how = "Wall time, the least of a few tries (of peers one). The branch to the head, without and with its messages; an \
               append that survives the process, of messages of 300 bytes; opening the file. The floor walks an index, \
               writes the bytes, finds the lines and sums them up.";
    let times = |what: &str, most: f64| Column::new(format!("{what}, times the floor"), 2).at_most(most);
    let columns = vec![
        Column::new("branch ms", 2),
        times("branch", 2.0),
        Column::new("append us", 2),
        times("append", 5.0),
        Column::new("open ms", 2),
        times("open", 3.0),
        Column::new("messages ms", 1),
    ];
    let messages = extent.messages;
    let mut table = Table::new(format!("A session of {messages} messages in a file"), how, columns);
    let file = bench.place.target.join("session.jsonl");
    let name = file.display().to_string();
    let mut floor = None;
    for client in clients.iter().filter(|client| client.sessions) {
        // What an earlier run left that did not come to its end.
        _ = fs::remove_file(&file);
        let measured = bench.run(client, &["session", &name], &[messages]).and_then(|figures| {
            whole(figures.of("entries")?, messages)?;
            let [branch, append, open] = ["branch_ns", "append_ns", "load_ns"].map(|what| figures.of(what));
            Ok(([branch?, append?, open?], figures.of("messages_ns").ok()))
        });
        let (figures, read) = match measured {
            Ok(measured) => measured,
            Err(reason) => {
                let rest = std::iter::repeat_with(|| Cell::None).take(6);
                table.row(client.name, std::iter::once(Cell::Failed(reason)).chain(rest).collect());
                continue;
            }
        };
        let least = *floor.get_or_insert(figures);
        let units = [1_000_000, 1_000, 1_000_000];
        let pairs = figures.into_iter().zip(least).zip(units);
        let cells = pairs.flat_map(|((figure, least), unit)| [ratio(figure, unit), ratio(figure, least)]);
        let read = read.map_or(Cell::None, |read| Cell::Value(ratio(read, 1_000_000)));
        table.row(client.name, cells.map(Cell::Value).chain([read]).collect());
    }
    Ok(Some(table))
}

fn size(bench: &Bench<'_>, clients: &[&Client], _: Extent) -> Result<Option<Table>, Error> {
    let how = "A program with one prompt: its size in the release profile as cargo has it, stripped; and the crates \
               that it compiles, macros and build scripts included, itself not.";
    let columns = vec![Column::new("MB stripped", 2).at_most(4.0), Column::new("crates", 0).at_most(80.0)];
    let mut table = Table::new("A bare agent", how, columns);
    for client in clients {
        let Some(hello) = client.hello else { continue };
        if client.is_own() && !bench.place.builds(&[hello])? {
            table.row(client.name, vec![Cell::Failed("it does not build".to_owned()), Cell::None]);
            continue;
        }
        let stripped = bench.place.target.join(format!("{hello}.stripped"));
        let mut strip = bench.place.runner.program("strip");
        strip.arg("-o").arg(&stripped).arg(bench.place.program(hello));
        let bytes = match runner::output(&mut strip) {
            Ok(_) => fs::metadata(&stripped).map(|file| file.len()).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let crates = bench.place.crates(hello)?;
        table.row(client.name, vec![cell(bytes.map(|bytes| ratio(bytes, 1_000_000))), cell(Ok(ratio(crates, 1)))]);
    }
    Ok(Some(table))
}

/// `count / by`; counts here are far below the 2^53 up to which this is exact.
#[expect(clippy::cast_precision_loss, reason = "counts of instructions, bytes and nanoseconds of one run")]
fn ratio(count: u64, by: u64) -> f64 {
    count as f64 / by.max(1) as f64
}

fn cell(outcome: Outcome<f64>) -> Cell {
    outcome.map_or_else(Cell::Failed, Cell::Value)
}

/// A program that did only a part of its work is not compared with those that did it all.
fn whole(done: u64, asked: u64) -> Outcome<()> {
    if done == asked { Ok(()) } else { Err(format!("it did {done} of {asked}")) }
}

#[cfg(test)]
mod tests {
    //! What counts as done.

    use super::{ratio, whole};

    #[test]
    fn a_part_of_the_work_is_no_figure() {
        assert_eq!(whole(311, 311), Ok(()));
        assert_eq!(whole(226, 311), Err("it did 226 of 311".to_owned()));
        assert_eq!(ratio(7, 2).to_bits(), 3.5_f64.to_bits());
        assert_eq!(ratio(7, 0).to_bits(), 7.0_f64.to_bits());
    }
}
