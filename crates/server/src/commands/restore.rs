//! Command `latchkey restore`.

use std::path::Path;

use latchkey_service::backups::RestoredSessions;
use latchkey_service::clock::{Clock, SystemClock};
use latchkey_store::SettledRestored;
use serde_json::json;

use super::backup::for_postgres;
use super::count::count;
use super::thread::on_thread;
use super::{CommandError, json};
use crate::backups::restore::{Force, Restored, Restoring};
use crate::cli::RestoreArgs;
use crate::settings::{Settings, StorageUrl};
use crate::storage::OpenedBy;
use crate::wiring::{assemble, stored_secret};

pub(super) async fn run(mut settings: Settings, arguments: RestoreArgs) -> Result<(), CommandError> {
    let target = match (&arguments.to, &settings.storage.url) {
        (Some(path), _) | (None, StorageUrl::Sqlite(path)) => path.clone(),
        (None, url @ StorageUrl::Postgres(_)) => return Err(CommandError::Refused(for_postgres(url))),
    };
    let force = if arguments.force { Force::Yes } else { Force::No };
    let now = SystemClock.now();
    let secret = stored_secret(&settings)?;
    let file = arguments.file.clone();
    let restoring = on_thread(move || Ok(Restoring::begin(&file, &target, &secret, force, now)?)).await?;
    let sessions = if arguments.keep_sessions { RestoredSessions::Keep } else { RestoredSessions::End };
    let settled = settle(&mut settings, restoring.copy(), sessions).await?;
    let (manifest, log) = (restoring.manifest.clone(), restoring.log.clone());
    if manifest.is_none() && !arguments.output.json {
        println!(
            "There was no manifest: that the backup is whole, how many accounts it should have and when it was made could \
             not be checked."
        );
    }
    if let Some(log) = log.filter(|_| !arguments.output.json) {
        println!("{} was restored too.", log.display());
    }
    let Restored { target, moved } = restoring.finish(force, now)?;
    if arguments.output.json {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let SettledRestored { sessions, mails } = settled;
        return Ok(json::print(&json!({
            "path": text(&target), "moved": moved.as_deref().map(text), "manifest": manifest,
            "keptSessions": arguments.keep_sessions, "endedSessions": sessions, "deadMails": mails,
        }))?);
    }
    if let Some(moved) = moved {
        println!("The database that was there is {} now.", moved.display());
    }
    println!("Restored {} to {}.", arguments.file.display(), target.display());
    let list = settings.command_line("mail list --dead");
    println!("{} (`{list}`).", summary(settled, sessions));
    Ok(())
}

/// Opens the copy as the service does, which migrates it, settles it, and closes it.
async fn settle(
    settings: &mut Settings,
    copy: &Path,
    sessions: RestoredSessions,
) -> Result<SettledRestored, CommandError> {
    settings.storage.url = StorageUrl::Sqlite(copy.to_owned());
    // No one replicates the copy, so its log is written into the file when it is closed.
    settings.storage.is_replicated = false;
    let assembly = assemble(settings, OpenedBy::Command).await?;
    let settled = assembly.service.backups.settle_restored(sessions).await?;
    drop(assembly);
    Ok(settled)
}

fn summary(settled: SettledRestored, sessions: RestoredSessions) -> String {
    let SettledRestored { sessions: ended, mails } = settled;
    let first = match sessions {
        RestoredSessions::End => {
            let ended = count(ended, "session");
            format!("{ended} ended, a new key signs tokens, and no code or mailed link works any more.")
        }
        RestoredSessions::Keep => {
            "The sessions of the backup are kept: those that ended since it are live again, and codes and links that were \
             used since it work once more."
                .to_owned()
        }
    };
    let verb = if mails == 1 { "is" } else { "are" };
    format!("{first} {} {verb} not sent any more", count(mails, "queued mail"))
}
