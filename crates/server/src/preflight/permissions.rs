//! Check of the modes of files and folders that hold secrets. If other users can open one, production refuses to start
//! and development warns.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::process::geteuid;

use super::Findings;
use crate::settings::{Settings, StorageUrl};
use crate::{data_folder, traces};

/// Mode bits that let every user of the machine read or write a file. Group bits are allowed, because service managers
/// pass secrets by group.
const OPEN_FILE: u32 = 0o006;
/// Mode bits that let other users or the group enter, list or change a folder.
const OPEN_FOLDER: u32 = 0o077;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Good,
    Warned,
    Refused,
}

pub(super) fn inspect(settings: &Settings, findings: &mut Findings) {
    let mut check = ModeCheck { is_production: !settings.server.is_development(), findings };
    for (path, keys) in settings.secret_files() {
        check.secret(&keys.join(", "), path);
    }
    let folder = &settings.data.dir;
    for name in [data_folder::SECRET_FILE, data_folder::ADMIN_KEY_FILE] {
        check.secret("data.dir", &folder.join(name));
    }
    match &settings.storage.url {
        StorageUrl::Sqlite(path) if !path.starts_with(folder) => check.secret("storage.url", path),
        StorageUrl::Sqlite(_) | StorageUrl::Postgres(_) => {}
    }
    check.folder("data.dir", folder);
    // Not every header is a secret, so its mode does not refuse a start.
    if let Some(path) = &settings.traces.headers_file {
        check.is_production = false;
        check.secret(traces::HEADERS_FILE, path);
    }
}

struct ModeCheck<'a> {
    is_production: bool,
    findings: &'a mut Findings,
}

impl ModeCheck<'_> {
    /// Checks the mode of a file. A missing file, or a pipe, is skipped; the code that reads it reports errors.
    fn secret(&mut self, place: &str, path: &Path) {
        let Some(metadata) = fs::metadata(path).ok().filter(Metadata::is_file) else { return };
        let is_read_only = is_on_a_read_only_mount(path);
        let verdict = judge(metadata.mode() & OPEN_FILE, is_read_only, self.is_production);
        let remedy = if is_read_only {
            "its mount is read-only, so let the system that mounts it set the mode 0400".to_owned()
        } else {
            format!("run `{}`", chmod("600", path, &metadata))
        };
        let mode = metadata.mode() & 0o7777;
        let path = path.display();
        self.tell(
            verdict,
            place,
            &format!("every user of this machine can open {path} (mode {mode:04o}); {remedy}"),
        );
    }

    fn folder(&mut self, place: &str, path: &Path) {
        let Some(metadata) = fs::metadata(path).ok().filter(Metadata::is_dir) else { return };
        let verdict = judge(metadata.mode() & OPEN_FOLDER, false, self.is_production);
        let (mode, remedy) = (metadata.mode() & 0o7777, chmod("700", path, &metadata));
        let path = path.display();
        let sentence = format!(
            "other users of this machine can open the folder {path} (mode {mode:04o}); run `{remedy}`"
        );
        self.tell(verdict, place, &sentence);
    }

    fn tell(&mut self, verdict: Verdict, place: &str, sentence: &str) {
        match verdict {
            Verdict::Good => {}
            Verdict::Warned => self.findings.warnings.push(format!("{place}: {sentence}")),
            Verdict::Refused => self.findings.refuse(place, sentence),
        }
    }
}

/// Decides whether the mode of a file or folder is accepted, warned about or refused. On a read-only mount a bad mode
/// is only a warning: containers get secrets there, and the service cannot change the mode.
const fn judge(open_bits: u32, is_read_only: bool, is_production: bool) -> Verdict {
    match (open_bits, is_production && !is_read_only) {
        (0, _) => Verdict::Good,
        (_, true) => Verdict::Refused,
        (_, false) => Verdict::Warned,
    }
}

fn is_on_a_read_only_mount(path: &Path) -> bool {
    statvfs(path).is_ok_and(|stat| stat.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// Builds the shell command that removes the access of other users. If the file belongs to another user, the command
/// also changes the owner, as the service could not open the file otherwise.
fn chmod(mode: &str, path: &Path, metadata: &Metadata) -> String {
    let own = geteuid().as_raw();
    let path = quoted(&path.display().to_string());
    if own == 0 || own == metadata.uid() {
        return format!("chmod {mode} {path}");
    }
    format!("chown {own} {path} && chmod {mode} {path}")
}

/// Quotes a path for a shell.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:,=".contains(c);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn open_files_are_refused_in_production_and_warned_of_elsewhere() {
        for bits in [0o004, 0o002, 0o006] {
            assert_eq!(judge(bits, false, true), Verdict::Refused);
            assert_eq!(judge(bits, false, false), Verdict::Warned);
            assert_eq!(judge(bits, true, true), Verdict::Warned, "a read-only mount");
        }
        for (is_read_only, is_production) in [(false, false), (false, true), (true, true)] {
            assert_eq!(judge(0, is_read_only, is_production), Verdict::Good);
        }
    }

    #[test]
    fn paths_are_quoted_for_a_shell() {
        assert_eq!(quoted("/etc/latchkey/server-secret"), "/etc/latchkey/server-secret");
        assert_eq!(quoted("/a b/it's"), r"'/a b/it'\''s'");
    }

    #[test]
    fn a_temporary_folder_is_on_no_read_only_mount() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_on_a_read_only_mount(folder.path()));
        assert!(!is_on_a_read_only_mount(&folder.path().join("missing")));
    }
}
