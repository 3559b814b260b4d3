//! The benchmark of Latchkey. `cargo xtask bench` builds and runs it.
//!
//! | Modules | Content |
//! |---|---|
//! | [`load`], [`scripts`], [`patches`], [`fresh_words`], [`response`] | load generator and requests |
//! | [`people`], [`words`] | content of a seeded database |
//! | [`process`], [`bare`], [`world`] | servers under test, and the baseline |
//! | [`rows`], [`storm`], [`searches`], [`user_lists`], [`beside_writes`], [`starts`], [`imports`], [`raw_hash`] | measurements |
//! | [`plan`], [`row`], [`machine`], [`report`] | order, medians, report |
//! | [`against`], [`compared`] | comparison of two binaries in one run |

mod against;
mod bare;
mod beside_writes;
mod compared;
mod error;
mod fresh_words;
mod imports;
mod load;
mod machine;
mod patches;
mod people;
mod plan;
mod process;
mod raw_hash;
mod report;
mod response;
mod row;
mod rows;
mod scripts;
mod searches;
mod starts;
mod storm;
mod time;
mod user_lists;
mod words;
mod world;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::error::Result;

/// The benchmark of Latchkey.
#[derive(Debug, Parser)]
enum Cli {
    /// Serve the baseline route.
    Bare {
        /// Port.
        port: u16,
    },
    /// Run the benchmark.
    Run(plan::Options),
    /// Compare two binaries.
    Against(against::Options),
    /// Seed a file with people.
    Seed {
        /// Path of the file.
        file: PathBuf,
        /// Number of people.
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
