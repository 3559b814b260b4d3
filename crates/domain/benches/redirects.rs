//! Cost of checking a redirect target against ten entries: the last one matches, none matches, invalid URL.
#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use latchkey_domain::redirect::{DevelopmentLoopback, RedirectPolicy};

fn redirects(criterion: &mut Criterion) {
    let entries: Vec<String> =
        (0..10).map(|number| format!("https://app{number}.example.org/auth/done")).collect();
    let policy = RedirectPolicy::parse(&entries, DevelopmentLoopback::Refused).unwrap();
    for (name, target) in [
        ("redirect, listed", "https://app9.example.org/auth/done"),
        ("redirect, not listed", "https://evil.example.net/auth/done?next=https://app9.example.org"),
        ("redirect, no URL", "javascript:alert(1)"),
    ] {
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| policy.check(black_box(target)).is_ok());
        });
    }
}

criterion_group!(benches, redirects);
criterion_main!(benches);
