//! What is measured of a case, and whether it is within its budget.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;

use crate::callgrind;
use crate::cases::{Case, Growth, case};

/// Counts cases with one binary and remembers what it counted.
#[derive(Debug)]
pub struct Counter {
    counts: PathBuf,
    known: HashMap<(&'static str, u64), u64>,
}

/// One figure and its limit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The name of the case.
    pub case: &'static str,
    /// What was measured.
    pub what: String,
    /// The figure, in hundredths.
    pub hundredths: u64,
    /// The largest figure allowed, in hundredths; `None` informs only.
    pub max: Option<u64>,
}

impl Finding {
    /// Whether the figure is over its limit.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.max.is_some_and(|max| self.hundredths > max)
    }
}

impl Counter {
    /// A counter that runs the binary `counts` at this path.
    #[must_use]
    pub fn new(counts: PathBuf) -> Self {
        Self { counts, known: HashMap::new() }
    }

    /// Everything that is measured of a case in the release profile.
    ///
    /// # Errors
    /// When a run fails.
    pub fn judge(&mut self, case: &'static Case) -> io::Result<Vec<Finding>> {
        let per_unit = self.per_unit(case)?;
        let mut findings = vec![Finding {
            case: case.name,
            what: format!("instructions per {}", case.unit),
            hundredths: per_unit * 100,
            max: case.per_unit.max.map(|max| max * 100),
        }];
        if let Some(growth) = case.growth {
            findings.push(self.growth(case, growth, growth.n)?);
        }
        findings.extend(self.versus_floor(case)?);
        Ok(findings)
    }

    /// The cost of a unit in units of the floor's, if that is judged.
    ///
    /// # Errors
    /// When a run fails.
    pub fn versus_floor(&mut self, case: &'static Case) -> io::Result<Option<Finding>> {
        let Some(floor) = case.floor else { return Ok(None) };
        let below = self::case(floor.name).ok_or_else(|| io::Error::other(format!("no case `{}`", floor.name)))?;
        Ok(Some(Finding {
            case: case.name,
            what: format!("times {}", floor.name),
            hundredths: self.per_unit(case)? * 100 / self.per_unit(below)?.max(1),
            max: Some(floor.max_tenths * 10),
        }))
    }

    /// I(2n) / I(n).
    ///
    /// # Errors
    /// When a run fails.
    pub fn growth(&mut self, case: &'static Case, growth: Growth, n: u64) -> io::Result<Finding> {
        let hundredths = self.count(case, 2 * n)? * 100 / self.count(case, n)?.max(1);
        Ok(Finding {
            case: case.name,
            what: format!("I({}) / I({n})", 2 * n),
            hundredths,
            max: Some(growth.max_tenths * 10),
        })
    }

    fn per_unit(&mut self, case: &'static Case) -> io::Result<u64> {
        let (lo, hi) = (case.per_unit.lo, case.per_unit.hi);
        let more = self.count(case, hi)?.saturating_sub(self.count(case, lo)?);
        Ok(more / hi.saturating_sub(lo).max(1))
    }

    fn count(&mut self, case: &'static Case, n: u64) -> io::Result<u64> {
        if let Some(count) = self.known.get(&(case.name, n)) {
            return Ok(*count);
        }
        let count = callgrind::count(&self.counts, case.name, n)?;
        self.known.insert((case.name, n), count);
        Ok(count)
    }
}
