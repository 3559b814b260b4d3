//! Throw-away PostgreSQL clusters for tests. Each process starts one from the installed packages, and each test gets a
//! database in it. A cluster listens only on a Unix socket in a temporary folder. It is removed when its process ends,
//! even by a crash.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use tokio_postgres::{Client, NoTls};

use latchkey_store_postgres::{Postgres, PostgresOptions};
use programs::{Programs, Watchdog};

pub use pooler::TestPooler;
pub use standby::TestStandby;

mod access;
pub mod counting_proxy;
pub mod holding_proxy;
mod pooler;
mod programs;
mod standby;

/// Shell script of the watchdog. It waits for the end of its input, then stops the cluster and removes its folder.
const STOP: &str = "cat >/dev/null; \"$0\" -D \"$1/data\" -m immediate -s stop; rm -rf \"$1\"";
/// Name of the template database, which has the current schema.
const TEMPLATE: &str = "latchkey_template";
/// Port number in the file name of the socket.
const DEFAULT_PORT: u16 = 5432;
/// Settings of the server. Durability is off, because the data need not survive a crash, and timeouts are short.
const SETTINGS: &[&str] = &[
    "fsync=off",
    "full_page_writes=off",
    "listen_addresses=",
    "max_connections=300",
    "shared_buffers=64MB",
    "autovacuum=off",
    "deadlock_timeout=200ms",
    "log_min_messages=fatal",
];

/// Failure to start a cluster, worded for the developer who runs the tests.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// PostgreSQL's programs are not installed.
    #[error("these tests need the Debian package `{0}`: install it with `apt-get install {0}`")]
    Missing(&'static str),
    /// A program of PostgreSQL or pgbouncer failed.
    #[error("`{program}` failed: {said}")]
    Failed {
        program: String,
        /// Output of the program.
        said: String,
    },
}

/// Running PostgreSQL cluster.
pub struct TestCluster {
    programs: Programs,
    options: String,
    folder: PathBuf,
    port: u16,
    orders: mpsc::Sender<Order>,
    next: AtomicU64,
    _watchdog: Watchdog,
}

/// Database of a cluster, which is dropped together with this value.
pub struct TestDatabase {
    name: String,
    url: String,
    orders: mpsc::Sender<Order>,
}

/// Request to the thread that creates and drops databases ([`start_clerk`]).
enum Order {
    Run(String, Option<mpsc::Sender<Result<(), String>>>),
}

impl TestCluster {
    /// Cluster of this process, which the first call starts.
    ///
    /// # Panics
    ///
    /// If PostgreSQL is not installed or does not start; the message states the remedy.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<TestCluster> = OnceLock::new();
        SHARED.get_or_init(|| match Self::start(&[]) {
            Ok(cluster) => cluster,
            Err(error) => panic!("{error}"),
        })
    }

    /// Starts a cluster with additional settings (`name=value`).
    pub fn start(settings: &[&str]) -> Result<Self, ClusterError> {
        let port = settings.iter().find_map(|setting| setting.strip_prefix("port=")?.parse().ok());
        let port = port.unwrap_or(DEFAULT_PORT);
        let programs = Programs::find("initdb", "postgresql")?;
        let folder = programs.make_folder()?;
        let watchdog = programs.watch(STOP, &[&programs.path("pg_ctl"), &folder])?;
        let data = folder.join("data");
        let data = data.to_string_lossy();
        programs.run(
            "initdb",
            &["-D", &data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"],
        )?;
        let mut options = format!("-c unix_socket_directories={}", folder.display());
        for setting in SETTINGS.iter().chain(settings) {
            options.push_str(" -c ");
            options.push_str(setting);
        }
        let orders = start_clerk(url_in(&folder, port, "postgres"));
        let next = AtomicU64::new(1);
        let cluster = Self { programs, options, folder, port, orders, next, _watchdog: watchdog };
        cluster.control("start")?;
        cluster.make_template()?;
        Ok(cluster)
    }

    /// Creates a database with the current schema and without rows.
    ///
    /// # Panics
    ///
    /// If the database cannot be created.
    pub fn database(&self) -> TestDatabase {
        self.copy_of(TEMPLATE)
    }

    /// Creates a database without tables.
    ///
    /// # Panics
    ///
    /// If the database cannot be created.
    pub fn bare_database(&self) -> TestDatabase {
        self.copy_of("template0")
    }

    /// Creates a database without tables, whose default collation is this ICU locale.
    ///
    /// # Panics
    ///
    /// If the database cannot be created.
    pub fn bare_database_of(&self, icu_locale: &str) -> TestDatabase {
        self.copy_of(&format!("template0 LOCALE_PROVIDER icu ICU_LOCALE '{icu_locale}'"))
    }

    /// Starts pgbouncer in front of this cluster, in transaction mode, with this number of server connections per
    /// database.
    ///
    /// # Panics
    ///
    /// If pgbouncer is not installed or does not start; the message states the remedy.
    pub fn pooler(&self, connections: u32) -> TestPooler {
        match TestPooler::start(&self.folder, self.port, connections) {
            Ok(pooler) => pooler,
            Err(error) => panic!("{error}"),
        }
    }

    /// Folder of the server's socket, for proxies.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Executes a statement as superuser, outside the tests' databases.
    ///
    /// # Panics
    ///
    /// If it fails.
    pub fn run(&self, sql: &str) {
        if let Err(error) = self.order(sql) {
            panic!("{error}");
        }
    }

    /// Stops the server immediately. Connections are cut, and the next start runs crash recovery.
    ///
    /// # Panics
    ///
    /// If it does not stop.
    pub fn halt(&self) {
        if let Err(error) = self.control("stop") {
            panic!("{error}");
        }
    }

    /// Starts a stopped server again.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn resume(&self) {
        if let Err(error) = self.control("start") {
            panic!("{error}");
        }
    }

    fn control(&self, verb: &str) -> Result<(), ClusterError> {
        let (data, log) = (self.folder.join("data"), self.folder.join("log"));
        let (data, log) = (data.to_string_lossy(), log.to_string_lossy());
        let mut arguments = vec!["-D", &*data, "-w", "-s"];
        match verb {
            "start" => arguments.extend(["-l", &*log, "-o", &self.options]),
            _ => arguments.extend(["-m", "immediate"]),
        }
        arguments.push(verb);
        self.programs.run("pg_ctl", &arguments)?;
        Ok(())
    }

    fn copy_of(&self, template: &str) -> TestDatabase {
        let name = format!("test_{}", self.next.fetch_add(1, Ordering::Relaxed));
        let create = format!("CREATE DATABASE {name} TEMPLATE {template}");
        // In a memory file system, copying files is faster than writing the WAL. Servers before version 15 do not know
        // the option and always copy files.
        if self.order(&format!("{create} STRATEGY file_copy")).is_err() {
            self.run(&create);
        }
        TestDatabase { url: url_in(&self.folder, self.port, &name), name, orders: self.orders.clone() }
    }

    fn make_template(&self) -> Result<(), ClusterError> {
        self.order(&format!("CREATE DATABASE {TEMPLATE} TEMPLATE template0"))?;
        let url = url_in(&self.folder, self.port, TEMPLATE);
        let migrated = thread::spawn(move || {
            let runtime = runtime()?;
            runtime.block_on(async {
                let store =
                    Postgres::connect(PostgresOptions::new(url)).await.map_err(|error| full_text(&error))?;
                store.migrate().await.map_err(|error| full_text(&error))
            })
        });
        let outcome = migrated.join().unwrap_or_else(|_| Err("it panicked".to_owned()));
        outcome.map_err(|said| ClusterError::Failed { program: "migrate".to_owned(), said })
    }

    fn order(&self, sql: &str) -> Result<(), ClusterError> {
        let (reply, answer) = mpsc::channel();
        let failed = |said: String| ClusterError::Failed { program: sql.to_owned(), said };
        self.orders
            .send(Order::Run(sql.to_owned(), Some(reply)))
            .map_err(|_| failed("the cluster is gone".to_owned()))?;
        answer.recv().unwrap_or_else(|_| Err("the cluster is gone".to_owned())).map_err(failed)
    }
}

impl TestDatabase {
    /// URL for [`PostgresOptions`].
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Executes statements in the database, as superuser.
    ///
    /// # Panics
    ///
    /// If one fails.
    pub fn run(&self, sql: &str) {
        access::run(&self.url, sql);
    }

    /// Returns all rows of all tables as raw bytes, to search them for secrets.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        access::bytes(&self.url)
    }

    /// Returns all rows of all tables as text, each with the name of its table, to compare two states.
    #[must_use]
    pub fn rows(&self) -> Vec<String> {
        access::rows(&self.url)
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let sql = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        let _ = self.orders.send(Order::Run(sql, None));
    }
}

fn url_in(folder: &Path, port: u16, database: &str) -> String {
    format!("postgres:///{database}?host={}&port={port}&user=postgres", folder.display())
}

fn full_text(error: &latchkey_store::StoreError) -> String {
    use std::error::Error as _;
    let source = error.source().map(|source| format!("{source} ({:?})", source.source()));
    format!("{error}: {}", source.unwrap_or_default())
}

fn runtime() -> Result<tokio::runtime::Runtime, String> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())
}

/// Starts the thread that creates and drops databases. A database is dropped by a destructor, which has no async
/// runtime and must not block.
fn start_clerk(url: String) -> mpsc::Sender<Order> {
    let (orders, waiting) = mpsc::channel();
    thread::spawn(move || {
        let Ok(runtime) = runtime() else { return };
        runtime.block_on(async {
            let mut client: Option<Client> = None;
            while let Ok(Order::Run(sql, reply)) = waiting.recv() {
                let outcome = obey(&url, &mut client, &sql).await;
                if let Some(reply) = reply {
                    let _ = reply.send(outcome);
                }
            }
        });
    });
    orders
}

/// Executes a statement. Opens a new connection if the server was restarted.
async fn obey(url: &str, client: &mut Option<Client>, sql: &str) -> Result<(), String> {
    if client.as_ref().is_none_or(Client::is_closed) {
        let (new, connection) =
            tokio_postgres::connect(url, NoTls).await.map_err(|error| error.to_string())?;
        tokio::spawn(connection);
        *client = Some(new);
    }
    let Some(client) = client else { return Err("no connection".to_owned()) };
    client.batch_execute(sql).await.map_err(|error| {
        error.as_db_error().map_or_else(|| error.to_string(), |said| said.message().to_owned())
    })
}
