//! Service on a seeded database, ready for load, and the baseline server.

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

/// Admin key of the services under test.
pub(crate) const ADMIN_KEY: &str = "admin-key-of-the-benchmark-0123456789";
/// Maximum number of sessions in a seeded database.
pub(crate) const SESSIONS: u64 = 100_000;
/// Number of sessions whose refresh tokens the measured refreshes use, one per connection. The other sessions provide
/// access tokens.
pub(crate) const ROTATED: usize = 64;

/// Paths that a run uses.
pub(crate) struct Places {
    /// Binary under test.
    pub(crate) latchkey: PathBuf,
    /// Folder of seeded databases and running copies.
    pub(crate) folder: PathBuf,
    /// Name of the subfolder for the running copy of the data.
    pub(crate) run: &'static str,
    /// Seeded file to use instead of a generated one, for a binary with an older schema.
    pub(crate) seed: Option<PathBuf>,
    /// PostgreSQL cluster; `None` for SQLite.
    pub(crate) cluster: Option<Arc<TestCluster>>,
}

/// Data that a running service uses.
pub(crate) struct Data {
    folder: PathBuf,
    database: Option<TestDatabase>,
}

impl Data {
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Starts a PostgreSQL cluster with full durability, as in production.
pub(crate) fn cluster() -> Result<TestCluster> {
    let settings = ["fsync=on", "synchronous_commit=on", "full_page_writes=on", "shared_buffers=512MB"];
    TestCluster::start(&settings).map_err(BenchError::other)
}

/// Running service with its signed-in users.
pub(crate) struct World {
    /// The service.
    pub(crate) service: Server,
    /// Data of the service; dropped after it.
    pub(crate) data: Data,
    /// Population of its database.
    pub(crate) people: People,
    /// Access tokens of many people, evenly distributed over the population.
    pub(crate) bearers: Arc<Vec<Bearer>>,
    /// Cookies of web sessions, each with its CSRF token.
    pub(crate) cookies: Vec<(String, String)>,
}

impl World {
    /// True if the database runs in a separate process.
    pub(crate) const fn is_remote(&self) -> bool {
        self.data.database.is_some()
    }
}

impl Places {
    /// Path of a seeded file with this many people, migrated to the current schema. It is generated once and kept until
    /// the benchmark's folder is removed.
    pub(crate) fn seeded(&self, people: u64) -> Result<PathBuf> {
        if let Some(file) = &self.seed {
            return Ok(file.clone());
        }
        let file = self.folder.join(format!("seed-{people}.db"));
        if file.exists() {
            drop(Sqlite::open(&file).map_err(BenchError::other)?);
        } else {
            let unfinished = self.folder.join("seed-unfinished.db");
            // An interrupted seed leaves its log too, beside which no new file would be made.
            for left in [&unfinished, &self.folder.join("seed-unfinished.db-wal")] {
                let _ = std::fs::remove_file(left);
            }
            seed(&unfinished, people)?;
            std::fs::rename(&unfinished, &file)?;
        }
        Ok(file)
    }

    /// Copies the seeded data for a run; the data is empty for zero people.
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

    /// Copies a SQLite file into a PostgreSQL database with the command `latchkey copy`.
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

    /// Starts the service on this data with default settings, but without limits per client, because there is a single
    /// client.
    pub(crate) fn start(&self, data: &Data) -> Result<Server> {
        let port = free_port()?;
        let mut command = self.command(data);
        command.args(["--set", &format!("server.bind=127.0.0.1:{port}"), "serve"]);
        Server::start(command, port, "/health/live", &data.folder.join("latchkey.log"))
    }

    /// Returns a command of the binary under test, on this data and without a subcommand yet.
    pub(crate) fn command(&self, data: &Data) -> Command {
        let mut settings = vec![
            format!("data.dir={}", data.folder.display()),
            "auth.require_email_verification=false".to_owned(),
            "limits.enabled=false".to_owned(),
            format!("admin.api_key={ADMIN_KEY}"),
        ];
        if let Some(database) = &data.database {
            settings.push(format!("storage.url={}", database.url()));
        }
        let mut command = Command::new(&self.latchkey);
        command.current_dir(&data.folder);
        for setting in &settings {
            command.args(["--set", setting]);
        }
        command
    }

    /// Starts the baseline server.
    pub(crate) fn bare(&self) -> Result<Server> {
        let port = free_port()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["bare", &port.to_string()]);
        Server::start(command, port, "/bytes/2", &self.folder.join("bare.log"))
    }

    /// Name of the storage engine.
    pub(crate) const fn engine(&self) -> &'static str {
        if self.cluster.is_some() { "PostgreSQL" } else { "SQLite" }
    }

    /// Starts the service on a copy of the seeded database, and signs `bearers` people in.
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

/// Makes a seeded file with this many people.
pub(crate) fn seed(file: &Path, people: u64) -> Result<()> {
    let town = People::new(people, SESSIONS, wall_clock())?;
    latchkey_store_sqlite::seed(file, town.all())?;
    Ok(())
}
