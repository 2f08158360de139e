//! Counts what must not be: lost records, repeated effects, invalid histories, runs without an end.

use std::fmt;

use super::{Acknowledged, Look};

/// What was found so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judge {
    pub kills: u64,
    pub runs: u64,
    pub verdict: Verdict,
    /// What was found, in words.
    pub notes: Vec<String>,
}

/// What must be 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Acknowledged records that are not there.
    pub lost: u64,
    /// Effects that happened again though they were settled, or though once is all that their tool promises.
    pub repeated: u64,
    /// Effects that are settled and did not happen.
    pub missing: u64,
    /// Histories that an API would refuse, and sessions that cannot be read.
    pub invalid: u64,
    /// Runs that did not come to their end.
    pub unfinished: u64,
}

impl Judge {
    /// What a process left, beside what the one before had left.
    pub fn compare(&mut self, what: &str, acknowledged: Acknowledged, before: &Look, now: &Look) {
        let expected = acknowledged.max(before.records);
        if now.records < expected {
            self.verdict.lost += expected - now.records;
            self.note(what, format!("{} of {expected} acknowledged records", now.records));
        }
        for call in before.settled.keys().filter(|call| !now.settled.contains_key(call)) {
            self.verdict.lost += 1;
            self.note(what, format!("the end of {call} is gone"));
        }
        for (effect, times) in &now.effects {
            let (tool, call) = effect;
            let earlier = before.effects.get(effect).copied().unwrap_or_default();
            let once = tool != "count" && *times > 1;
            if *times > earlier && (before.settled.contains_key(call) || once) {
                self.verdict.repeated += 1;
                self.note(what, format!("{tool} {call} happened {times} times, {earlier} of them before"));
            }
        }
        if let Some(why) = now.invalid.as_ref().filter(|_| before.invalid != now.invalid) {
            self.verdict.invalid += 1;
            self.note(what, why.clone());
        }
    }

    /// What there is when nobody is killed any more.
    pub fn end(&mut self, what: &str, end: &Look, said_done: Said) {
        self.runs += 1;
        if !end.complete || said_done == Said::Nothing {
            self.verdict.unfinished += 1;
            self.note(what, "the run did not come to its end".to_owned());
        }
        // Two of the tools promise that a settled call happened: by a repeated request, and by looking.
        let promised = end.settled.iter().filter(|(_, tool)| matches!(tool.as_str(), "count" | "verified"));
        let missing = promised.filter(|(call, tool)| !end.effects.contains_key(&((*tool).clone(), **call))).count();
        if missing > 0 {
            self.verdict.missing += u64::try_from(missing).unwrap_or(u64::MAX);
            self.note(what, format!("{missing} settled effects did not happen"));
        }
    }

    /// Something that keeps the whole from its end.
    pub(super) fn unfinished(&mut self, why: &str) {
        self.verdict.unfinished += 1;
        self.note("stopped", why.to_owned());
    }

    /// A session that cannot be read.
    pub fn unreadable(&mut self, what: &str, error: &super::Error) {
        self.verdict.invalid += 1;
        self.note(what, error.to_string());
    }

    pub(super) fn note(&mut self, what: &str, text: String) {
        if self.notes.len() < 50 {
            self.notes.push(format!("{what}: {text}"));
        }
    }

    pub fn is_clean(&self) -> bool {
        self.verdict == Verdict::default()
    }
}

/// Whether the last process said that it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    Done,
    Nothing,
}

impl fmt::Display for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verdict { lost, repeated, missing, invalid, unfinished } = self.verdict;
        write!(f, "{} kills in {} runs: {lost} acknowledged records lost, ", self.kills, self.runs)?;
        write!(f, "{repeated} settled effects repeated, {missing} missing, {invalid} invalid transcripts, ")?;
        match unfinished {
            0 => f.write_str("all runs completed"),
            some => write!(f, "{some} runs not completed"),
        }
    }
}
