//! The benchmark of Latchkey. `cargo xtask bench` builds and runs it.
//!
//! | Room | Holds |
//! |---|---|
//! | [`load`], [`scripts`], [`patches`], [`fresh_words`], [`answer`] | the load driver and what it asks |
//! | [`people`], [`words`] | who is in a seeded database |
//! | [`process`], [`bare`], [`world`] | the servers under test, and the limit |
//! | [`rows`], [`storm`], [`searches`], [`beside_writes`], [`starts`], [`raw_hash`] | what is measured |
//! | [`plan`], [`row`], [`machine`], [`report`] | all of it in order, medians, and the report |
//! | [`against`], [`compared`] | two binaries side by side in one run, and what may be claimed of them |

mod against;
mod answer;
mod bare;
mod beside_writes;
mod compared;
mod error;
mod fresh_words;
mod load;
mod machine;
mod patches;
mod people;
mod plan;
mod process;
mod raw_hash;
mod report;
mod row;
mod rows;
mod scripts;
mod searches;
mod starts;
mod storm;
mod time;
mod words;
mod world;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::error::Result;

/// The benchmark of Latchkey.
#[derive(Debug, Parser)]
enum Cli {
    /// Serve the bare route that is the limit.
    Bare {
        /// Where.
        port: u16,
    },
    /// Run.
    Run(plan::Options),
    /// Compare two binaries.
    Against(against::Options),
    /// Fill a file with people.
    Seed {
        /// The file.
        file: PathBuf,
        /// How many.
        people: u64,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<()> {
    match cli {
        Cli::Bare { port } => bare::serve(port),
        Cli::Run(options) => plan::run(&options),
        Cli::Against(options) => against::run(&options),
        Cli::Seed { file, people } => plan::seed(&file, people),
    }
}
