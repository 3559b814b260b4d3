//! Command `latchkey init`: settings and secrets of a new instance. The questions are in [`answers`], the files in
//! [`files`].

mod answers;
mod files;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use self::answers::Answers;
use self::files::{Files, SETTINGS_FILE};
use super::{CommandError, config};
use crate::cli::{InitArgs, Output};
use crate::settings::{Settings, Sources, StorageUrl};
use crate::storage;

pub(super) async fn run(
    arguments: InitArgs,
    environment: Vec<(OsString, OsString)>,
) -> Result<ExitCode, CommandError> {
    let answers = Answers::gather(&arguments).await?;
    let files = Files::new(&arguments, &answers)?;
    files.write()?;
    let settings_file = files.folder.join(SETTINGS_FILE);
    let sources = || Sources::gather(Some(&settings_file), environment.clone(), Vec::new());
    let made = async { make_database(&Settings::load(sources()?)?).await };
    let database = match made.await {
        Ok(database) => database,
        Err(error) => {
            files.remove();
            return Err(error);
        }
    };
    println!("{files}");
    if let Some(database) = database {
        println!("The database {database} is made.");
    }
    println!();
    let code = config::check(sources(), Output { json: false }).await?;
    println!("{}", next_step(&settings_file, code));
    Ok(code)
}

/// Creates the SQLite file, which the start refuses to do in production. Returns its path; `None` on PostgreSQL, where the
/// start creates the tables.
async fn make_database(settings: &Settings) -> Result<Option<String>, CommandError> {
    let StorageUrl::Sqlite(path) = &settings.storage.url else { return Ok(None) };
    if path.exists() {
        let text = format!(
            "there is a database at {}, and a new secret would not open it. Give another --data folder for a new \
             instance; nothing was written",
            path.display()
        );
        return Err(CommandError::Refused(text));
    }
    if let Err(error) = storage::open(settings).await {
        // What was made of the file would be taken for the database of another secret.
        for suffix in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{suffix}", path.display()));
        }
        return Err(error.into());
    }
    Ok(Some(path.display().to_string()))
}

fn next_step(settings_file: &Path, code: ExitCode) -> String {
    let file = settings_file.display();
    if code == ExitCode::SUCCESS {
        format!("\nStart the service: latchkey --config {file}")
    } else {
        format!("\nCorrect this in {file}, then: latchkey --config {file} config check")
    }
}
