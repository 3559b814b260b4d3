//! A service on a seeded database, ready for load, and the baseline server.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use latchkey_store_sqlite::Sqlite;
use latchkey_store_suite::cluster::{TestCluster, TestDatabase};

use crate::error::{BenchError, Result};
use crate::load::{Load, drive};
use crate::people::People;
use crate::process::{Server, free_port};
use crate::scripts::{Bearer, Collect, SignIn};
use crate::time::wall_clock;

/// Sessions of a seeded database, if it has as many people.
pub(crate) const SESSIONS: u64 = 100_000;
/// Sessions that the refresh rows rotate, one per connection; the others are for bearers.
pub(crate) const ROTATED: usize = 64;

/// Paths of a run.
pub(crate) struct Places {
    /// Binary under test.
    pub(crate) latchkey: PathBuf,
    /// Folder of seeded databases and running copies.
    pub(crate) folder: PathBuf,
    /// Subfolder of the running copy.
    pub(crate) run: &'static str,
    /// Existing seeded file to use instead of a generated one: for a binary with an older schema.
    pub(crate) seed: Option<PathBuf>,
    /// PostgreSQL cluster; `None` for files.
    pub(crate) cluster: Option<Arc<TestCluster>>,
}

/// Data of a running service.
pub(crate) struct Data {
    folder: PathBuf,
    database: Option<TestDatabase>,
}

/// PostgreSQL cluster with full durability, as in production.
pub(crate) fn cluster() -> Result<TestCluster> {
    let settings = ["fsync=on", "synchronous_commit=on", "full_page_writes=on", "shared_buffers=512MB"];
    TestCluster::start(&settings).map_err(BenchError::other)
}

/// A running service and its signed-in users.
pub(crate) struct World {
    /// The service.
    pub(crate) service: Server,
    /// Its data; dropped after the service.
    pub(crate) data: Data,
    /// Population of its database.
    pub(crate) people: People,
    /// Access tokens of many people, evenly spread.
    pub(crate) bearers: Arc<Vec<Bearer>>,
    /// Cookies with their CSRF tokens.
    pub(crate) cookies: Vec<(String, String)>,
}

impl World {
    /// True if the database is a separate process.
    pub(crate) const fn is_remote(&self) -> bool {
        self.data.database.is_some()
    }
}

impl Places {
    /// Seeded file with a number of people: generated once, kept until the benchmark's folder is removed, and
    /// migrated.
    pub(crate) fn seeded(&self, people: u64) -> Result<PathBuf> {
        if let Some(file) = &self.seed {
            return Ok(file.clone());
        }
        let file = self.folder.join(format!("seed-{people}.db"));
        if file.exists() {
            drop(Sqlite::open(&file).map_err(BenchError::other)?);
        } else {
            let unfinished = self.folder.join("seed-unfinished.db");
            let _ = std::fs::remove_file(&unfinished);
            seed(&unfinished, people)?;
            std::fs::rename(&unfinished, &file)?;
        }
        Ok(file)
    }

    /// Fresh copy of the seeded data; empty for zero people.
    pub(crate) fn fresh_data(&self, people: u64) -> Result<Data> {
        let folder = self.folder.join(self.run);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder)?;
        let database = self.cluster.as_ref().map(|cluster| cluster.bare_database());
        if people > 0 {
            let seeded = self.seeded(people)?;
            match &database {
                Some(database) => self.copy(&seeded, &folder, database)?,
                None => std::fs::copy(seeded, folder.join("latchkey.db")).map(|_| ())?,
            }
        }
        Ok(Data { folder, database })
    }

    /// Copies a file's people into a database, by the operator's command.
    fn copy(&self, file: &Path, folder: &Path, database: &TestDatabase) -> Result<()> {
        let mut command = Command::new(&self.latchkey);
        command.current_dir(folder).stdout(Stdio::null());
        command.args(["--set", &format!("data.dir={}", folder.display())]);
        command.args(["--set", &format!("storage.url={}", database.url())]);
        command.args(["copy", "--from", &format!("sqlite:{}", file.display())]);
        let status = command.status()?;
        if status.success() {
            database.run("ANALYZE");
            return Ok(());
        }
        Err(BenchError::Server(format!("`latchkey copy` failed ({status})")))
    }

    /// Starts the service on that data, with default settings but without limits per client, because there is a
    /// single client.
    pub(crate) fn start(&self, data: &Data) -> Result<Server> {
        let port = free_port()?;
        let mut settings = vec![
            format!("server.bind=127.0.0.1:{port}"),
            format!("data.dir={}", data.folder.display()),
            "auth.require_email_verification=false".to_owned(),
            "limits.enabled=false".to_owned(),
        ];
        if let Some(database) = &data.database {
            settings.push(format!("storage.url={}", database.url()));
            settings.push("storage.postgres.prepared_statements=named".to_owned());
        }
        let mut command = Command::new(&self.latchkey);
        command.current_dir(&data.folder);
        for setting in &settings {
            command.args(["--set", setting]);
        }
        command.arg("serve");
        Server::start(command, port, "/health/live", &data.folder.join("latchkey.log"))
    }

    /// Starts the baseline server.
    pub(crate) fn bare(&self) -> Result<Server> {
        let port = free_port()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["bare", &port.to_string()]);
        Server::start(command, port, "/bytes/2", &self.folder.join("bare.log"))
    }

    /// Name of the engine.
    pub(crate) const fn engine(&self) -> &'static str {
        if self.cluster.is_some() { "PostgreSQL" } else { "SQLite" }
    }

    /// Service on a copy of the seeded database, with `bearers` signed in.
    pub(crate) fn world(&self, count: u64, bearers: usize) -> Result<World> {
        let data = self.fresh_data(count)?;
        let service = self.start(&data)?;
        let people = People::new(count, SESSIONS, wall_clock())?;
        let load = Load {
            address: service.address,
            connections: 32,
            rate: None,
            warm_up: Duration::ZERO,
            length: Duration::from_mins(2),
        };
        let sessions: Vec<u64> = people.with_session().skip(ROTATED).collect();
        let step = (sessions.len() / bearers.max(1)).max(1);
        let mut collect = Collect::new(sessions.into_iter().step_by(step).collect());
        drive(&load, &mut collect)?;
        if collect.bearers.is_empty() {
            return Err(BenchError::Server("the seeded sessions give no access tokens".to_owned()));
        }
        let mut sign_in = SignIn::new(count, 16);
        drive(&Load { connections: 4, ..load }, &mut sign_in)?;
        let (bearers, cookies) = (Arc::new(collect.bearers), sign_in.cookies);
        Ok(World { service, data, people, bearers, cookies })
    }
}

/// Seeds a file with people.
pub(crate) fn seed(file: &Path, people: u64) -> Result<()> {
    let town = People::new(people, SESSIONS, wall_clock())?;
    latchkey_store_sqlite::seed(file, town.all())?;
    Ok(())
}
