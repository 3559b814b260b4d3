//! Tables of the report whose rows are single values, each with its goal and whether the goal is met.

use std::fmt::Write;

use super::{Findings, thousands, thousands_of};
use crate::beside_writes::BesideWrites;
use crate::imports::{Imports, Run};
use crate::row::Medians;
use crate::starts::Starts;
use crate::storm::Storm;

pub(super) fn storm_table(storm: &Storm) -> String {
    let kept = storm.beside / storm.alone;
    let flood = storm.flood / storm.alone;
    let lines = [
        ("sign-ins alone, 64 connections".to_owned(), format!("{:.0}/s", storm.alone), Vec::new()),
        (
            "sign-ins beside 2,000 session reads/s".to_owned(),
            format!("{:.0}/s, {:.0} % of alone", storm.beside, kept * 100.0),
            vec![("≥ 85 %".to_owned(), kept >= 0.85)],
        ),
        (
            "session reads with no storm, from when they were due".to_owned(),
            medians(&storm.reads_alone),
            Vec::new(),
        ),
        (
            "session reads beside the storm, from when they were due".to_owned(),
            medians(&storm.reads_beside),
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

pub(super) fn imports_table(imports: &Imports, findings: &Findings) -> String {
    let at_least = |run: &Run, least: f64| {
        vec![
            (format!("≥ {}/s", thousands_of(least)), run.per_second >= least),
            ("≤ 150 MB".to_owned(), run.peak <= 150.0),
        ]
    };
    let seen = |run: &Run| {
        format!(
            "{}/s, {:.0} µs of processor each, at most {:.0} MB",
            thousands_of(run.per_second),
            run.processor,
            run.peak
        )
    };
    let (alone, beside) = (&imports.reads_alone, &imports.reads_beside);
    let least = if findings.engine == "SQLite" { 25_000.0 } else { 10_000.0 };
    let records = thousands(imports.records);
    let lines = [
        (
            format!("dry run of {records} records"),
            seen(&imports.dry_run),
            at_least(&imports.dry_run, 80_000.0),
        ),
        (
            format!("import of {records} records in the order of their addresses"),
            seen(&imports.import_sorted),
            at_least(&imports.import_sorted, least),
        ),
        (
            format!("import of {records} records at random"),
            seen(&imports.import),
            at_least(&imports.import, least),
        ),
        (
            format!("import of {} records at random, with random UUIDs", thousands(imports.with_ids)),
            seen(&imports.import_with_ids),
            vec![("≤ 150 MB".to_owned(), imports.import_with_ids.peak <= 150.0)],
        ),
        (
            "GET /api/profiles/me, nothing imported, from when they were due".to_owned(),
            medians(alone),
            Vec::new(),
        ),
        (
            "GET /api/profiles/me beside an import, from when they were due".to_owned(),
            medians(beside),
            vec![("p99 ≤ 2 × alone".to_owned(), beside.p99 <= 2.0 * alone.p99)],
        ),
    ];
    lined("Import by the command line", &lines)
}

pub(super) fn starts_table(starts: &Starts, findings: &Findings) -> String {
    // PostgreSQL is a separate process whose response times the service cannot guarantee, so only SQLite has these
    // goals.
    let is_embedded = findings.engine == "SQLite";
    let at_most = |value: f64, most: f64, unit: &str| {
        let goal = (format!("≤ {most} {unit}"), value <= most);
        if is_embedded { vec![goal] } else { Vec::new() }
    };
    let mut lines = vec![
        (
            "start to first answer, empty folder".to_owned(),
            format!("{:.1} ms", starts.empty),
            at_most(starts.empty, 15.0, "ms"),
        ),
        (
            "start to first answer, again without people".to_owned(),
            format!("{:.1} ms", starts.again),
            Vec::new(),
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
            "memory after the first sign-ups".to_owned(),
            format!("{:.1} MB", starts.after_sign_ups),
            Vec::new(),
        ),
        (
            "memory a minute after them".to_owned(),
            format!("{:.1} MB", starts.idle_again),
            at_most(starts.idle_again, 25.0, "MB"),
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

pub(super) fn beside_writes_table(seen: &BesideWrites) -> String {
    let found = &seen.found;
    let lines = [
        ("common words, one client, nothing written".to_owned(), medians(&seen.alone), Vec::new()),
        (
            "common words, one client, beside 500 bios/s".to_owned(),
            format!("{}; {:.0} bios/s", medians(&seen.beside), seen.writes),
            Vec::new(),
        ),
        (
            "a new word, from its write's answer to that of the first search for it".to_owned(),
            format!("p50 {:.2} ms, p99 {:.2} ms", found.ms(0.5), found.ms(0.99)),
            Vec::new(),
        ),
        (
            "new words that the first search found".to_owned(),
            format!(
                "{} of {}, {:.0} %",
                thousands(found.at_once),
                thousands(found.searched),
                found.percent()
            ),
            vec![("100 %".to_owned(), found.at_once == found.searched)],
        ),
    ];
    lined("Search beside writes", &lines)
}

fn medians(seen: &Medians) -> String {
    format!("{:.0}/s, p50 {:.2} ms, p99 {:.2} ms", seen.per_second, seen.p50, seen.p99)
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

/// Two table cells: the goals, and whether each is met.
pub(super) fn judged(goals: &[(String, bool)]) -> String {
    if goals.is_empty() {
        return "– | ".to_owned();
    }
    let names: Vec<&str> = goals.iter().map(|(name, _)| name.as_str()).collect();
    let verdicts: Vec<&str> = goals.iter().map(|(_, met)| if *met { "yes" } else { "**no**" }).collect();
    format!("{} | {}", names.join(", "), verdicts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(people: u64, idle_full: f64) -> String {
        let starts = Starts {
            empty: 9.0,
            again: 9.0,
            full: 9.0,
            people,
            idle: 20.0,
            after_sign_ups: 60.0,
            idle_again: 22.0,
            idle_full,
            binary: 20.1,
        };
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
        let reads = |p99| Medians { per_second: 2_000.0, p50: 0.2, p99 };
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
}
