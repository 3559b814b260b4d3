//! Other processes that have the SQLite file open.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// List of the locks on files, which Linux keeps. Asking for a lock by opening the file would drop this process's own locks
/// when it is closed.
const LOCKS: &str = "/proc/locks";

/// True if another process has the file open. Each connection of SQLite holds a shared lock.
pub(super) fn has_open(path: &Path) -> bool {
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
