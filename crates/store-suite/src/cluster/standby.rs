//! Streaming standby of a cluster, and the simulated crash of a primary.

use std::path::{Path, PathBuf};

use super::programs::{Programs, Watchdog};
use super::{ClusterError, SETTINGS, STOP, TestCluster, TestDatabase, access, url_in};

/// Shell command that kills the server without a shutdown, as in a machine crash.
const KILL: &str = "kill -KILL \"$(head -n 1 \"$0\")\"";

/// Running standby, which is read-only until its promotion.
pub struct TestStandby {
    programs: Programs,
    folder: PathBuf,
    port: u16,
    _watchdog: Watchdog,
}

impl TestCluster {
    /// Starts a standby on this port with additional settings (`name=value`), and waits until it receives the primary's
    /// changes.
    pub fn standby(&self, port: u16, settings: &[&str]) -> Result<TestStandby, ClusterError> {
        let programs = Programs::find("initdb", "postgresql")?;
        let folder = programs.make_folder()?;
        let watchdog = programs.watch(STOP, &[&programs.path("pg_ctl"), &folder])?;
        let data = folder.join("data");
        let data = data.to_string_lossy();
        let (host, primary_port) = (self.folder.to_string_lossy(), self.port.to_string());
        programs.run(
            "pg_basebackup",
            &[
                "-h",
                &host,
                "-p",
                &primary_port,
                "-U",
                "postgres",
                "-D",
                &data,
                "-R",
                "-X",
                "stream",
                "-c",
                "fast",
            ],
        )?;
        let port_setting = format!("port={port}");
        let mut options = format!("-c unix_socket_directories={}", folder.display());
        for setting in SETTINGS.iter().chain(settings).chain([&port_setting.as_str()]) {
            options.push_str(" -c ");
            options.push_str(setting);
        }
        let log = folder.join("log");
        programs.run(
            "pg_ctl",
            &["-D", &data, "-l", &log.to_string_lossy(), "-w", "-s", "-o", &options, "start"],
        )?;
        Ok(TestStandby { programs, folder, port, _watchdog: watchdog })
    }

    /// Kills the server at once, as in a machine crash. The cluster cannot be started again.
    pub fn crash(&self) -> Result<(), ClusterError> {
        let programs = Programs::find("initdb", "postgresql")?;
        let file = self.folder.join("data/postmaster.pid");
        programs.run("sh", &["-c", KILL, &file.to_string_lossy()]).map(drop)
    }
}

impl TestStandby {
    /// Promotes the standby; returns once it accepts writes.
    pub fn promote(&self) -> Result<(), ClusterError> {
        let data = self.folder.join("data");
        self.programs.run("pg_ctl", &["-D", &data.to_string_lossy(), "-w", "-s", "promote"]).map(drop)
    }

    /// Folder of the socket.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// URL of a database replicated from the primary.
    #[must_use]
    pub fn url(&self, database: &TestDatabase) -> String {
        url_in(&self.folder, self.port, database.name())
    }

    /// Executes a statement as superuser. Writes need a promoted standby.
    ///
    /// # Panics
    ///
    /// If it fails.
    pub fn run(&self, sql: &str) {
        access::run(&url_in(&self.folder, self.port, "postgres"), sql);
    }
}
