//! Many runs: killed at every journal point, and whenever it happens.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use agent_session::SyncPolicy;

use super::{Broken, Counter, Die, Error, Judge, Trial, When};

/// A small generator of numbers, the same ones for the same seed (SplitMix64).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    pub fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.draw() % end.max(1)
    }
}

/// So many kills.
#[derive(Debug)]
pub struct Campaign<'a> {
    pub program: &'a Path,
    pub folder: PathBuf,
    pub kills: u64,
    pub seed: u64,
    pub turns: usize,
    pub broken: Option<Broken>,
}

impl Campaign<'_> {
    /// Kills, and judges. Every journal point is one of the moments, where there are kills enough for all of them; else
    /// half of the kills are at points that are drawn.
    pub fn run(&self) -> Result<Judge, Error> {
        let (counter, mut random, mut judge) = (Counter::start()?, Random::seeded(self.seed), Judge::default());
        let mut number = 0;
        let mut trial = |sync| {
            number += 1;
            let folder = self.folder.join(format!("run-{number}"));
            let Self { program, turns, broken, .. } = *self;
            Trial { program, folder, counter: &counter, turns, sync, broken }
        };
        // Two that nobody kills: how many appends there are, and how long it takes.
        let mut longest = Duration::ZERO;
        let mut appends = 0;
        for sync in [SyncPolicy::Os, SyncPolicy::Always] {
            let start = Instant::now();
            appends = trial(sync).run(&[], &mut judge)?.appends;
            longest = longest.max(start.elapsed());
        }
        let mut points: Vec<(When, u64)> =
            When::ALL.into_iter().flat_map(|when| (1..=appends).map(move |count| (when, count))).collect();
        if self.kills < u64::try_from(points.len()).unwrap_or(u64::MAX) * 2 {
            points = (0..self.kills / 2).map(|_| (moment(&mut random), 1 + random.below(appends))).collect();
        }
        for (at, (when, count)) in points.into_iter().enumerate() {
            let sync = if at % 2 == 0 { SyncPolicy::Os } else { SyncPolicy::Always };
            // One in four is killed a second time, while it takes up what the first left.
            let second = Die::At(moment(&mut random), 1 + random.below(4));
            let deaths = [Die::At(when, count), second];
            trial(sync).run(if random.below(4) == 0 { &deaths } else { &deaths[..1] }, &mut judge)?;
        }
        let mut tries = 0;
        while judge.kills < self.kills {
            tries += 1;
            if tries > self.kills.saturating_mul(10) {
                judge.unfinished("the processes end before anybody can kill them");
                break;
            }
            let sync = if tries % 2 == 0 { SyncPolicy::Os } else { SyncPolicy::Always };
            let micros = u64::try_from(longest.as_micros()).unwrap_or(u64::MAX);
            let wanted = usize::try_from((1 + random.below(4)).min(self.kills - judge.kills)).unwrap_or(1);
            let deaths: Vec<Die> =
                (0..wanted).map(|_| Die::After(Duration::from_micros(random.below(micros)))).collect();
            trial(sync).run(&deaths, &mut judge)?;
        }
        Ok(judge)
    }
}

fn moment(random: &mut Random) -> When {
    match random.below(4) {
        0 => When::Before,
        1 => When::Accepted,
        2 => When::Acknowledged,
        _ => When::Torn,
    }
}
