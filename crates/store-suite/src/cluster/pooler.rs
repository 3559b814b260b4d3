//! Connection pooler (pgbouncer) in front of a cluster.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::programs::{Programs, Watchdog};
use super::{ClusterError, DEFAULT_PORT, TestDatabase, url_in};

/// Shell script that runs the pooler until its input ends, and then removes the pooler's folder.
const RUN: &str = "\"$0\" -q \"$1/pgbouncer.ini\" & pid=$!; cat >/dev/null; kill -9 $pid; rm -rf \"$1\"";
/// Maximum number of readiness checks after the start.
const LOOKS: u32 = 200;
/// Interval of the readiness checks.
const PAUSE: Duration = Duration::from_millis(25);

/// A running pgbouncer in transaction mode.
pub struct TestPooler {
    folder: PathBuf,
    _watchdog: Watchdog,
}

impl TestPooler {
    /// Starts pgbouncer in front of the cluster whose socket is in the folder `cluster`.
    pub(super) fn start(cluster: &Path, port: u16, connections: u32) -> Result<Self, ClusterError> {
        let programs = Programs::find("pgbouncer", "pgbouncer")?;
        let folder = programs.make_folder()?;
        let failed = |said: String| ClusterError::Failed { program: "pgbouncer".to_owned(), said };
        let settings = format!(
            "[databases]\n* = host={} port={port} user=postgres\n[pgbouncer]\nunix_socket_dir = {}\nlisten_port = {DEFAULT_PORT}\n\
             auth_type = any\npool_mode = transaction\ndefault_pool_size = {connections}\nmax_client_conn = 500\n\
             query_wait_timeout = 30\n",
            cluster.display(),
            folder.display()
        );
        let file = folder.join("pgbouncer.ini");
        fs::write(&file, settings).map_err(|error| failed(error.to_string()))?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644))
            .map_err(|error| failed(error.to_string()))?;
        let watchdog = programs.watch(RUN, &[&programs.path("pgbouncer"), &folder])?;
        let pooler = Self { folder, _watchdog: watchdog };
        pooler.wait().map_err(failed)?;
        Ok(pooler)
    }

    /// URL of a database through the pooler.
    #[must_use]
    pub fn url(&self, database: &TestDatabase) -> String {
        url_in(&self.folder, DEFAULT_PORT, database.name())
    }

    #[expect(clippy::disallowed_methods, reason = "another process starts, before any test runs")]
    fn wait(&self) -> Result<(), String> {
        for _ in 0..LOOKS {
            if self.folder.join(format!(".s.PGSQL.{DEFAULT_PORT}")).exists() {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
        Err("it does not start".to_owned())
    }
}
