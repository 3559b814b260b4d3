//! Benchmark of a query string of 8 KB, which is parsed before any rate limit: refused for its many parameters, and
//! accepted with 64 long ones.
#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use latchkey_http::query::Query;

fn queries(criterion: &mut Criterion) {
    let many = (0..1600).map(|number| format!("{number:x}=")).collect::<Vec<_>>().join("&");
    let value = "%61".repeat(40);
    let most = (0..64).map(|number| format!("{number}={value}")).collect::<Vec<_>>().join("&");
    for (name, text) in [("query, 1600 parameters", many), ("query, 64 parameters of 120 bytes", most)] {
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| Query::parse(black_box(&text)).and_then(|query| query.all()).is_ok());
        });
    }
}

criterion_group!(benches, queries);
criterion_main!(benches);
