//! Other processes that have the SQLite file open.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// List of the locks on files, which Linux keeps. Asking for a lock by opening the file would drop this process's own locks
/// when it is closed.
const LOCKS: &str = "/proc/locks";

/// How long an answer is used. The kernel takes several milliseconds for one.
const FRESH: Duration = Duration::from_millis(500);

/// Watch over the processes that have a file open.
pub(super) struct Neighbours {
    path: PathBuf,
    last: Mutex<Option<(Instant, bool)>>,
}

impl Neighbours {
    pub(super) const fn of(path: PathBuf) -> Self {
        Self { path, last: Mutex::new(None) }
    }

    /// True if another process had the file open less than [`FRESH`] ago.
    pub(super) fn are_there(&self) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match *last {
            Some((asked, are_there)) if asked.elapsed() < FRESH => are_there,
            _ => {
                let are_there = has_open(&self.path);
                *last = Some((Instant::now(), are_there));
                are_there
            }
        }
    }
}

/// True if another process has the file open. Each connection of SQLite holds a shared lock.
fn has_open(path: &Path) -> bool {
    let (Ok(file), Ok(locks)) = (path.metadata(), std::fs::read_to_string(LOCKS)) else { return false };
    is_locked_by_another(&locks, file.ino(), std::process::id())
}

/// True if a line names the file and another process: `3: POSIX  ADVISORY  READ 4711 fe:01:6554 1073741826 1073742335`.
fn is_locked_by_another(locks: &str, inode: u64, own: u32) -> bool {
    locks.lines().any(|line| {
        let mut fields = line.split_ascii_whitespace().skip(4);
        let (process, file) = (fields.next(), fields.next());
        let is_file = file.and_then(|file| file.rsplit(':').next()).is_some_and(|at| at.parse() == Ok(inode));
        is_file && process.and_then(|process| process.parse::<u32>().ok()) != Some(own)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_of_another_process_is_found() {
        let locks = "1: POSIX  ADVISORY  READ 4711 fe:01:6554 1073741826 1073742335\n2: FLOCK  ADVISORY  WRITE 9 00:1a:77 0 EOF\n";
        assert!(is_locked_by_another(locks, 6554, 9));
        assert!(!is_locked_by_another(locks, 6554, 4711));
        assert!(!is_locked_by_another(locks, 655, 9));
    }
}
