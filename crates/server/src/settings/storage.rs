//! Section `storage`: the database.

use std::path::PathBuf;
use std::time::Duration;

use latchkey_store_postgres::{PostgresOptions, Prepared};

use super::address;
use super::problem::Problems;
use super::reader::Reader;
use super::secret::Secret;

/// Section `storage`.
#[derive(Debug)]
pub struct StorageSettings {
    /// Which engine, and where its data is.
    pub url: StorageUrl,
    /// Whether a SQLite file that is missing is made.
    pub create: bool,
    /// SQLite: whether a connection keeps its snapshot between reads.
    pub snapshot_reuse: bool,
    /// How PostgreSQL is spoken to.
    pub postgres: PostgresSettings,
}

/// Where the data is.
#[derive(Debug)]
pub enum StorageUrl {
    /// `sqlite:PATH`, relative to the working directory.
    Sqlite(PathBuf),
    /// `postgres://…`, which may hold a password.
    Postgres(Secret),
}

impl StorageUrl {
    /// Reads an address as it stands in the settings. The refusal never repeats a password.
    pub fn parse(text: &str) -> Result<Self, String> {
        let is_postgres = ["postgres:", "postgresql:"].iter().any(|scheme| text.starts_with(scheme));
        if is_postgres { parse_postgres(text) } else { parse_sqlite(text).map_err(str::to_owned) }
    }

    /// For people: without a password.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Sqlite(path) => path.display().to_string(),
            Self::Postgres(url) => address::without_password(url.reveal()),
        }
    }
}

/// How PostgreSQL is spoken to: `storage.postgres`.
#[derive(Debug, Clone)]
pub struct PostgresSettings {
    /// Most connections of this process; 0 is by the number of cores.
    pub pool_size: usize,
    /// How long one statement may take.
    pub statement_timeout: Duration,
    /// How long an operation waits for a free connection.
    pub acquire_timeout: Duration,
    /// How long making a connection to one host may take.
    pub connect_timeout: Duration,
    /// Connections that were idle for so long are closed.
    pub idle_timeout: Duration,
    /// Whether statements are prepared under a name.
    pub prepared: Prepared,
    /// Certificate authorities in place of the public ones.
    pub ca_file: Option<PathBuf>,
    /// Whether a connection of its own waits for changes of settings and keys.
    pub listen: bool,
}

impl PostgresSettings {
    /// What the engine is told, for the database at this address.
    #[must_use]
    pub fn options(&self, url: &str) -> PostgresOptions {
        let default = PostgresOptions::new(url);
        PostgresOptions {
            pool_size: if self.pool_size == 0 { default.pool_size } else { self.pool_size },
            statement_timeout: self.statement_timeout,
            acquire_timeout: self.acquire_timeout,
            connect_timeout: self.connect_timeout,
            idle_timeout: self.idle_timeout,
            prepared: self.prepared,
            ca_file: self.ca_file.clone(),
            ..default
        }
    }

    fn read(reader: &Reader<'_>) -> Self {
        let is_named = reader.text("storage.postgres.prepared_statements") == "named";
        Self {
            pool_size: reader.number("storage.postgres.pool_size"),
            statement_timeout: reader.duration("storage.postgres.statement_timeout"),
            acquire_timeout: reader.duration("storage.postgres.acquire_timeout"),
            connect_timeout: reader.duration("storage.postgres.connect_timeout"),
            idle_timeout: reader.duration("storage.postgres.idle_timeout"),
            prepared: if is_named { Prepared::Named } else { Prepared::Never },
            ca_file: reader.optional_text("storage.postgres.ca_file").map(PathBuf::from),
            listen: reader.flag("storage.postgres.listen"),
        }
    }
}

impl StorageSettings {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let url = reader.parse("storage.url", StorageUrl::parse);
        Self {
            url: url.unwrap_or_else(|| StorageUrl::Sqlite(PathBuf::new())),
            create: reader.flag("storage.create"),
            snapshot_reuse: reader.flag("storage.sqlite_snapshot_reuse"),
            postgres: PostgresSettings::read(reader),
        }
    }

    /// The rules between keys.
    pub(super) fn check(&self, request_timeout: Duration, problems: &mut Problems) {
        const STATEMENT: &str = "storage.postgres.statement_timeout";
        const ACQUIRE: &str = "storage.postgres.acquire_timeout";
        let postgres = &self.postgres;
        for (key, timeout) in [(STATEMENT, postgres.statement_timeout), (ACQUIRE, postgres.acquire_timeout)] {
            if timeout >= request_timeout {
                let sentence = "it is not shorter than server.request_timeout, so a request would be given up \
                                before the database is; make it shorter";
                problems.rule(&[key, "server.request_timeout"], sentence);
            }
        }
    }

    /// How long the database can keep a request: it may wait for its turn in the pool, then for a connection to each of
    /// the hosts, then for its statement. `None` on SQLite.
    #[must_use]
    pub fn longest_wait(&self) -> Option<Duration> {
        let StorageUrl::Postgres(url) = &self.url else { return None };
        let postgres = &self.postgres;
        Some(postgres.options(url.reveal()).longest_wait())
    }
}

fn parse_postgres(text: &str) -> Result<StorageUrl, String> {
    let plain = "a password with @ : / ? # & or % in it has to be percent-encoded (@ is %40)";
    if text.matches('@').count() > 1 {
        return Err(plain.to_owned());
    }
    // The driver's own words name at most a parameter, never a value.
    PostgresOptions::new(text).check().map_err(|error| latchkey_http::error::chain_of(&error))?;
    Ok(StorageUrl::Postgres(Secret::new(text.to_owned())))
}

fn parse_sqlite(text: &str) -> Result<StorageUrl, &'static str> {
    let wanted = "wanted sqlite: and the path of a file, such as sqlite:./latchkey-data/latchkey.db, or \
                  postgres://user@host/database?sslmode=verify-full";
    let path = text.strip_prefix("sqlite:").ok_or(wanted)?;
    if path.starts_with("//") {
        return Err("write the path right after the colon: sqlite:relative/path or sqlite:/absolute/path");
    }
    if path.contains(['?', '#']) {
        return Err("options behind the path are not known; write the path alone");
    }
    if path.starts_with(':') || path.ends_with('/') || path.is_empty() || path.contains('\0') {
        return Err(wanted);
    }
    Ok(StorageUrl::Sqlite(PathBuf::from(path)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_path_stands_right_after_the_colon() {
        for path in ["data/latchkey.db", "/var/lib/latchkey/latchkey.db", "./x.db"] {
            let url = StorageUrl::parse(&format!("sqlite:{path}"));
            assert!(matches!(url, Ok(StorageUrl::Sqlite(found)) if found.as_os_str() == path));
        }
    }

    #[test]
    fn an_address_of_a_server_is_taken_with_its_parameters() {
        for text in [
            "postgres://u:p@db.example/accounts?sslmode=disable",
            "postgresql://u@a:5432,b:5433/accounts?target_session_attrs=read-write&sslmode=verify-full",
            "postgres:///accounts?host=/run/postgresql&user=latchkey",
        ] {
            assert!(matches!(StorageUrl::parse(text), Ok(StorageUrl::Postgres(_))), "{text}");
        }
    }

    #[test]
    fn other_forms_are_refused() {
        for text in [
            "mysql://host/db",
            "postgres:host/db",
            "postgres://u@host",
            "postgres://u@host/db",
            "postgres://u:p@ss@host/db",
            "postgres://u@host/db?sslmode=prefer",
            "postgres://u@host/db?nonsense=1",
            "data.db",
            "sqlite:",
            "sqlite::memory:",
            "sqlite://data.db",
            "sqlite:///data.db",
            "sqlite:data.db?mode=ro",
            "sqlite:folder/",
        ] {
            assert!(StorageUrl::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_password_is_shown_nowhere() {
        let url = StorageUrl::parse("postgres://ada:hunter2@localhost/accounts").unwrap();
        assert_eq!(url.shown(), "postgres://ada:***@localhost/accounts");
        assert!(!format!("{url:?}").contains("hunter2"));
    }
}
