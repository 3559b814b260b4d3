//! Report of the benchmark: the results as Markdown, between two markers in `docs/benchmarks.md`. The text outside of
//! the markers is written by hand and preserved.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use crate::beside_writes::BesideWrites;
use crate::error::{BenchError, Result};
use crate::imports::Imports;
use crate::machine::Machine;
use crate::row::Row;
use crate::starts::Starts;
use crate::storm::Storm;
use crate::user_lists;

mod judged;

use judged::{beside_writes_table, imports_table, judged, starts_table, storm_table};

/// Markers around the generated part of the file.
const BEGIN: &str = "<!-- measured: written by `cargo xtask bench` -->";
const END: &str = "<!-- end of what was measured -->";

/// Results with one storage engine.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Name of the engine.
    pub(crate) engine: &'static str,
    /// Results per kind of request for each database, the largest database last.
    pub(crate) growth: Vec<Growth>,
    /// Sign-ins and reads under overload, with the largest database.
    pub(crate) storm: Option<Storm>,
    /// Search under write load, with the largest database.
    pub(crate) beside_writes: Option<BesideWrites>,
    /// Start-up times, idle memory and binary size.
    pub(crate) starts: Option<Starts>,
    /// Imports by the command line.
    pub(crate) imports: Option<Imports>,
    /// Number of sessions in use, and the memory that the service then uses, in MB.
    pub(crate) memory_with_sessions: Option<(usize, f64)>,
    /// Duration of the run.
    pub(crate) took: Duration,
}

/// Results with a database of one size.
#[derive(Debug)]
pub(crate) struct Growth {
    /// Number of people.
    pub(crate) people: u64,
    /// One row per kind of request.
    pub(crate) rows: Vec<Row>,
    /// One row per class of searched words.
    pub(crate) searches: Vec<Row>,
    /// One row per class of lists of users.
    pub(crate) users: Vec<Row>,
}

/// Writes the results into the file, which is created if it is missing.
pub(crate) fn write(file: &Path, machine: &Machine, all: &[Findings]) -> Result<()> {
    let before =
        std::fs::read_to_string(file).unwrap_or_else(|_| format!("# Benchmarks\n\n{BEGIN}\n{END}\n"));
    let marks = before.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
    let (head, tail) = marks.ok_or_else(|| BenchError::other("the report has lost its marks"))?;
    let measured: String = all.iter().map(markdown).collect();
    std::fs::write(file, format!("{head}{BEGIN}\n\n{}\n\n{measured}{END}{tail}", machine.line()))?;
    Ok(())
}

/// Results with one engine as Markdown.
pub(crate) fn markdown(findings: &Findings) -> String {
    let mut text = String::new();
    let Some(largest) = findings.growth.last() else { return text };
    let engine = findings.engine;
    let seconds = findings.took.as_secs();
    let _ = writeln!(text, "## {engine}, {} people\n", thousands(largest.people));
    text.push_str(&requests(&largest.rows));
    if let Some(storm) = &findings.storm {
        text.push_str(&storm_table(storm));
    }
    if let Some(starts) = &findings.starts {
        text.push_str(&starts_table(starts, findings));
    }
    if let Some(imports) = &findings.imports {
        text.push_str(&imports_table(imports, findings));
    }
    if findings.growth.iter().any(|growth| !growth.searches.is_empty()) {
        text.push_str(&search_table(&findings.growth));
        text.push_str(&users_table(&findings.growth));
    }
    if let Some(beside) = &findings.beside_writes {
        text.push_str(&beside_writes_table(beside));
    }
    if findings.growth.len() > 1 {
        text.push_str(&growth_table(&findings.growth));
    }
    let _ = writeln!(text, "Measured in {} min {} s.\n", seconds / 60, seconds % 60);
    text
}

fn requests(rows: &[Row]) -> String {
    let mut text =
        "| Request | per second | p50 ms | p99 ms | processor µs | limit's processor µs | peak MB | of the limit | by processor | goal | met |\n\
        |---|---:|---:|---:|---:|---:|---:|---:|---:|---|---|\n"
            .to_owned();
    for row in rows {
        let given = |value: Option<f64>, digits: usize| {
            value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"))
        };
        let _ = writeln!(
            text,
            "| {} | {} | {:.2} | {:.2} | {:.0} | {} | {:.0} | {} | {} | {} |",
            row.name,
            thousands_of(row.per_second()),
            row.p50(),
            row.p99(),
            row.processor(),
            given(row.processor_of_limit(), 0),
            row.peak(),
            given(row.ratio(), 3),
            given(row.ratio_by_processor(), 2),
            judged(&row.goals()),
        );
    }
    text.push('\n');
    text
}

fn search_table(growth: &[Growth]) -> String {
    let title = "Search, p50 / p99 ms (goal: p99 ≤ 5 ms)";
    compared(title, growth, |growth| &growth.searches, |row| latency(row, 5.0))
}

fn users_table(growth: &[Growth]) -> String {
    let title = format!("List of users, p50 / p99 ms (goal: p99 ≤ {} ms)", user_lists::GOAL);
    compared(&title, growth, |growth| &growth.users, |row| latency(row, user_lists::GOAL))
}

fn latency(row: &Row, goal: f64) -> String {
    format!("{:.2} / {:.2}{}", row.p50(), row.p99(), if row.p99() <= goal { "" } else { " ✗" })
}

fn growth_table(growth: &[Growth]) -> String {
    compared(
        "Growth: processor µs per request",
        growth,
        |growth| &growth.rows,
        |row| format!("{:.0}", row.processor()),
    )
}

/// Table with a row per kind of request of the largest database, and a column per database size.
fn compared(
    title: &str,
    growth: &[Growth],
    rows: impl Fn(&Growth) -> &Vec<Row>,
    cell: impl Fn(&Row) -> String,
) -> String {
    let mut text = format!("| {title} |");
    for one in growth {
        let _ = write!(text, " {} people |", thousands(one.people));
    }
    text.push_str("\n|---|");
    text.push_str(&"---:|".repeat(growth.len()));
    text.push('\n');
    for row in growth.last().map(&rows).into_iter().flatten() {
        let _ = write!(text, "| {} |", row.name);
        for one in growth {
            let same = rows(one).iter().find(|other| other.name == row.name);
            let _ = write!(text, " {} |", same.map_or_else(|| "–".to_owned(), &cell));
        }
        text.push('\n');
    }
    text.push('\n');
    text
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate")]
fn thousands_of(rate: f64) -> String {
    thousands(rate.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_told_apart() {
        assert_eq!(
            (thousands(7), thousands(1_000), thousands(1_234_567)),
            ("7".into(), "1,000".into(), "1,234,567".into())
        );
    }

    #[test]
    fn what_people_wrote_around_the_marks_is_kept() {
        let file = std::env::temp_dir().join(format!("latchkey-report-{}.md", std::process::id()));
        std::fs::write(&file, format!("# Title\n{BEGIN}\nold\n{END}\n## Notes\n")).unwrap();
        write(&file, &Machine::begin(), &[]).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert!(text.starts_with("# Title\n") && text.ends_with("\n## Notes\n") && !text.contains("old"));
    }
}
