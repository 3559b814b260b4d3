//! Latency of searches by class of words, most of them with one client. Each response contains the exact total.

use std::time::Duration;

use crate::error::Result;
use crate::load::drive;
use crate::process::Server;
use crate::row::{Goal, Row};
use crate::rows::{Pace, watched};
use crate::scripts::{Get, Pick};
use crate::time::pause;
use crate::words::{VOCABULARY, Words};
use crate::world::World;

/// Number of queries per class, used in turn.
const QUERIES: usize = 50;

/// Measures the searches of every class.
pub(crate) fn measure(world: &World, pace: Pace) -> Result<Vec<Row>> {
    wait_until_warm(&world.service)?;
    let of_one_client =
        scripts(world.people.count).map(|(name, script)| (Row::new(name, &[Goal::P99(5.0)]), script, 1));
    let many = (Row::new("search, common word, 16 clients", &[]), common_words(), 16);
    let mut classes: Vec<(Row, Get, usize)> = of_one_client.chain([many]).collect();
    for _ in 0..pace.rounds {
        for (row, script, clients) in &mut classes {
            let load = crate::rows::load(&world.service, *clients, pace);
            let (seen, processor, peak) = watched(&world.service, &load, script)?;
            row.add(&seen, None, processor, peak);
        }
    }
    Ok(classes.into_iter().map(|(row, ..)| row).collect())
}

/// Request script of searches for common words.
pub(crate) fn common_words() -> Get {
    let common = of_ranks(&Words::new(), 0, QUERIES);
    Get::paths(paths(&common, 0).into_iter(), Pick::InTurn)
}

/// For each class of search words (by their frequency in profiles and their length): its name, and the requests that
/// the benchmark sends for it.
pub(crate) fn scripts(people: u64) -> impl Iterator<Item = (&'static str, Get)> {
    classes(people).into_iter().map(|(name, paths)| (name, Get::paths(paths.into_iter(), Pick::InTurn)))
}

fn classes(people: u64) -> Vec<(&'static str, Vec<String>)> {
    let words = Words::new();
    let rare = of_ranks(&words, VOCABULARY / 2, VOCABULARY);
    let medium = of_ranks(&words, 500, 2_500);
    let common = of_ranks(&words, 0, QUERIES);
    let short: Vec<String> = common.iter().map(|word| word.chars().take(2).collect()).collect();
    let two: Vec<String> =
        common.iter().zip(&medium).map(|(one, other)| format!("{one}%20{other}")).collect();
    let four: Vec<String> =
        common.windows(3).zip(&medium).map(|(three, one)| format!("{}%20{one}", three.join("%20"))).collect();
    let inside = |length: usize| -> Vec<String> {
        medium.iter().filter(|word| word.len() > length).map(|word| word[1..=length].to_owned()).collect()
    };
    vec![
        ("search, rare word", paths(&rare, 0)),
        ("search, medium word", paths(&medium, 0)),
        ("search, common word", paths(&common, 0)),
        ("search, one or two letters", paths(&short, 0)),
        ("search, three letters inside a word", paths(&inside(3), 0)),
        ("search, four letters inside a word", paths(&inside(4), 0)),
        ("search, two words", paths(&two, 0)),
        ("search, four words", paths(&four, 0)),
        ("search, common word, deep offset", paths(&common, people / 100)),
    ]
}

/// Words between two ranks of frequency, evenly spaced.
fn of_ranks(words: &Words, from: usize, to: usize) -> Vec<String> {
    (0..QUERIES).map(|n| words.of_rank(from + n * (to - from) / QUERIES).to_owned()).collect()
}

fn paths(queries: &[String], offset: u64) -> Vec<String> {
    let path = |q: &String| format!("/api/profiles/search?q={q}&limit=20&offset={offset}");
    queries.iter().map(path).collect()
}

/// Waits until the service has loaded its data after the start and is idle.
pub(crate) fn wait_until_warm(service: &Server) -> Result<()> {
    let mut used = service.processor_time()?;
    for _ in 0..120 {
        pause(Duration::from_millis(500));
        let now = service.processor_time()?;
        if now - used < 0.03 {
            return Ok(());
        }
        used = now;
    }
    // After a minute the service is measured even if it is still busy.
    let mut script = Get::paths(std::iter::once("/health/ready".to_owned()), Pick::InTurn);
    let pace = Pace { rounds: 1, length: Duration::from_millis(100) };
    drive(&crate::rows::load(service, 1, pace), &mut script).map(|_| ())
}
