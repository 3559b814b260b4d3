//! Command `latchkey backup`.

use std::path::{Path, PathBuf};

use latchkey_service::clock::{Clock, SystemClock};
use serde_json::{Value, json};

use super::count::count;
use super::thread::on_thread;
use super::{CommandError, json};
use crate::backups::manifest::Manifest;
use crate::backups::{self, BackupError, Place, Source, Taken};
use crate::cli::BackupArgs;
use crate::settings::{Settings, StorageUrl, quoted};
use crate::storage;
use crate::wiring::stored_secret;

/// Path that stands for standard output.
const OUTPUT: &str = "-";

impl From<BackupError> for CommandError {
    fn from(error: BackupError) -> Self {
        Self::Refused(error.to_string())
    }
}

/// Runs the command on a thread, so that a signal ends it meanwhile: a copy can take minutes.
pub(super) async fn run(settings: Settings, arguments: BackupArgs) -> Result<(), CommandError> {
    on_thread(move || back_up(&settings, &arguments)).await
}

fn back_up(settings: &Settings, arguments: &BackupArgs) -> Result<(), CommandError> {
    let now = SystemClock.now();
    if let Some(file) = &arguments.verify {
        let manifest = backups::verify(file, &stored_secret(settings)?, now)?;
        if arguments.output.json {
            return Ok(json::print(&document(file, &manifest, &[]))?);
        }
        println!("The backup {} is good: {}.", file.display(), summary(&manifest));
        return Ok(());
    }
    let StorageUrl::Sqlite(database) = &settings.storage.url else {
        return Err(CommandError::Refused(for_postgres(&settings.storage.url)));
    };
    let out = arguments.out.as_deref().unwrap_or(Path::new(OUTPUT));
    let place = place_of(out, settings, arguments)?;
    // Where the database is not, the secret is not either.
    storage::refuse_missing_database(settings)?;
    let secret = stored_secret(settings)?;
    let source = Source { database, secret: &secret, log: settings.storage.log_at_close() };
    let Taken { path, manifest, pruned, faults, ahead, unreadable } = backups::take(&source, &place, now)?;
    for fault in faults {
        eprintln!("latchkey: an old backup stays: {fault}.");
    }
    for path in unreadable {
        eprintln!(
            "latchkey: {} has a manifest that cannot be read: it is not counted, and not deleted.",
            path.display()
        );
    }
    for path in ahead {
        eprintln!(
            "latchkey: {} has a time that is ahead of the clock: it is not counted, and not deleted.",
            path.display()
        );
    }
    match path {
        Some(path) if arguments.output.json => return Ok(json::print(&document(&path, &manifest, &pruned))?),
        Some(path) => println!("Backed up to {}: {}.", path.display(), summary(&manifest)),
        None => eprint!("{}", manifest.to_line()),
    }
    for old in pruned {
        println!("Deleted {}.", old.display());
    }
    Ok(())
}

fn place_of<'a>(
    out: &'a Path,
    settings: &'a Settings,
    arguments: &BackupArgs,
) -> Result<Place<'a>, CommandError> {
    let place = match out.as_os_str().to_str() {
        Some(OUTPUT) => Place::Output(&settings.data.dir),
        Some(text) if text.ends_with('/') => Place::Folder(out, arguments.keep),
        _ if out.is_dir() => Place::Folder(out, arguments.keep),
        _ => Place::File(out),
    };
    if arguments.keep.is_some() && !matches!(place, Place::Folder(..)) {
        let text =
            "--keep needs a folder: give --out the path of one, with a / at its end if it is to be made";
        return Err(CommandError::Arguments(text.to_owned()));
    }
    Ok(place)
}

/// Returns what a backup contains, and the older backups that were deleted for it.
fn document(path: &Path, manifest: &Manifest, pruned: &[PathBuf]) -> Value {
    let deleted: Vec<_> = pruned.iter().map(|old| old.to_string_lossy()).collect();
    json!({"path": path.to_string_lossy(), "manifest": manifest, "deleted": deleted})
}

fn summary(manifest: &Manifest) -> String {
    let Manifest { bytes, users, created_at, migration, .. } = manifest;
    let users = count(users, "account");
    format!("{bytes} bytes, {users}, migration {migration}, made {created_at}")
}

/// Returns the text that names the tools of PostgreSQL.
pub(super) fn for_postgres(url: &StorageUrl) -> String {
    let shown = quoted(&without_mark(&url.shown()));
    format!(
        "the database is PostgreSQL, whose own tools back it up: run `(umask 077; pg_dump --format=custom \
         --file=latchkey.dump {shown})` with its password in PGPASSWORD or ~/.pgpass, and restore by `pg_restore \
         --dbname={shown} latchkey.dump` into an empty database. Keep server.secret in another place"
    )
}

/// Removes the mark in place of a password, which PostgreSQL's tools would take for one.
fn without_mark(shown: &str) -> String {
    let url = shown.replace(":***@", "@");
    let Some((base, query)) = url.split_once('?') else { return url };
    let kept: Vec<_> = query.split('&').filter(|pair| !pair.starts_with("password=")).collect();
    if kept.is_empty() { base.to_owned() } else { format!("{base}?{}", kept.join("&")) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn command_for_postgresql_is_for_a_shell_and_has_no_password() {
        for (url, shown) in [
            ("postgres://ada:hunter2@localhost/accounts", "'postgres://ada@localhost/accounts'"),
            ("postgres://ada@localhost/accounts?password=hunter2", "'postgres://ada@localhost/accounts'"),
            (
                "postgres:///accounts?host=/run&password=hunter2&user=ada",
                "'postgres:///accounts?host=/run&user=ada'",
            ),
            ("postgres://o'hara@localhost/accounts", r"'postgres://o'\''hara@localhost/accounts'"),
        ] {
            let text = for_postgres(&StorageUrl::parse(url).unwrap());
            let dump = format!("(umask 077; pg_dump --format=custom --file=latchkey.dump {shown})");
            assert!(text.contains(&dump) && text.contains(&format!("--dbname={shown} ")), "{text}");
        }
    }
}
