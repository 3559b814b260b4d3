//! Benchmark whose results are quoted in the documentation, run by hand: `cargo bench -p latchkey-search
//! --bench figures -- 1000000`. Measures time and memory of bulk loading, and the latency of each class of
//! queries before and after changes.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    missing_docs,
    unreachable_pub,
    reason = "a benchmark: it reads the real time and prints rounded figures"
)]

mod hostile;
mod town;

use std::time::{Duration, Instant};

use latchkey_domain::page::Page;
use latchkey_domain::search::SearchQuery;
use latchkey_search::{Change, Index, MemoryUse};

use hostile::hostile;
use town::{Numbers, classes, entry, loaded};

const SAMPLES: usize = 400;

fn main() {
    // Options of other benches may be among the arguments.
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
    print_memory(&index.memory_use(), profiles);
    table(&index, classes());
    table(&index, hostile(&index, profiles));

    let mut numbers = Numbers(1);
    let begun = Instant::now();
    let mut worst = Duration::ZERO;
    for _ in 0..20_000 {
        let mut changed = entry(numbers.below(profiles));
        changed.text.bio.push_str(" changed");
        let one = Instant::now();
        index.apply([Change::Upsert(changed)]);
        worst = worst.max(one.elapsed());
        if numbers.below(64) == 0 {
            index.merge_step();
        }
    }
    println!(
        "20000 changes one by one: {:.1} µs each with merging, at most {:.1} ms; {:.0} MB",
        begun.elapsed().as_secs_f64() * 50.0,
        worst.as_secs_f64() * 1_000.0,
        megabytes("VmRSS")
    );
    print_memory(&index.memory_use(), profiles);
    table(&index, classes());
    table(&index, hostile(&index, profiles));
}

/// Prints memory use by purpose.
fn print_memory(taken: &MemoryUse, profiles: u64) {
    println!("| segment | MB | bytes of a profile |");
    println!("|---|---|---|");
    for (segment, bytes) in [
        ("keys", taken.keys),
        ("vocabulary", taken.word_terms),
        ("postings", taken.word_postings),
        ("trigrams", taken.trigrams),
        ("common substrings, precomputed", taken.substrings),
        ("names and usernames", taken.exact_keys),
        ("common prefixes, precomputed", taken.prefixes),
        ("all", taken.total()),
    ] {
        println!(
            "| {segment} | {:.1} | {} |",
            bytes as f64 / f64::from(1 << 20),
            bytes as u64 / profiles.max(1)
        );
    }
}

fn table(index: &Index, classes: Vec<(&'static str, Vec<String>, u64)>) {
    println!("| size_class | hits | p50 ms | p99 ms | p99 ms of processor time | most |");
    println!("|---|---|---|---|---|---|");
    for (size_class, queries, offset) in classes {
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
            "| {size_class} | {} | {:.3} | {:.3} | {:.3} | {:.3} |",
            hits[SAMPLES / 2],
            at(&waited, 0.5),
            at(&waited, 0.99),
            at(&worked, 0.99),
            at(&worked, 1.0)
        );
    }
}

/// CPU time of this thread, which load on the machine does not distort.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Reads a line of `/proc/self/status`, in megabytes.
fn megabytes(line: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = status.lines().find_map(|one| {
        one.strip_prefix(line)?.trim_start_matches(':').trim().split(' ').next()?.parse().ok()
    });
    kilobytes.unwrap_or(0.0) / 1_024.0
}
