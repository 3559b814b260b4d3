//! Bookkeeping of schema migrations, common to all engines: numbered, forward only, each applied once and never
//! changed. The engine applies the statements.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

/// First migration written once for all engines, in PostgreSQL's dialect.
const FIRST_SHARED: i64 = 14;

/// A migration.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// Number, counted from 1.
    pub version: i64,
    /// Name, which begins with the number.
    pub name: &'static str,
    /// SQL statements.
    pub sql: &'static str,
}

/// Reason to refuse a database.
#[derive(Debug, thiserror::Error)]
pub enum MigrationError {
    /// A newer binary has migrated the database.
    #[error("the database has migration {found}, this version knows {known} at most: use a newer version")]
    Newer {
        /// Newest migration of the database.
        found: i64,
        /// Newest migration of this binary.
        known: i64,
    },
    /// An applied migration differs from the one in this binary.
    #[error(
        "migration {0} of the database is not the one of this version: was the database made by another build?"
    )]
    Changed(i64),
    /// The tables belong to another application.
    #[error("the database holds tables of something else: give the service a database of its own")]
    Foreign,
    /// Target of an interrupted copy.
    #[error("the database holds an unfinished copy: run `latchkey copy` again, it resumes where it ended")]
    UnfinishedCopy,
    /// Encoding other than UTF-8.
    #[error("the database has the encoding {0}, it must be UTF8")]
    Encoding(String),
}

impl Migration {
    /// SQL statements in SQLite's dialect.
    #[must_use]
    pub fn sqlite(&self) -> Cow<'static, str> {
        if self.version < FIRST_SHARED {
            return Cow::Borrowed(self.sql);
        }
        Cow::Owned(WORDS.iter().fold(self.sql.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours)))
    }

    /// Recorded checksum: SHA-256 of the statements.
    #[must_use]
    pub fn checksum(&self) -> Vec<u8> {
        Sha256::digest(self.sql.as_bytes()).to_vec()
    }

    /// Known migrations missing among the applied ones (version and checksum), oldest first. Refuses a database
    /// migrated by a newer or a different binary.
    pub fn missing<'a>(
        known: &'a [Self],
        applied: &[(i64, Vec<u8>)],
    ) -> Result<Vec<&'a Self>, MigrationError> {
        let newest = known.last().map_or(0, |last| last.version);
        for (version, checksum) in applied {
            match known.iter().find(|migration| migration.version == *version) {
                None if *version > newest => {
                    return Err(MigrationError::Newer { found: *version, known: newest });
                }
                Some(migration) if migration.checksum() == *checksum => {}
                _ => return Err(MigrationError::Changed(*version)),
            }
        }
        let is_missing = |migration: &&Self| applied.iter().all(|(version, _)| *version != migration.version);
        Ok(known.iter().filter(is_missing).collect())
    }
}

/// Shared migration for email codes, issuers, code lanes and two-step sign-in.
pub const PROOFS: Migration =
    Migration { version: 14, name: "0014_proofs", sql: include_str!("../migrations/0014_proofs.sql") };

/// PostgreSQL's types and words, and SQLite's for them. The end of a table adds its kind: every shared table has
/// a primary key of its own, so none needs a rowid.
const WORDS: [(&str, &str); 9] = [
    (" COLLATE \"C\"", ""),
    ("BIGINT", "INTEGER"),
    ("BOOLEAN", "INTEGER"),
    ("BYTEA", "BLOB"),
    ("UUID", "BLOB"),
    ("octet_length(", "length("),
    ("greatest(", "max("),
    ("least(", "min("),
    ("\n);", "\n) STRICT, WITHOUT ROWID;"),
];

/// [`Migration`]s of an engine: those with a text of its own, in its folder `migrations`, and then those that all engines
/// share. Called from a file in `src`.
#[macro_export]
macro_rules! migrations {
    () => {
        $crate::migrations!(
            1 "0001_users",
            2 "0002_profiles",
            3 "0003_sessions",
            4 "0004_challenges",
            5 "0005_outbox",
            6 "0006_limits",
            7 "0007_settings",
            8 "0008_audit",
            9 "0009_search",
            10 "0010_health",
            11 "0011_oauth",
            12 "0012_search_feed",
            13 "0013_search_pending",
        )
    };
    ($($version:literal $file:literal,)*) => {
        &[$($crate::migrations::Migration {
            version: $version,
            name: $file,
            sql: include_str!(concat!("../migrations/", $file, ".sql")),
        },)*
        $crate::migrations::PROOFS,
        ]
    };
}
