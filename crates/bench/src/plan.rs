//! The whole benchmark: which databases, which rows, in which order.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::Result;
use crate::report::{self, Findings, Growth};
use crate::rows::{self, Pace};
use crate::time::now;
use crate::world::Places;
use crate::{searches, starts, storm};

/// What is run.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The binary under test.
    #[arg(long, default_value = "target/release/latchkey")]
    latchkey: PathBuf,
    /// Where seeded databases are kept.
    #[arg(long, default_value = "target/bench")]
    folder: PathBuf,
    /// Less of everything: no database of a million.
    #[arg(long)]
    quick: bool,
    /// The report; without it the table is only printed.
    #[arg(long)]
    report: Option<PathBuf>,
    /// People of the databases; the last one is the table's.
    #[arg(long, value_delimiter = ',')]
    people: Vec<u64>,
}

/// Runs everything and reports.
pub(crate) fn run(options: &Options) -> Result<()> {
    let start = now();
    std::fs::create_dir_all(&options.folder)?;
    let places = Places {
        latchkey: std::fs::canonicalize(&options.latchkey)?,
        folder: std::fs::canonicalize(&options.folder)?,
    };
    let (sizes, pace, bearers) = if options.quick {
        (vec![10_000, 100_000], Pace { rounds: 3, length: Duration::from_millis(700) }, 10_000)
    } else {
        let pace = Pace { rounds: 3, length: Duration::from_millis(1_500) };
        (vec![10_000, 100_000, 1_000_000], pace, usize::MAX)
    };
    let sizes = if options.people.is_empty() { sizes } else { options.people.clone() };
    let largest = sizes.last().copied().unwrap_or_default();

    let mut findings = Findings { engine: "SQLite", ..Findings::default() };
    for people in sizes {
        eprintln!("{people} people: seeding where there is no database yet");
        places.seeded(people)?;
        let is_largest = people == largest;
        let world = places.world(people, if is_largest { bearers } else { 5_000 })?;
        let bare = places.bare()?;
        findings.memory_with_sessions = Some((world.bearers.len(), world.service.memory()?.now));
        let rows = rows::measure(&world, &bare, pace)?;
        if is_largest {
            findings.storm = Some(storm::measure(&world, pace)?);
        }
        drop(bare);
        eprintln!("  search");
        let searches = searches::measure(&world, Pace { length: pace.length / 2, ..pace })?;
        findings.growth.push(Growth { people, rows, searches });
    }
    eprintln!("starts");
    findings.starts = Some(starts::measure(&places, largest)?);
    findings.took = start.elapsed();

    println!("{}", report::markdown(&findings));
    if let Some(file) = &options.report {
        report::write(file, &[findings])?;
        println!("written: {}", file.display());
    }
    Ok(())
}

/// Fills a file with people.
pub(crate) fn seed(file: &Path, people: u64) -> Result<()> {
    crate::world::seed(file, people)
}
