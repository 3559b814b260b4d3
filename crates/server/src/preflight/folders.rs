//! Check of the folders that the service writes into, and of the secrets stored in the data folder.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use rustix::fs::{Access, access};
use rustix::io::Errno;

use super::{Bad, Findings};
use crate::data_folder;
use crate::settings::{MailTransport, Settings, StorageUrl};

pub(super) fn inspect(settings: &Settings, bad: &Bad<'_>, findings: &mut Findings) {
    if bad.has("data.dir") {
        return;
    }
    let data = settings.data.dir.as_path();
    if let Err(reason) = check(data) {
        findings.refuse("data.dir", reason);
        return; // the other folders are inside it, or do not exist before it
    }
    if settings.mail.transport == MailTransport::File
        && let Err(reason) = check(&settings.mail.dir)
    {
        findings.refuse("mail.dir", reason);
    }
    if let StorageUrl::Sqlite(path) = &settings.storage.url
        && !bad.has("storage.url")
        && let Err(reason) = check(folder_of(path))
    {
        findings.refuse("storage.url", reason);
    }
    inspect_backups(settings, findings);
    look_at_secrets(settings, findings);
}

/// Checks the folder of the backups that the service makes itself. No other step of the start opens it. A fault of the data
/// folder, if it is in that one, is left to the check of the data folder.
pub(super) fn inspect_backups(settings: &Settings, findings: &mut Findings) {
    let (data, folder) = (&settings.data.dir, &settings.backup.dir);
    if settings.backup.every.is_some()
        && (!folder.starts_with(data) || check(data).is_ok())
        && let Err(reason) = check(folder)
    {
        findings.refuse("backup.dir", reason);
    }
}

/// Checks the generated secrets in the data folder. Development mode uses them where the settings have none.
fn look_at_secrets(settings: &Settings, findings: &mut Findings) {
    let kept = [
        (settings.server.secret.is_none(), data_folder::SECRET_FILE),
        (settings.admin.api_key.is_none(), data_folder::ADMIN_KEY_FILE),
    ];
    for (_, name) in kept.into_iter().filter(|(is_used, _)| *is_used) {
        if let Some(Err(error)) = data_folder::read_kept(&settings.data.dir, name) {
            findings.refuse("data.dir", error.to_string());
        }
    }
}

/// Returns the parent folder of a file; `.` if the path is a bare file name.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."))
}

/// Checks that the folder is writable, or that a missing one can be created. Creates nothing.
fn check(path: &Path) -> Result<(), String> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_dir() => {
            Err(format!("{} is no folder; move it away, or name another", path.display()))
        }
        Ok(_) => check_rights(path)
            .map_err(|remedy| format!("the folder {} cannot be written; {remedy}", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => check_parents(path),
        Err(error) => Err(cannot_be_made(path, &error.to_string())),
    }
}

/// Checks that the nearest existing ancestor is a writable folder.
fn check_parents(path: &Path) -> Result<(), String> {
    let existing =
        path.ancestors().skip(1).map(or_here).find(|parent| parent.exists()).unwrap_or(Path::new("/"));
    if !existing.is_dir() {
        return Err(cannot_be_made(path, &format!("{} is no folder", existing.display())));
    }
    check_rights(existing).map_err(|remedy| {
        cannot_be_made(path, &format!("{} cannot be written; {remedy}", existing.display()))
    })
}

fn or_here(path: &Path) -> &Path {
    if path == Path::new("") { Path::new(".") } else { path }
}

fn cannot_be_made(path: &Path, reason: &str) -> String {
    format!(
        "{}: the folder cannot be made: {reason}; make it for the service's user, or name another",
        path.display()
    )
}

/// Checks that this user may create files in the folder; else returns the remedy.
fn check_rights(path: &Path) -> Result<(), &'static str> {
    match access(path, Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) => Ok(()),
        Err(Errno::ROFS) => {
            Err("its file system is read-only for this process: mount it writable, or, with the \
             systemd unit, name the folder in `ReadWritePaths`")
        }
        Err(_) => Err("give it to the service's user"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn folder_that_can_be_made_is_good_and_is_not_made() {
        let parent = tempfile::tempdir().unwrap();
        assert_eq!(check(parent.path()), Ok(()));
        assert_eq!(check(&parent.path().join("a/b/c")), Ok(()));
        assert!(!parent.path().join("a").exists());
        assert_eq!(check(Path::new("no-such-folder-here")), Ok(()));
    }

    #[test]
    fn file_in_the_way_is_told() {
        let parent = tempfile::tempdir().unwrap();
        let file = parent.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(check(&file).unwrap_err().contains("is no folder"));
        assert!(check(&file.join("data")).unwrap_err().contains("the folder cannot be made"));
    }

    #[test]
    fn folder_of_a_bare_name_is_the_working_directory() {
        assert_eq!(folder_of(Path::new("latchkey.db")), Path::new("."));
        assert_eq!(folder_of(Path::new("/srv/latchkey.db")), Path::new("/srv"));
    }
}
