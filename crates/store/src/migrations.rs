//! The bookkeeping of migrations, which every engine keeps alike: numbered steps, forward only, each applied once and
//! never changed. How a step is applied is the engine's part.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

/// The first migration whose text is the same for all engines, in PostgreSQL's words.
const FIRST_SHARED: i64 = 14;

/// One step of a schema.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// Its number, counted from 1.
    pub version: i64,
    /// Its name, which begins with the number.
    pub name: &'static str,
    /// Its statements.
    pub sql: &'static str,
}

/// Why a database is not used.
#[derive(Debug, thiserror::Error)]
pub enum MigrationError {
    /// A newer binary has worked on it.
    #[error("the database has migration {found}, this version knows {known} at most: use a newer version")]
    Newer {
        /// The newest migration of the database.
        found: i64,
        /// The newest migration of this binary.
        known: i64,
    },
    /// An applied migration differs from the one in this binary.
    #[error(
        "migration {0} of the database is not the one of this version: was the database made by another build?"
    )]
    Changed(i64),
    /// It holds something else.
    #[error("the database holds tables of something else: give the service a database of its own")]
    Foreign,
    /// It is the target of a copy that was interrupted.
    #[error("the database holds an unfinished copy: run `latchkey copy` again, it goes on where it ended")]
    UnfinishedCopy,
    /// Texts would be refused or garbled.
    #[error("the database has the encoding {0}, it must be UTF8")]
    Encoding(String),
}

impl Migration {
    /// Its statements for SQLite.
    #[must_use]
    pub fn sqlite(&self) -> Cow<'static, str> {
        if self.version < FIRST_SHARED {
            return Cow::Borrowed(self.sql);
        }
        Cow::Owned(WORDS.iter().fold(self.sql.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours)))
    }

    /// What is recorded of it, so that a change is noticed: SHA-256 of its statements.
    #[must_use]
    pub fn checksum(&self) -> Vec<u8> {
        Sha256::digest(self.sql.as_bytes()).to_vec()
    }

    /// Which of the known ones are missing among those applied (version and checksum), oldest first. Refuses what a
    /// newer or another binary applied.
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

/// The shared migration that proofs, issuers, code lanes and two-step sign-in ask for.
pub const PROOFS: Migration =
    Migration { version: 14, name: "0014_proofs", sql: include_str!("../migrations/0014_proofs.sql") };

/// Types and words of PostgreSQL, and SQLite's for them. The end of a table comes with its kind: every shared table has
/// a primary key of its own, so none has row numbers.
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

/// A list of an engine's own [`Migration`]s, each a number and the name of its file in the engine's folder `migrations`,
/// and of those that all engines share. To be called from a file in `src`.
#[macro_export]
macro_rules! migrations {
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
