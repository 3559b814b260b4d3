//! Order of the whole benchmark: which databases, requests and measurements follow one another.
//!
//! The benchmark ends by itself, because all of its parts but one are limited in time. Every load ends at most five
//! seconds after its time, a start or stop of a server times out after half a minute, and the wait for an idle
//! service after one minute. Only the seeding of databases has no limit, so the benchmark as a whole has no
//! deadline; [`MOST`] is checked when an engine is done.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::error::{BenchError, Result};
use crate::machine::Machine;
use crate::report::{self, Findings, Growth};
use crate::rows::{self, Pace};
use crate::time::now;
use crate::world::{Places, cluster};
use crate::{beside_writes, imports, searches, starts, storm, user_lists};

/// Maximum acceptable duration of the benchmark.
const MOST: Duration = Duration::from_mins(40);

/// Command-line options of the benchmark.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Binary under test.
    #[arg(long, default_value = "target/dist/latchkey")]
    latchkey: PathBuf,
    /// Folder of seeded databases.
    #[arg(long, default_value = "target/bench")]
    folder: PathBuf,
    /// Reduced run, without the database of a million people.
    #[arg(long)]
    quick: bool,
    /// Report file; without it the table is only printed.
    #[arg(long)]
    report: Option<PathBuf>,
    /// Skip PostgreSQL.
    #[arg(long)]
    sqlite_only: bool,
    /// Skip SQLite.
    #[arg(long, conflicts_with_all = ["sqlite_only", "report"])]
    postgres_only: bool,
    /// Sizes of the databases in people. The tables of the report use the last one.
    #[arg(long, value_delimiter = ',')]
    people: Vec<u64>,
    /// Measure only requests with this text in their name, without storm, searches and starts.
    #[arg(long, conflicts_with = "report")]
    only: Option<String>,
}

/// Runs the whole benchmark and writes the report.
pub(crate) fn run(options: &Options) -> Result<()> {
    let (machine, start) = (Machine::begin(), now());
    std::fs::create_dir_all(&options.folder)?;
    let latchkey = std::fs::canonicalize(&options.latchkey)?;
    let folder = std::fs::canonicalize(&options.folder)?;
    let mut places = Places { latchkey, folder, run: "run", seed: None, cluster: None };
    let mut all = Vec::new();
    if !options.postgres_only {
        all.push(one_engine(&places, options, &options.embedded_sizes())?);
        tell(options, &machine, &all)?;
        in_time(start.elapsed())?;
    }
    if !options.sqlite_only {
        places.cluster = Some(Arc::new(cluster()?));
        all.push(one_engine(&places, options, &options.remote_sizes())?);
        tell(options, &machine, &all)?;
        in_time(start.elapsed())?;
    }
    Ok(())
}

/// Fails a run that took too long. Called after the results were reported.
fn in_time(took: Duration) -> Result<()> {
    if took <= MOST {
        return Ok(());
    }
    let minutes = |length: Duration| length.as_secs().div_ceil(60);
    Err(BenchError::Server(format!(
        "the benchmark took {} minutes so far and may take {}: it measures too much, or the machine is too busy",
        minutes(took),
        minutes(MOST)
    )))
}

/// Prints the results of the engine that was measured last, and writes the results of all engines into the
/// report.
fn tell(options: &Options, machine: &Machine, all: &[Findings]) -> Result<()> {
    println!("{}\n", machine.line());
    println!("{}", all.last().map(report::markdown).unwrap_or_default());
    if let Some(file) = &options.report {
        report::write(file, machine, all)?;
        println!("written: {}", file.display());
    }
    Ok(())
}

impl Options {
    fn embedded_sizes(&self) -> Vec<u64> {
        match (self.people.is_empty(), self.quick) {
            (false, _) => self.people.clone(),
            (true, true) => vec![10_000, 100_000],
            (true, false) => vec![10_000, 100_000, 1_000_000],
        }
    }

    fn remote_sizes(&self) -> Vec<u64> {
        if self.quick { vec![10_000] } else { vec![10_000, 100_000] }
    }

    fn pace(&self) -> Pace {
        let length = Duration::from_millis(if self.quick { 700 } else { 1_500 });
        Pace { rounds: 3, length }
    }

    /// True unless the rows are chosen by a text that does not occur in `import`.
    fn measures_imports(&self) -> bool {
        self.only.as_deref().is_none_or(|only| "import".contains(only))
    }

    /// Number of records to import.
    fn imported(&self) -> u64 {
        if self.quick { 100_000 } else { imports::RECORDS }
    }

    /// Number of access tokens to use with the largest database.
    fn bearers(&self) -> usize {
        if self.quick { 10_000 } else { usize::MAX }
    }
}

/// Measures one storage engine: every kind of request with every database size, then overload, search under
/// write load and starts with the largest database.
fn one_engine(places: &Places, options: &Options, sizes: &[u64]) -> Result<Findings> {
    let start = now();
    let pace = options.pace();
    let largest = sizes.last().copied().unwrap_or_default();
    let mut findings = Findings { engine: places.engine(), ..Findings::default() };
    for &people in sizes {
        eprintln!("{}, {people} people", places.engine());
        places.seeded(people)?;
        let is_largest = people == largest;
        let world = places.world(people, if is_largest { options.bearers() } else { 5_000 })?;
        let bare = places.bare()?;
        findings.memory_with_sessions = Some((world.bearers.len(), world.service.memory()?.now));
        let rows = rows::measure(&world, &bare, pace, options.only.as_deref().unwrap_or_default())?;
        if options.only.is_some() {
            findings.growth.push(Growth { people, rows, searches: Vec::new(), users: Vec::new() });
            continue;
        }
        if is_largest {
            eprintln!("  storm");
            findings.storm = Some(storm::measure(&world, pace)?);
        }
        drop(bare);
        eprintln!("  search");
        let searches = searches::measure(&world, Pace { length: pace.length / 2, ..pace })?;
        eprintln!("  users");
        let users = user_lists::measure(&world, Pace { length: pace.length / 2, ..pace })?;
        findings.growth.push(Growth { people, rows, searches, users });
        if is_largest {
            eprintln!("  search beside writes");
            findings.beside_writes = Some(beside_writes::measure(&world, pace)?);
        }
    }
    if options.only.is_none() {
        eprintln!("  starts");
        findings.starts = Some(starts::measure(places, largest)?);
    }
    if options.measures_imports() {
        eprintln!("  import");
        findings.imports = Some(imports::measure(places, options.imported())?);
    }
    findings.took = start.elapsed();
    Ok(findings)
}

/// Seeds a file with people.
pub(crate) fn seed(file: &Path, people: u64) -> Result<()> {
    crate::world::seed(file, people)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forty_minutes_are_the_most() {
        assert!(in_time(Duration::from_mins(40)).is_ok());
        let sentence = in_time(MOST + Duration::from_secs(1)).unwrap_err().to_string();
        assert!(sentence.starts_with("the benchmark took 41 minutes so far and may take 40"), "{sentence}");
    }
}
