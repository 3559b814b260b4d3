//! A service over a seeded database, ready to be driven, and the bare server beside it.

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

/// Sessions of a seeded database, where there are as many people.
pub(crate) const SESSIONS: u64 = 100_000;
/// Sessions that the refresh rows rotate, one for each connection; the others are for bearers.
pub(crate) const ROTATED: usize = 64;

/// Where things are.
pub(crate) struct Places {
    /// The binary under test.
    pub(crate) latchkey: PathBuf,
    /// Where seeded databases are kept and copies of them run.
    pub(crate) folder: PathBuf,
    /// The folder in it for the copy that runs.
    pub(crate) run: &'static str,
    /// A seeded file to run on instead of one that is made here: for a binary that knows an older schema.
    pub(crate) seed: Option<PathBuf>,
    /// Where databases run, if not in files.
    pub(crate) cluster: Option<Arc<TestCluster>>,
}

/// What a service runs on.
pub(crate) struct Data {
    folder: PathBuf,
    database: Option<TestDatabase>,
}

/// A PostgreSQL of this machine that keeps what it answered, like one in earnest.
pub(crate) fn cluster() -> Result<TestCluster> {
    let settings = ["fsync=on", "synchronous_commit=on", "full_page_writes=on", "shared_buffers=512MB"];
    TestCluster::start(&settings).map_err(BenchError::other)
}

/// A running service and who is signed in there.
pub(crate) struct World {
    /// The service.
    pub(crate) service: Server,
    /// What it runs on; dropped after it.
    pub(crate) data: Data,
    /// Who is in its database.
    pub(crate) people: People,
    /// Access tokens of many people, picked evenly from all of them.
    pub(crate) bearers: Arc<Vec<Bearer>>,
    /// Cookies with their CSRF tokens.
    pub(crate) cookies: Vec<(String, String)>,
}

impl World {
    /// Whether the database is a process of its own.
    pub(crate) const fn is_remote(&self) -> bool {
        self.data.database.is_some()
    }
}

impl Places {
    /// A seeded file of so many people: made once, kept until the benchmark's folder is removed, and brought up to date.
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

    /// Fresh data of the seeded people; nothing for nobody.
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

    /// Copies a file's people into a database, by the command that an operator would use.
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

    /// The service on that data: the default settings, but without limits per client, for there is one client.
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

    /// The bare server.
    pub(crate) fn bare(&self) -> Result<Server> {
        let port = free_port()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["bare", &port.to_string()]);
        Server::start(command, port, "/bytes/2", &self.folder.join("bare.log"))
    }

    /// The engine's name.
    pub(crate) const fn engine(&self) -> &'static str {
        if self.cluster.is_some() { "PostgreSQL" } else { "SQLite" }
    }

    /// A service over a copy of the seeded database, with `bearers` signed in.
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

/// Fills a file with people.
pub(crate) fn seed(file: &Path, people: u64) -> Result<()> {
    let town = People::new(people, SESSIONS, wall_clock())?;
    latchkey_store_sqlite::seed(file, town.all())?;
    Ok(())
}
