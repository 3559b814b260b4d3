//! A service over a seeded database, ready to be driven, and the bare server beside it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

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
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// The binary under test.
    pub(crate) latchkey: PathBuf,
    /// Where seeded databases are kept and copies of them run.
    pub(crate) folder: PathBuf,
}

/// A running service and who is signed in there.
pub(crate) struct World {
    /// The service.
    pub(crate) service: Server,
    /// Who is in its database.
    pub(crate) people: People,
    /// Access tokens of many people, picked evenly from all of them.
    pub(crate) bearers: Arc<Vec<Bearer>>,
    /// Cookies with their CSRF tokens.
    pub(crate) cookies: Vec<(String, String)>,
}

impl Places {
    /// A seeded file of so many people: made once, kept until the benchmark's folder is removed.
    pub(crate) fn seeded(&self, people: u64) -> Result<PathBuf> {
        let file = self.folder.join(format!("seed-{people}.db"));
        if !file.exists() {
            let unfinished = self.folder.join("seed-unfinished.db");
            let _ = std::fs::remove_file(&unfinished);
            seed(&unfinished, people)?;
            std::fs::rename(&unfinished, &file)?;
        }
        Ok(file)
    }

    /// A fresh folder with a copy of the seeded file; an empty one for nobody.
    pub(crate) fn fresh_data(&self, people: u64) -> Result<PathBuf> {
        let data = self.folder.join("run");
        let _ = std::fs::remove_dir_all(&data);
        std::fs::create_dir_all(&data)?;
        if people > 0 {
            std::fs::copy(self.seeded(people)?, data.join("latchkey.db"))?;
        }
        Ok(data)
    }

    /// The service on that folder: the default settings, but without limits per client, for there is one client.
    pub(crate) fn start(&self, data: &Path) -> Result<Server> {
        let port = free_port()?;
        let mut command = Command::new(&self.latchkey);
        command.current_dir(data);
        for setting in [
            format!("server.bind=127.0.0.1:{port}"),
            format!("data.dir={}", data.display()),
            "auth.require_email_verification=false".to_owned(),
            "limits.enabled=false".to_owned(),
        ] {
            command.args(["--set", &setting]);
        }
        command.arg("serve");
        Server::start(command, port, "/health/live", &data.join("latchkey.log"))
    }

    /// The bare server.
    pub(crate) fn bare(&self) -> Result<Server> {
        let port = free_port()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["bare", &port.to_string()]);
        Server::start(command, port, "/bytes/2", &self.folder.join("bare.log"))
    }

    /// A service over a copy of the seeded database, with `bearers` signed in.
    pub(crate) fn world(&self, count: u64, bearers: usize) -> Result<World> {
        let service = self.start(&self.fresh_data(count)?)?;
        let people = People::new(count, SESSIONS, wall_clock())?;
        let load = Load {
            address: service.address,
            connections: 32,
            rate: None,
            warm_up: Duration::ZERO,
            length: Duration::from_secs(120),
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
        Ok(World { service, people, bearers, cookies })
    }
}

/// Fills a file with people.
pub(crate) fn seed(file: &Path, people: u64) -> Result<()> {
    let town = People::new(people, SESSIONS, wall_clock())?;
    latchkey_store_sqlite::seed(file, town.all())?;
    Ok(())
}
