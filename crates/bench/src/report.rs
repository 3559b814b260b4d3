//! The report: what was found as Markdown, put between the two marks of `docs/benchmarks.md`. What stands outside of
//! them is written by people and kept.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use crate::error::{BenchError, Result};
use crate::row::Row;
use crate::starts::Starts;
use crate::storm::{Reads, Storm};

/// The marks.
const BEGIN: &str = "<!-- measured: written by `cargo xtask bench` -->";
const END: &str = "<!-- end of what was measured -->";

/// Everything that was found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// The engine.
    pub(crate) engine: &'static str,
    /// The rows of each database, the largest last.
    pub(crate) growth: Vec<Growth>,
    /// The storm, over the largest.
    pub(crate) storm: Option<Storm>,
    /// Starts.
    pub(crate) starts: Option<Starts>,
    /// How many sessions were used, and MB that the service held then.
    pub(crate) memory_with_sessions: Option<(usize, f64)>,
    /// How long it took.
    pub(crate) took: Duration,
}

/// The rows of one database.
#[derive(Debug)]
pub(crate) struct Growth {
    /// Its people.
    pub(crate) people: u64,
    /// Requests of all kinds.
    pub(crate) rows: Vec<Row>,
    /// Search by class.
    pub(crate) searches: Vec<Row>,
}

/// Puts the findings into the file; makes it where there is none.
pub(crate) fn write(file: &Path, all: &[Findings]) -> Result<()> {
    let before =
        std::fs::read_to_string(file).unwrap_or_else(|_| format!("# Benchmarks\n\n{BEGIN}\n{END}\n"));
    let marks = before.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
    let (head, tail) = marks.ok_or_else(|| BenchError::other("the report has lost its marks"))?;
    let measured: String = all.iter().map(markdown).collect();
    std::fs::write(file, format!("{head}{BEGIN}\n\n{}{measured}{END}{tail}", machine()))?;
    Ok(())
}

/// What was found with one engine.
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
    if findings.growth.iter().any(|growth| !growth.searches.is_empty()) {
        text.push_str(&search_table(&findings.growth));
    }
    if findings.growth.len() > 1 {
        text.push_str(&growth_table(&findings.growth));
    }
    let _ = writeln!(text, "Measured in {} min {} s.\n", seconds / 60, seconds % 60);
    text
}

fn requests(rows: &[Row]) -> String {
    let mut text =
        "| Request | per second | p50 ms | p99 ms | processor µs | peak MB | of the limit | goal | met |\n\
        |---|---:|---:|---:|---:|---:|---:|---|---|\n"
            .to_owned();
    for row in rows {
        let ratio = row.ratio().map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.3}"));
        let _ = writeln!(
            text,
            "| {} | {} | {:.2} | {:.2} | {:.0} | {:.0} | {ratio} | {} |",
            row.name,
            thousands_of(row.per_second()),
            row.p50(),
            row.p99(),
            row.processor(),
            row.peak(),
            judged(&row.goals()),
        );
    }
    text.push('\n');
    text
}

fn storm_table(storm: &Storm) -> String {
    let kept = storm.beside / storm.alone;
    let flood = storm.flood / storm.alone;
    let reads =
        |seen: &Reads| format!("{:.0}/s, p50 {:.2} ms, p99 {:.2} ms", seen.per_second, seen.p50, seen.p99);
    let lines = [
        ("sign-ins alone, 64 connections".to_owned(), format!("{:.0}/s", storm.alone), Vec::new()),
        (
            "sign-ins beside 2,000 session reads/s".to_owned(),
            format!("{:.0}/s, {:.0} % of alone", storm.beside, kept * 100.0),
            vec![("≥ 85 %".to_owned(), kept >= 0.85)],
        ),
        (
            "session reads with no storm, from when they were due".to_owned(),
            reads(&storm.reads_alone),
            Vec::new(),
        ),
        (
            "session reads beside the storm, from when they were due".to_owned(),
            reads(&storm.reads_beside),
            vec![("p99 ≤ 5 ms".to_owned(), storm.reads_beside.p99 <= 5.0)],
        ),
        (
            "sign-ins in a flood of 256 connections".to_owned(),
            format!(
                "{:.0}/s, {:.0} % of alone; {:.0} answers 503/s",
                storm.flood,
                flood * 100.0,
                storm.refusals
            ),
            vec![("≥ 85 %".to_owned(), flood >= 0.85)],
        ),
        ("most memory of all that".to_owned(), format!("{:.0} MB", storm.peak), Vec::new()),
    ];
    lined("Storm of sign-ins", &lines)
}

fn starts_table(starts: &Starts, findings: &Findings) -> String {
    // How long another process takes to answer is not the service's to promise.
    let is_embedded = findings.engine == "SQLite";
    let at_most = |value: f64, most: f64, unit: &str| {
        let goal = (format!("≤ {most} {unit}"), value <= most);
        if is_embedded { vec![goal] } else { Vec::new() }
    };
    let mut lines = vec![
        (
            "start to first answer, empty".to_owned(),
            format!("{:.1} ms", starts.empty),
            at_most(starts.empty, 15.0, "ms"),
        ),
        (
            format!("start to first answer, {} people", thousands(starts.people)),
            format!("{:.1} ms", starts.full),
            at_most(starts.full, 25.0, "ms"),
        ),
        (
            "memory, idle and empty".to_owned(),
            format!("{:.1} MB", starts.idle),
            at_most(starts.idle, 20.0, "MB"),
        ),
        (
            format!("memory, idle with {} people", thousands(starts.people)),
            format!("{:.0} MB, {:.0} MB more than empty", starts.idle_full, starts.search()),
            starts.search_goal().map_or_else(Vec::new, |most| at_most(starts.search(), most, "MB more")),
        ),
    ];
    if let Some((count, held)) = findings.memory_with_sessions {
        lines.push((
            format!("memory after {} sessions were refreshed", thousands(count as u64)),
            format!("{held:.0} MB"),
            Vec::new(),
        ));
    }
    lines.push(("binary".to_owned(), format!("{:.1} MB", starts.binary), at_most(starts.binary, 20.0, "MB")));
    lined("Starts and sizes", &lines)
}

type Line = (String, String, Vec<(String, bool)>);

fn lined(title: &str, lines: &[Line]) -> String {
    let mut text = format!("| {title} | seen | goal | met |\n|---|---|---|---|\n");
    for (name, seen, goals) in lines {
        let _ = writeln!(text, "| {name} | {seen} | {} |", judged(goals));
    }
    text.push('\n');
    text
}

fn search_table(growth: &[Growth]) -> String {
    compared(
        "Search, p50 / p99 ms (goal: p99 ≤ 5 ms)",
        growth,
        |growth| &growth.searches,
        |row| format!("{:.2} / {:.2}{}", row.p50(), row.p99(), if row.p99() <= 5.0 { "" } else { " ✗" }),
    )
}

fn growth_table(growth: &[Growth]) -> String {
    compared(
        "Growth: processor µs per request",
        growth,
        |growth| &growth.rows,
        |row| format!("{:.0}", row.processor()),
    )
}

/// A row for each kind of request, a column for each database.
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
    for (at, row) in growth.first().map(&rows).into_iter().flatten().enumerate() {
        let _ = write!(text, "| {} |", row.name);
        for one in growth {
            let _ = write!(text, " {} |", rows(one).get(at).map(&cell).unwrap_or_default());
        }
        text.push('\n');
    }
    text.push('\n');
    text
}

fn judged(goals: &[(String, bool)]) -> String {
    if goals.is_empty() {
        return "– | ".to_owned();
    }
    let names: Vec<&str> = goals.iter().map(|(name, _)| name.as_str()).collect();
    let verdicts: Vec<&str> = goals.iter().map(|(_, met)| if *met { "yes" } else { "**no**" }).collect();
    format!("{} | {}", names.join(", "), verdicts.join(", "))
}

/// The machine, as far as it tells.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        info.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("an unknown processor");
    let model = model.trim_start_matches([' ', '\t', ':']);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default().to_owned();
    format!(
        "{cores} cores ({model}), shared by server, load driver and database; load average at the end {load}.\n\n"
    )
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

    fn starts(people: u64, idle_full: f64) -> String {
        let starts = Starts { empty: 9.0, full: 9.0, people, idle: 20.0, idle_full, binary: 20.1 };
        starts_table(&starts, &Findings { engine: "SQLite", ..Findings::default() })
    }

    #[test]
    fn what_the_search_holds_is_judged_at_a_million_people() {
        let of_search = |people, idle_full| {
            let table = starts(people, idle_full);
            table.lines().find(|line| line.contains("idle with")).map(ToOwned::to_owned).unwrap()
        };
        assert!(
            of_search(1_000_000, 420.0).ends_with("| 420 MB, 400 MB more than empty | ≤ 400 MB more | yes |")
        );
        assert!(of_search(1_000_000, 421.0).ends_with("| ≤ 400 MB more | **no** |"));
        assert!(of_search(100_000, 900.0).ends_with("| – |  |"));
    }

    #[test]
    fn only_the_reads_beside_the_storm_have_a_goal() {
        let reads = |p99| Reads { per_second: 2_000.0, p50: 0.2, p99 };
        let (reads_alone, reads_beside) = (reads(6.0), reads(5.5));
        let (alone, beside, flood, refusals, peak) = (100.0, 90.0, 90.0, 0.0, 50.0);
        let table = storm_table(&Storm { alone, beside, reads_alone, reads_beside, flood, refusals, peak });
        assert!(table.contains("due | 2000/s, p50 0.20 ms, p99 6.00 ms | – |  |"), "{table}");
        assert!(table.contains("due | 2000/s, p50 0.20 ms, p99 5.50 ms | p99 ≤ 5 ms | **no** |"), "{table}");
    }

    #[test]
    fn sizes_are_judged_in_megabytes() {
        let table = starts(10_000, 30.0);
        assert!(table.contains("| memory, idle and empty | 20.0 MB | ≤ 20 MB | yes |"), "{table}");
        assert!(table.contains("| binary | 20.1 MB | ≤ 20 MB | **no** |"), "{table}");
    }

    #[test]
    fn what_people_wrote_around_the_marks_is_kept() {
        let file = std::env::temp_dir().join(format!("latchkey-report-{}.md", std::process::id()));
        std::fs::write(&file, format!("# Title\n{BEGIN}\nold\n{END}\n## Notes\n")).unwrap();
        write(&file, &[]).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert!(text.starts_with("# Title\n") && text.ends_with("\n## Notes\n") && !text.contains("old"));
    }
}
