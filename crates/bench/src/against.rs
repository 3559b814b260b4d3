//! Comparison of two binaries. In interleaved rounds every kind of request is measured on the newer binary,
//! the older one, and the older one again. The measure is the server's processor time per response.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use latchkey_store_suite::cluster::TestCluster;

use crate::compared::{Compared, Round, SERVERS, table};
use crate::error::{BenchError, Result};
use crate::load::{Load, Script, count, drive};
use crate::machine::Machine;
use crate::response::Response;
use crate::rows::{self, Asked, Pace};
use crate::searches;
use crate::world::{Places, World, cluster};

/// Number of access tokens per server.
const BEARERS: usize = 5_000;
/// Names of the measured requests ("rows") that a quick comparison includes.
const MAIN: &[&str] = &[
    "GET /api/profiles/me",
    "GET /api/auth/sessions/current",
    "GET /api/profiles/{userId}",
    "refresh, token in the body",
    "PATCH /api/profiles/me, 64 accounts",
    "sign-in",
    "search, common word",
];

/// Command-line options of the comparison.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Older binary.
    #[arg(long)]
    against: PathBuf,
    /// Newer binary.
    #[arg(long, default_value = "target/dist/latchkey")]
    latchkey: PathBuf,
    /// Seeded file for the older binary if it has an older schema. `latchkey-bench seed` of its own checkout makes it,
    /// with the same number of people.
    #[arg(long)]
    against_seed: Option<PathBuf>,
    /// Folder of seeded databases.
    #[arg(long, default_value = "target/bench")]
    folder: PathBuf,
    /// Number of people in the databases.
    #[arg(long, default_value_t = 10_000)]
    people: u64,
    /// Main rows only, in fewer and shorter rounds.
    #[arg(long)]
    quick: bool,
    /// Measure only rows with this text in their name; repeatable.
    #[arg(long)]
    only: Vec<String>,
    /// Compare on PostgreSQL as well.
    #[arg(long)]
    postgres: bool,
}

/// Runs the comparison on every requested engine, and prints the results.
pub(crate) fn run(options: &Options) -> Result<()> {
    let machine = Machine::begin();
    std::fs::create_dir_all(&options.folder)?;
    let mut tables = one_engine(options, None)?;
    if options.postgres {
        tables.push_str(&one_engine(options, Some(&Arc::new(cluster()?)))?);
    }
    println!("{}\n{}\n{tables}", machine.line(), binaries(options)?);
    Ok(())
}

/// Text with the paths and sizes of both binaries.
fn binaries(options: &Options) -> Result<String> {
    let told = |file: &Path| -> Result<String> {
        let size = std::fs::metadata(file)?.len();
        Ok(format!("{} ({:.1} MB)", file.display(), count(size) / 1e6))
    };
    let (newer, older) = (told(&options.latchkey)?, told(&options.against)?);
    Ok(format!("{newer} against {older}. The spread is that of the second one against itself.\n"))
}

fn one_engine(options: &Options, cluster: Option<&Arc<TestCluster>>) -> Result<String> {
    let places = places(options, cluster)?;
    let engine = places[0].engine();
    eprintln!("{engine}, {} people", options.people);
    let mut contestants = Vec::new();
    for one in &places {
        contestants.push(Contestant::new(one.world(options.people, BEARERS)?, options)?);
    }
    let mut compared = Vec::new();
    for at in 0..contestants[0].asked.len() {
        compared.push(one_row(&mut contestants, at, options.pace())?);
    }
    Ok(format!("\n## {engine}, {} people\n\n{}", options.people, table(&compared)))
}

/// Describes the three servers to start (binary, folder, database): the newer binary, the older one, and the
/// older one again.
fn places(options: &Options, cluster: Option<&Arc<TestCluster>>) -> Result<[Places; SERVERS]> {
    let folder = std::fs::canonicalize(&options.folder)?;
    let place = |latchkey: &Path, run, seed: Option<&Path>| -> Result<Places> {
        Ok(Places {
            latchkey: found(latchkey)?,
            folder: folder.clone(),
            run,
            seed: seed.map(found).transpose()?,
            cluster: cluster.map(Arc::clone),
        })
    };
    let seed = options.against_seed.as_deref();
    Ok([
        place(&options.latchkey, "run-newer", None)?,
        place(&options.against, "run-older", seed)?,
        place(&options.against, "run-again", seed)?,
    ])
}

/// Absolute path of an existing file.
fn found(file: &Path) -> Result<PathBuf> {
    let named = |error| BenchError::Server(format!("{} cannot be read: {error}", file.display()));
    std::fs::canonicalize(file).map_err(named)
}

/// Measures one round of one kind of request on all three servers. The order of the servers rotates, so that a pause
/// of the machine does not always affect the same one.
fn one_row(contestants: &mut [Contestant], at: usize, pace: Pace) -> Result<Compared> {
    let mut compared = Compared::new(contestants[0].asked[at].name());
    for round in 0..pace.rounds {
        let mut seen = [Round { per_second: f64::NAN, processor: f64::NAN }; SERVERS];
        for turn in 0..SERVERS {
            let number = (round + turn) % SERVERS;
            seen[number] = contestants[number].drive(at, pace)?;
        }
        let [newer, older, again] = seen.map(|one| one.processor);
        eprintln!(
            "  {}, round {}: {newer:.1} µs, before {older:.1} and {again:.1}",
            contestants[0].asked[at].name(),
            round + 1
        );
        compared.add(seen);
    }
    Ok(compared)
}

/// Server under comparison, with the requests that are measured on it.
struct Contestant {
    world: World,
    asked: Vec<Asked>,
}

impl Contestant {
    /// Waits until the server is idle, and selects the kinds of requests to measure.
    fn new(world: World, options: &Options) -> Result<Self> {
        searches::wait_until_warm(&world.service)?;
        let search = |(name, script)| Asked::new(name, &[], 1, Box::new(script));
        let mut asked = rows::rows(&world);
        asked.extend(searches::scripts(world.people.count).map(search));
        asked.retain(|one| options.wants(one.name()));
        if asked.is_empty() {
            return Err(BenchError::Server(format!("no row has a name with {}", options.only.join(" or "))));
        }
        Ok(Self { world, asked })
    }

    /// Measures one kind of request once, after a short warm-up.
    fn drive(&mut self, at: usize, pace: Pace) -> Result<Round> {
        let service = &self.world.service;
        let asked = &mut self.asked[at];
        let name = asked.name().to_owned();
        let pace = asked.pace(pace);
        let load = Load { warm_up: Duration::ZERO, ..rows::load(service, asked.connections, pace) };
        let mut script = Counting { script: &mut *asked.script, answers: 0, refused: None };
        drive(&Load { length: pace.length / 5, ..load }, &mut script)?;
        script.answers = 0;
        let before = service.processor_time()?;
        let seen = drive(&load, &mut script)?;
        let used = service.processor_time()? - before;
        match (script.refused, script.answers) {
            (Some(status), _) => Err(BenchError::Server(format!("{name}: refused with status {status}"))),
            (None, 0) => Err(BenchError::Server(format!("{name}: not one answer in {:?}", load.length))),
            (None, answers) => {
                Ok(Round { per_second: seen.per_second(), processor: used * 1e6 / count(answers) })
            }
        }
    }
}

/// Request script that counts all responses, even those after the measured time, because they cost processor time too.
struct Counting<'a> {
    script: &'a mut dyn Script,
    answers: u64,
    refused: Option<u16>,
}

impl Script for Counting<'_> {
    fn next_request(&mut self, connection: usize, out: &mut Vec<u8>) {
        self.script.next_request(connection, out);
    }

    fn on_response(&mut self, connection: usize, response: &Response<'_>) {
        self.answers += 1;
        if response.status >= 400 {
            self.refused = Some(response.status);
        }
        self.script.on_response(connection, response);
    }

    fn is_done(&self) -> bool {
        self.script.is_done()
    }
}

impl Options {
    fn pace(&self) -> Pace {
        if self.quick {
            return Pace { rounds: 5, length: Duration::from_millis(700) };
        }
        Pace { rounds: 9, length: Duration::from_millis(1_200) }
    }

    /// True if the kind of request with this name is selected by the options, or by default.
    fn wants(&self, name: &str) -> bool {
        if self.only.is_empty() {
            return !self.quick || MAIN.contains(&name);
        }
        self.only.iter().any(|text| name.contains(text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripts::{Get, Pick};

    fn options(quick: bool, only: &[&str]) -> Options {
        Options {
            against: PathBuf::new(),
            latchkey: PathBuf::new(),
            against_seed: None,
            folder: PathBuf::new(),
            people: 1,
            quick,
            only: only.iter().map(|&text| text.to_owned()).collect(),
            postgres: false,
        }
    }

    #[test]
    fn a_quick_run_has_the_main_rows_and_a_name_chooses_others() {
        let quick = options(true, &[]);
        assert!(quick.wants("sign-in") && !quick.wants("sign-up"));
        assert!(options(false, &[]).wants("sign-up"));
        let named = options(true, &["sign-up", "refresh"]);
        assert!(named.wants("sign-up") && named.wants("refresh, token in the cookie"));
        assert!(!named.wants("sign-in"));
    }

    #[test]
    fn every_answer_counts_and_a_refusal_is_kept() {
        let mut get = Get::paths(std::iter::once("/".to_owned()), Pick::InTurn);
        let mut heard = Counting { script: &mut get, answers: 0, refused: None };
        for status in [200, 503, 200] {
            heard.on_response(0, &Response { status, head: b"", body: b"", closes: false });
        }
        assert_eq!((heard.answers, heard.refused), (3, Some(503)));
    }
}
