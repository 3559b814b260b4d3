//! Figures for the documents, by hand: `cargo bench -p latchkey-search --bench figures -- 1000000`. Time and memory of
//! loading so many profiles, latency by class of query, and the same while profiles change.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    missing_docs,
    unreachable_pub
)]

mod hostile;
mod town;

use std::time::{Duration, Instant};

use latchkey_domain::page::Page;
use latchkey_domain::search::SearchQuery;
use latchkey_search::{Change, Footprint, Index};

use hostile::hostile;
use town::{Numbers, classes, entry, loaded};

const SAMPLES: usize = 400;

fn main() {
    // Other benches take options with numbers, which may come along.
    let profiles = std::env::args().nth(1).and_then(|one| one.parse().ok()).unwrap_or(100_000);
    println!("{profiles} profiles; {:.0} MB before", megabytes("VmRSS"));
    let begun = Instant::now();
    let loader = loaded(profiles);
    let taken = begun.elapsed();
    println!("taken {:.1} s, {:.0} MB", taken.as_secs_f64(), megabytes("VmRSS"));
    let index = loader.finish();
    println!(
        "ready {:.1} s, {:.0} MB, at most {:.0} MB",
        begun.elapsed().as_secs_f64(),
        megabytes("VmRSS"),
        megabytes("VmHWM")
    );
    parts(&index.footprint(), profiles);
    table(&index, classes());
    table(&index, hostile(&index, profiles));

    let mut numbers = Numbers(1);
    let begun = Instant::now();
    let mut worst = Duration::ZERO;
    for _ in 0..20_000 {
        let mut changed = entry(numbers.below(profiles));
        changed.text.bio.push_str(" changed");
        let one = Instant::now();
        index.apply([Change::Show(changed)]);
        worst = worst.max(one.elapsed());
        if numbers.below(64) == 0 {
            index.tidy();
        }
    }
    println!(
        "20000 changes one by one: {:.1} µs each with tidying, at most {:.1} ms; {:.0} MB",
        begun.elapsed().as_secs_f64() * 50.0,
        worst.as_secs_f64() * 1_000.0,
        megabytes("VmRSS")
    );
    parts(&index.footprint(), profiles);
    table(&index, classes());
    table(&index, hostile(&index, profiles));
}

/// Memory by what it is taken for.
fn parts(taken: &Footprint, profiles: u64) {
    println!("| part | MB | bytes of a profile |");
    println!("|---|---|---|");
    for (part, bytes) in [
        ("keys", taken.keys),
        ("texts of words", taken.word_texts),
        ("ranks of words", taken.word_ranks),
        ("grams", taken.grams),
        ("common texts, prepared", taken.common),
        ("names and usernames", taken.heads),
        ("common beginnings, prepared", taken.beginnings),
        ("all", taken.total()),
    ] {
        println!(
            "| {part} | {:.1} | {} |",
            bytes as f64 / f64::from(1 << 20),
            bytes as u64 / profiles.max(1)
        );
    }
}

fn table(index: &Index, classes: Vec<(&'static str, Vec<String>, u64)>) {
    println!("| class | hits | p50 ms | p99 ms | p99 ms of processor time | most |");
    println!("|---|---|---|---|---|---|");
    for (class, queries, offset) in classes {
        let (mut waited, mut worked, mut hits) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..SAMPLES {
            let query = SearchQuery::parse(&queries[number % queries.len()]).unwrap();
            let (begun, at_work) = (Instant::now(), processor_time());
            let found = index.search(&query, Page::new(20, offset));
            worked.push(processor_time().saturating_sub(at_work).as_secs_f64() * 1_000.0);
            waited.push(begun.elapsed().as_secs_f64() * 1_000.0);
            hits.push(found.total);
        }
        waited.sort_by(f64::total_cmp);
        worked.sort_by(f64::total_cmp);
        hits.sort_unstable();
        let at = |times: &[f64], share: f64| times[((times.len() - 1) as f64 * share) as usize];
        println!(
            "| {class} | {} | {:.3} | {:.3} | {:.3} | {:.3} |",
            hits[SAMPLES / 2],
            at(&waited, 0.5),
            at(&waited, 0.99),
            at(&worked, 0.99),
            at(&worked, 1.0)
        );
    }
}

/// What this thread has worked so far: the machine may be busy with others.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// A line of the kernel's account of this process.
fn megabytes(line: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = status.lines().find_map(|one| {
        one.strip_prefix(line)?.trim_start_matches(':').trim().split(' ').next()?.parse().ok()
    });
    kilobytes.unwrap_or(0.0) / 1_024.0
}
