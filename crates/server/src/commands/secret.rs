//! Command `latchkey secret rotate`.

use std::sync::Arc;

use latchkey_service::clock::{Clock, SystemClock};
use latchkey_service::entropy::SystemEntropy;
use latchkey_service::secret_rotation::{Progress, Rotated, RotationError, SecretRotation, Sharing};
use latchkey_store::SealedColumn;
use latchkey_store_sqlite::Sqlite;
use serde_json::json;

use super::{CommandError, count::count, json};
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
    let sharing = match &settings.storage.url {
        StorageUrl::Sqlite(path) => {
            storage::refuse_missing_database(settings)?;
            Sqlite::refuse_if_in_use(path).map_err(BackupError::from)?;
            Sharing::File
        }
        StorageUrl::Postgres(_) => Sharing::Instances,
    };
    let rotation = SecretRotation {
        sharing,
        old: stored_secret(settings)?,
        new: server_secret(next)?,
        store: storage::open_or_wait(settings, OpenedBy::Command).await?.store,
        clock: Arc::new(SystemClock),
        entropy: Arc::new(SystemEntropy),
    };
    let see = |progress: Progress<'_>| {
        if !output.json {
            println!("{}", line_of(progress));
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

fn line_of(progress: Progress<'_>) -> String {
    match progress {
        Progress::Sealed(column, count) => format!("{}: {count}", words_of(column)),
        Progress::WaitsFor(instance) => {
            format!("Instance {} started meanwhile: waiting until it has stopped.", instance.id)
        }
    }
}

const fn words_of(column: SealedColumn) -> &'static str {
    match column {
        SealedColumn::SigningKeys => "Signing keys",
        SealedColumn::TotpSecrets => "Secrets of authenticator apps",
        SealedColumn::Providers => "Secrets of identity providers",
        SealedColumn::OAuthFlows => "Sign-ins that run at a provider",
        SealedColumn::Mails => "Queued and dead mails",
        SealedColumn::KeptKeys => "Keys that outlive the secret",
        SealedColumn::HashKeys => "Signer keys of imported hashes",
    }
}

/// Prints the result. `replaced` has the file with the new secret, and that with the old one.
fn tell(rotated: Rotated, replaced: Option<(String, String)>) {
    let Rotated { resealed, unreadable } = rotated;
    let was = if resealed == 1 { "was" } else { "were" };
    println!("{} {was} sealed anew.", count(resealed, "value"));
    match unreadable {
        0 => {}
        1 => println!("1 value is opened by neither secret; it was unreadable before, and stays as it is."),
        _ => println!(
            "{unreadable} values are opened by neither secret; they were unreadable before, and stay as they are."
        ),
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
