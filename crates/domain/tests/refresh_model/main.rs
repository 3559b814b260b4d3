//! Seeded simulations of refresh token rotation between an owner, a lossy network and a thief. The invariants are in
//! [`promises`], the network models in [`life::Network`].
//!
//! `cargo xtask model refresh` runs a million simulations; `--seed N` prints one event by event.
#![allow(clippy::unwrap_used, missing_docs)]

mod figures;
mod life;
mod promises;
mod rules;
mod session;
mod thief;

use figures::Figures;
use life::{Life, Network};
use rules::{MISSED_ANSWER_IS_THEFT, RULE, WRONG};

/// Default number of runs.
const LIVES: u64 = 10_000;

#[test]
fn every_promise_is_kept_in_every_life() {
    if let Some(seed) = wanted("LATCHKEY_MODEL_SEED") {
        let toll = Life::live(RULE, seed, Network::Fair, true);
        return println!("seed {seed}: {:?}", toll.unwrap());
    }
    let lives = wanted("LATCHKEY_MODEL_RUNS").unwrap_or(LIVES);
    let mut figures = Figures::default();
    for seed in 0..lives {
        match Life::live(RULE, seed, Network::Fair, false) {
            Ok(toll) => figures.take(toll),
            Err(promise) => panic!("{promise:?} is broken, first by seed {seed} of {lives}"),
        }
    }
    println!("{lives} lives, every promise kept\n{figures}");
}

#[test]
fn every_wrong_rule_breaks_its_promise() {
    for (name, rule, promise) in WRONG {
        let broken =
            (0..LIVES).find_map(|seed| Some((seed, Life::live(rule, seed, Network::Fair, false).err()?)));

        let (seed, broken) = broken.unwrap_or_else(|| panic!("{name}: not refuted"));
        println!("{name}: {broken:?} is broken, first by seed {seed}");
        assert_eq!(broken, promise, "{name}, seed {seed}");
    }
}

/// With reordered responses and arbitrarily late requests, no rule keeps every owner signed in. Most sign-outs come
/// from lost responses.
#[test]
fn rough_network_signs_fewer_owners_out_than_before() {
    let lives = wanted("LATCHKEY_MODEL_RUNS").unwrap_or(LIVES / 10);
    let signed_out =
        |rule| (0..lives).filter(|seed| Life::live(rule, *seed, Network::Rough, false).is_err()).count();

    let (before, after) = (signed_out(MISSED_ANSWER_IS_THEFT), signed_out(RULE));

    println!("rough network, {lives} owners without a thief: {before} signed out before, {after} now");
    assert!(after < before);
}

fn wanted(name: &str) -> Option<u64> {
    #[expect(clippy::disallowed_methods, reason = "how long to test is no setting of the service")]
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap())
}
