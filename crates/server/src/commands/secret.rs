//! Command `latchkey secret rotate`.

use std::sync::Arc;

use latchkey_service::clock::{Clock, SystemClock};
use latchkey_service::entropy::SystemEntropy;
use latchkey_service::secret_rotation::{Rotated, RotationError, SecretRotation};
use latchkey_store::SealedColumn;
use latchkey_store_sqlite::Sqlite;
use serde_json::json;

use super::{CommandError, json};
use crate::backups::BackupError;
use crate::cli::Output;
use crate::data_folder::replace_secret;
use crate::settings::{Settings, StorageUrl};
use crate::storage::{self, OpenedBy};
use crate::wiring::{server_secret, stored_secret};

impl From<RotationError> for CommandError {
    fn from(error: RotationError) -> Self {
        match error {
            RotationError::Store(error) => Self::Store(error),
            other => Self::Refused(format!("server.secret: {other}")),
        }
    }
}

pub(super) async fn rotate(settings: &Settings, output: Output) -> Result<(), CommandError> {
    let Some(next) = &settings.server.secret_next else {
        return Err(CommandError::Refused(
            "server.secret_next: it is not set: set it to the new secret, such as by a file that \
             LATCHKEY__SERVER__SECRET_NEXT_FILE names"
                .to_owned(),
        ));
    };
    if settings.is_on_command_line("server.secret_next") {
        return Err(CommandError::Refused(
            "server.secret_next: it is on the command line, where every user of the machine can read it: set it in the \
             settings file or the environment"
                .to_owned(),
        ));
    }
    if let StorageUrl::Sqlite(path) = &settings.storage.url {
        Sqlite::refuse_missing(path)?;
        Sqlite::refuse_if_in_use(path).map_err(BackupError::from)?;
    }
    let rotation = SecretRotation {
        old: stored_secret(settings)?,
        new: server_secret(next)?,
        store: storage::open_or_wait(settings, OpenedBy::Command).await?.store,
        clock: Arc::new(SystemClock),
        entropy: Arc::new(SystemEntropy),
    };
    let see = |column: SealedColumn, seen: u64| {
        if !output.json {
            println!("{column:?}: {seen} values looked at");
        }
    };
    let rotated = rotation.run(see).await?;
    let replaced = if settings.server.secret.is_some() {
        None
    } else {
        let suffix = format!("until-{}", SystemClock.now().to_rfc3339().replace([':', '-', '.'], ""));
        let path = replace_secret(&settings.data.dir, next, &suffix)?.display().to_string();
        Some((path.clone(), format!("{path}.{suffix}")))
    };
    if output.json {
        let (file, old) = replaced.unzip();
        let Rotated { resealed, unreadable } = rotated;
        let document =
            json!({"resealed": resealed, "unreadable": unreadable, "secretFile": file, "oldSecretFile": old});
        return Ok(json::print(&document)?);
    }
    tell(rotated, replaced);
    Ok(())
}

/// Prints the result. `replaced` has the file with the new secret, and that with the old one.
fn tell(rotated: Rotated, replaced: Option<(String, String)>) {
    let Rotated { resealed, unreadable } = rotated;
    println!("{resealed} values were sealed anew.");
    if unreadable > 0 {
        println!(
            "{unreadable} values are opened by neither secret; they were unreadable before, and stay as they are."
        );
    }
    match replaced {
        None => {
            println!(
                "Now make server.secret_next the value of server.secret, remove server.secret_next, and start."
            );
        }
        Some((file, old)) => println!(
            "{file} holds the new secret now, and {old} the old one, which earlier backups need. Remove \
             server.secret_next, and start."
        ),
    }
}
