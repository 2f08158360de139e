//! A figure as a table: a row per client, a target where ours has one.

use std::fmt;

use super::client::OURS;
use crate::report::Fault;

/// One figure.
#[derive(Debug, Clone)]
pub(super) struct Table {
    title: String,
    how: String,
    columns: Vec<Column>,
    rows: Vec<(&'static str, Vec<Cell>)>,
}

#[derive(Debug, Clone)]
pub(super) struct Column {
    head: String,
    decimals: usize,
    max: Option<f64>,
}

#[derive(Debug, Clone)]
pub(super) enum Cell {
    Value(f64),
    /// The client cannot do it, or it was not asked.
    None,
    Failed(String),
}

impl Column {
    pub(super) fn new(head: impl Into<String>, decimals: usize) -> Self {
        Self { head: head.into(), decimals, max: None }
    }

    /// The most that ours may be.
    pub(super) fn at_most(self, max: f64) -> Self {
        Self { max: Some(max), ..self }
    }

    fn number(&self, value: f64) -> String {
        grouped(&format!("{value:.*}", self.decimals))
    }
}

impl Table {
    pub(super) fn new(title: impl Into<String>, how: impl Into<String>, columns: Vec<Column>) -> Self {
        Self { title: title.into(), how: how.into(), columns, rows: Vec::new() }
    }

    pub(super) fn row(&mut self, client: &'static str, cells: Vec<Cell>) {
        self.rows.push((client, cells));
    }

    /// What ours misses, and what could not be measured of ours.
    pub(super) fn faults(&self) -> Vec<Fault> {
        let ours = self.rows.iter().filter(|(client, _)| *client == OURS);
        let cells = ours.flat_map(|(_, cells)| self.columns.iter().zip(cells));
        cells.filter_map(|(column, cell)| self.fault(column, cell)).collect()
    }

    fn fault(&self, column: &Column, cell: &Cell) -> Option<Fault> {
        let place = format!("{}, {}", self.title, column.head);
        match (cell, column.max) {
            (Cell::Value(value), Some(max)) if *value > max => {
                let what = format!("{} is over the target of {}", column.number(*value), column.number(max));
                Some(Fault::new(place, what, "benches/peers/README.md says how it is measured"))
            }
            (Cell::Failed(reason), _) => Some(Fault::new(place, reason, "run the program of benches/peers by hand")),
            _ => None,
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "## {}\n\n{}\n", self.title, self.how)?;
        let heads: Vec<_> = self.columns.iter().map(|column| column.head.as_str()).collect();
        writeln!(f, "| | {} |", heads.join(" | "))?;
        writeln!(f, "|---|{}", "---:|".repeat(self.columns.len()))?;
        for (client, cells) in &self.rows {
            let is_ours = *client == OURS;
            let cells: Vec<_> =
                self.columns.iter().zip(cells).map(|(column, cell)| show(column, cell, is_ours)).collect();
            writeln!(f, "| {client} | {} |", cells.join(" | "))?;
        }
        let targets: Vec<_> = self.columns.iter().map(target).collect();
        writeln!(f, "| *target* | {} |", targets.join(" | "))
    }
}

fn show(column: &Column, cell: &Cell, is_ours: bool) -> String {
    match (cell, column.max) {
        (Cell::Value(value), Some(max)) if is_ours && *value > max => format!("{} **missed**", column.number(*value)),
        (Cell::Value(value), Some(_)) if is_ours => format!("{} met", column.number(*value)),
        (Cell::Value(value), _) => column.number(*value),
        (Cell::None, _) => "-".to_owned(),
        (Cell::Failed(reason), _) => format!("failed: {}", reason.replace('|', "/")),
    }
}

fn target(column: &Column) -> String {
    column.max.map_or_else(|| "-".to_owned(), |max| format!("<= {}", column.number(max)))
}

/// `1234567.8` as `1,234,567.8`.
fn grouped(number: &str) -> String {
    let (whole, rest) = number.split_once('.').map_or((number, None), |(whole, rest)| (whole, Some(rest)));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    rest.map_or(grouped.clone(), |rest| format!("{grouped}.{rest}"))
}

#[cfg(test)]
mod tests {
    //! How a table looks, and what counts as a fault.

    use super::{Cell, Column, OURS, Table, grouped};

    fn table() -> Table {
        let columns = vec![Column::new("instructions", 0).at_most(7_000.0), Column::new("growth", 2).at_most(1.25)];
        let mut table = Table::new("An event", "Counted.", columns);
        table.row("floor", vec![Cell::Value(7_019.4), Cell::None]);
        table.row(OURS, vec![Cell::Value(7_001.0), Cell::Value(1.25)]);
        table
    }

    #[test]
    fn a_table_tells_the_verdict_of_ours_only() {
        let expected = "## An event\n\nCounted.\n\n| | instructions | growth |\n|---|---:|---:|\n\
            | floor | 7,019 | - |\n| mainspring | 7,001 **missed** | 1.25 met |\n| *target* | <= 7,000 | <= 1.25 |\n";
        assert_eq!(table().to_string(), expected);
        let faults: Vec<_> = table().faults().into_iter().map(|fault| (fault.place, fault.what)).collect();
        assert_eq!(faults, [("An event, instructions".to_owned(), "7,001 is over the target of 7,000".to_owned())]);
    }

    #[test]
    fn what_could_not_be_measured_is_a_fault_of_ours_only() {
        let mut table = Table::new("An event", "Counted.", vec![Column::new("instructions", 0)]);
        table.row("rig 0.46.0", vec![Cell::Failed("it hangs".to_owned())]);
        assert!(table.faults().is_empty());
        table.row(OURS, vec![Cell::Failed("it hangs".to_owned())]);
        assert_eq!(table.faults().len(), 1);
    }

    #[test]
    fn digits_are_grouped() {
        let numbers = ["0", "999", "1000", "1234567.80"].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "1,234,567.80"]);
    }
}
