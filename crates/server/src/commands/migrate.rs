//! Command `latchkey migrate`: brings the schema of the database up to date, or lists the missing migrations.

use std::process::ExitCode;

use serde_json::json;

use super::{CommandError, json};
use crate::cli::MigrateArgs;
use crate::settings::Settings;
use crate::storage;

pub(super) async fn run(settings: &Settings, arguments: &MigrateArgs) -> Result<ExitCode, CommandError> {
    let missing = storage::check_migrations(settings).await?;
    let is_behind = arguments.check && !missing.is_empty();
    if !arguments.check && !missing.is_empty() {
        storage::open(settings).await?;
    }
    let key = if arguments.check { "missing" } else { "applied" };
    if arguments.output.json {
        json::print(&json!({key: missing}))?;
    } else if missing.is_empty() {
        println!("The database is up to date.");
    } else {
        print_list(if is_behind { "Missing:" } else { "Applied:" }, &missing);
    }
    Ok(if is_behind { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn print_list(title: &str, names: &[&str]) {
    println!("{title}");
    for name in names {
        println!("  {name}");
    }
}
