//! Programs of PostgreSQL and pgbouncer: lookup, execution, and cleanup at the end of the process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::ClusterError;

/// Folder of Debian's PostgreSQL packages, with a subfolder per version.
const DEBIAN_FOLDER: &str = "/usr/lib/postgresql";
/// Folder of system programs, which is often missing in PATH.
const SYSTEM_FOLDER: &str = "/usr/sbin";

/// Memory file system for the clusters, because creating and dropping a database per test is slow on a disk.
const MEMORY: &str = "/dev/shm";

/// Folder of the programs, and the user that runs them.
pub(super) struct Programs {
    folder: Option<PathBuf>,
    is_root: bool,
}

impl Programs {
    /// Finds the folder of a program. The error names `package` as the one to install.
    pub(super) fn find(program: &str, package: &'static str) -> Result<Self, ClusterError> {
        let is_root = Command::new("id")
            .arg("-u")
            .output()
            .is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == "0");
        let programs = Self { folder: newest_of_debian(), is_root };
        let version = Command::new(programs.path(program)).arg("--version").output();
        if version.is_ok_and(|output| output.status.success()) {
            Ok(programs)
        } else {
            Err(ClusterError::Missing(package))
        }
    }

    /// Path of a program.
    pub(super) fn path(&self, program: &str) -> PathBuf {
        let folders = self.folder.iter().map(PathBuf::as_path).chain([Path::new(SYSTEM_FOLDER)]);
        let own = folders.map(|folder| folder.join(program)).find(|path| path.exists());
        own.unwrap_or_else(|| PathBuf::from(program))
    }

    /// Command that runs a program. The server refuses to run as root, so root runs it as the user of the package.
    fn command(&self, program: &str) -> Command {
        let path = self.path(program);
        let mut command = if self.is_root {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(path);
            command
        } else {
            Command::new(path)
        };
        command.current_dir("/tmp").stdin(Stdio::null());
        command
    }

    /// Runs a program to completion and returns its output.
    pub(super) fn run(&self, program: &str, arguments: &[&str]) -> Result<String, ClusterError> {
        let failed = |said: String| ClusterError::Failed { program: program.to_owned(), said };
        let output =
            self.command(program).args(arguments).output().map_err(|error| failed(error.to_string()))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()))
        }
    }

    /// Creates a temporary folder owned by the user that runs the programs. Its path is short enough for a
    /// socket.
    pub(super) fn make_folder(&self) -> Result<PathBuf, ClusterError> {
        let parent = if Path::new(MEMORY).is_dir() { MEMORY } else { "/tmp" };
        let pattern = format!("{parent}/latchkey-pg-XXXXXX");
        Ok(PathBuf::from(self.run("mktemp", &["-d", &pattern])?.trim()))
    }

    /// Starts a shell script that cleans up when its standard input closes. That happens at the end of this process,
    /// even by a crash, or when the watchdog is dropped.
    pub(super) fn watch(&self, script: &str, arguments: &[&Path]) -> Result<Watchdog, ClusterError> {
        let mut command = self.command("sh");
        command.args(["-c", script]).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // A process group of its own, so that Ctrl-C in a terminal does not kill the script before the cleanup.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command
            .spawn()
            .map_err(|error| ClusterError::Failed { program: "sh".to_owned(), said: error.to_string() })?;
        Ok(Watchdog(child))
    }
}

/// Handle of the script; dropping it starts the cleanup.
pub(super) struct Watchdog(Child);

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Folder of the newest installed version of PostgreSQL.
fn newest_of_debian() -> Option<PathBuf> {
    let versions = fs::read_dir(DEBIAN_FOLDER).ok()?.filter_map(Result::ok);
    let with_number = versions.filter_map(|version| {
        let number: u32 = version.file_name().to_str()?.parse().ok()?;
        let folder = version.path().join("bin");
        folder.join("postgres").exists().then_some((number, folder))
    });
    with_number.max_by_key(|(number, _)| *number).map(|(_, folder)| folder)
}
