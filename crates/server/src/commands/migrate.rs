//! Command `latchkey migrate`: brings the schema of the database up to date, or lists the missing migrations.

use std::process::ExitCode;

use super::CommandError;
use crate::cli::MigrateArgs;
use crate::settings::Settings;
use crate::storage;

pub(super) async fn run(settings: &Settings, arguments: &MigrateArgs) -> Result<ExitCode, CommandError> {
    let missing = storage::check_migrations(settings).await?;
    if missing.is_empty() {
        println!("The database is up to date.");
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.check {
        print_list("Missing:", &missing);
        return Ok(ExitCode::FAILURE);
    }
    storage::open(settings).await?;
    print_list("Applied:", &missing);
    Ok(ExitCode::SUCCESS)
}

fn print_list(title: &str, names: &[&str]) {
    println!("{title}");
    for name in names {
        println!("  {name}");
    }
}
