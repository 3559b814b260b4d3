//! Cost of a search at 10⁵ profiles by class of query, and cost of a change.
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

mod town;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use latchkey_domain::page::Page;
use latchkey_domain::search::SearchQuery;
use latchkey_search::Change;

use town::{Numbers, classes, entry, loaded};

const PROFILES: u64 = 100_000;

fn search(criterion: &mut Criterion) {
    let index = loaded(PROFILES).finish();
    for (size_class, queries, offset) in classes() {
        let queries: Vec<_> = queries.iter().map(|query| SearchQuery::parse(query).unwrap()).collect();
        let mut turn = queries.iter().cycle();
        criterion.bench_function(size_class, |bencher| {
            bencher.iter(|| black_box(index.search(turn.next().unwrap(), Page::new(20, offset))));
        });
    }

    let mut numbers = Numbers(1);
    criterion.bench_function("change", |bencher| {
        bencher.iter(|| {
            index.apply([Change::Upsert(entry(numbers.below(PROFILES)))]);
            index.merge_step()
        });
    });
}

criterion_group!(benches, search);
criterion_main!(benches);
