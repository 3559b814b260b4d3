//! Sections `storage` and `storage.postgres`: the database and its connection pool.

use std::path::PathBuf;
use std::time::Duration;

use latchkey_settings::{Entries, Kind, Problems, Reader, Secret, Value, settings, without_password};
use latchkey_store_postgres::{PostgresOptions, Prepared};
use latchkey_store_sqlite::LogAtClose;

use super::{data_folder, in_development};

settings! {
    /// Settings of section `storage`.
    #[derive(Debug)]
    pub struct StorageSettings {
        /// URL of the database. "sqlite:PATH", relative to the working directory, is a file on one machine;
        /// "postgres://user:password@host:5432/database" is a PostgreSQL database for any number of instances.
        /// Several hosts are separated by commas, and the writable one is used (target_session_attrs is "read-write" by
        /// default); a Unix socket is "postgres:///database?host=/run/postgresql". A host on another machine needs an
        /// sslmode: "verify-full", or "disable" for a trusted network. Loopback addresses and Unix sockets need none.
        /// The URL may be read from a file, like a secret: LATCHKEY__STORAGE__URL_FILE. Not set: "sqlite:" and
        /// latchkey.db inside data.dir.
        "storage.url" => url: StorageUrl [Kind::Address] | read_url =
            in_data_folder, "sqlite:./latchkey-data/latchkey.db";
        /// Create a SQLite file that is missing or empty at the start. If off, the start is refused, so that an
        /// unmounted disk does not lead to an empty service; `latchkey migrate` creates the file. Development: true.
        /// Production: false.
        "storage.create" => create: bool = creates, false;
        /// SQLite only: a connection reuses its snapshot between reads while nothing is written, which saves a fifth of
        /// the processor time of GET /api/profiles/me. It detects commits by the first 48 bytes of the file "-shm". If
        /// off, every read begins its own transaction.
        "storage.sqlite_snapshot_reuse" => snapshot_reuse: bool = true;
        /// SQLite only: Litestream, or another program, replicates the log. The service then never checkpoints or truncates
        /// it, also when it stops: the replicator does. Without one the file "-wal" grows for ever.
        "storage.sqlite.replicated" => is_replicated: bool = false;
    }
}

settings! {
    /// Settings of section `storage.postgres`.
    #[derive(Debug, Clone)]
    pub struct PostgresSettings {
        /// Maximum number of connections from this process to the database, 0 to 10000; 0 is four per core, at least 8
        /// and at most 32. All instances together must stay below the server's max_connections.
        "storage.postgres.pool_size" => pool_size: usize [0..=10_000] = 0;
        /// Timeout of one statement on the server, and of an operation that waits for a free connection; after it the
        /// response is 503 STORAGE_UNAVAILABLE. Both are shorter than server.request_timeout.
        "storage.postgres.statement_timeout" => statement_timeout: Duration = "5s";
        "storage.postgres.acquire_timeout" => acquire_timeout: Duration = "3s";
        /// Timeout of a connection attempt to one host.
        "storage.postgres.connect_timeout" => connect_timeout: Duration = "3s";
        /// Idle connections are closed after this time.
        "storage.postgres.idle_timeout" => idle_timeout: Duration = "5m";
        /// "auto" prepares each statement once per direct connection, which is less work for the server, and prepares
        /// none behind a pooler that shares connections: there a statement's name can belong to another client. Each
        /// connection is checked. "never" prepares none. "named" prepares without a check: for a pooler that keeps the
        /// names of its clients apart (pgbouncer from 1.21 with max_prepared_statements, or in session mode).
        "storage.postgres.prepared_statements" => prepared: Prepared {
            "auto" => Prepared::Auto,
            "never" => Prepared::Never,
            "named" => Prepared::Named,
        } = "auto";
        /// PEM file with the certificate authorities that may sign the server's certificate, in place of the public
        /// ones. Not set: those of sslrootcert in storage.url, or the public ones.
        "storage.postgres.ca_file" => ca_file: Option<PathBuf> = "";
        /// Use one more connection to be notified (LISTEN) when other instances change settings or signing keys.
        /// Changes are also polled every 0.4 s, so they arrive without it too. Switch it off behind a pooler in
        /// transaction mode.
        "storage.postgres.listen" => listen: bool = true;
    }
}

#[derive(Debug)]
pub enum StorageUrl {
    /// Path of a SQLite file, relative to the working directory.
    Sqlite(PathBuf),
    /// URL of a PostgreSQL database, which may contain a password.
    Postgres(Secret),
}

impl StorageUrl {
    /// Parses the URL. The error message contains no password.
    pub fn parse(text: &str) -> Result<Self, String> {
        let is_postgres = ["postgres:", "postgresql:"].iter().any(|scheme| text.starts_with(scheme));
        if is_postgres { parse_postgres(text) } else { parse_sqlite(text).map_err(str::to_owned) }
    }

    /// Formats the URL without a password: the path, or the redacted URL.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Sqlite(path) => path.display().to_string(),
            Self::Postgres(url) => without_password(url.reveal()),
        }
    }
}

impl StorageSettings {
    /// Returns what becomes of the SQLite log at the end of a process.
    #[must_use]
    pub const fn log_at_close(&self) -> LogAtClose {
        if self.is_replicated { LogAtClose::Kept } else { LogAtClose::Folded }
    }
}

impl PostgresSettings {
    /// Returns the options of the PostgreSQL engine for the database at this URL.
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

    /// Checks that the timeouts of the database are shorter than `server.request_timeout`.
    pub(super) fn check(&self, request_timeout: Duration, problems: &mut Problems) {
        const STATEMENT: &str = "storage.postgres.statement_timeout";
        const ACQUIRE: &str = "storage.postgres.acquire_timeout";
        for (key, timeout) in [(STATEMENT, self.statement_timeout), (ACQUIRE, self.acquire_timeout)] {
            if timeout >= request_timeout {
                let sentence = "it is not shorter than server.request_timeout, so a request would time out before \
                                the database does; make it shorter";
                problems.rule(&[key, "server.request_timeout"], sentence);
            }
        }
    }

    /// Computes the longest time that a request can wait for the database: in the queue of the pool, for a connection
    /// to each host, and for the statement. `None` with SQLite.
    #[must_use]
    pub fn longest_wait(&self, url: &StorageUrl) -> Option<Duration> {
        let StorageUrl::Postgres(url) = url else { return None };
        Some(self.options(url.reveal()).longest_wait())
    }
}

fn read_url(reader: &mut Reader<'_>, key: &'static str) -> StorageUrl {
    reader.parse(key, StorageUrl::parse).unwrap_or_else(|| StorageUrl::Sqlite(PathBuf::new()))
}

#[expect(clippy::unnecessary_wraps, reason = "the type of a setting's default")]
fn in_data_folder(entries: &Entries) -> Option<Value> {
    Some(Value::Text(format!("sqlite:{}/latchkey.db", data_folder(entries))))
}

/// Returns the default of `storage.create`: on in development mode only.
#[expect(clippy::unnecessary_wraps, reason = "the type of a setting's default")]
fn creates(entries: &Entries) -> Option<Value> {
    Some(Value::Boolean(in_development(entries)))
}

fn parse_postgres(text: &str) -> Result<StorageUrl, String> {
    let plain = "a password with @ : / ? # & or % in it has to be percent-encoded (@ is %40)";
    if text.matches('@').count() > 1 {
        return Err(plain.to_owned());
    }
    // The error message of the driver may name a parameter, but never contains a value.
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
