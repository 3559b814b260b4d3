//! Schema migrations: list, checksums and the check of an existing database. A migration is numbered, applied once
//! and never changed after a release. Each engine applies the SQL itself.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

/// Number of the first shared migration, in PostgreSQL's dialect. Earlier migrations exist once per engine.
const FIRST_SHARED: i64 = 14;

/// A schema migration.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// Number of the migration, counted from 1.
    pub version: i64,
    /// Name of the migration and of its file. It begins with the migration's four-digit number.
    pub name: &'static str,
    /// SQL statements: in the engine's dialect up to migration 13, in PostgreSQL's dialect from migration 14 on.
    pub sql: &'static str,
}

/// Reason for refusing to start on an existing database.
#[derive(Debug, thiserror::Error)]
pub enum MigrationError {
    /// The database has a migration that this binary does not have: a newer version migrated it.
    #[error("the database has migration {found}, this version knows {known} at most: use a newer version")]
    Newer {
        /// Number of the newest migration in the database.
        found: i64,
        /// Number of the newest migration in this binary.
        known: i64,
    },
    /// The checksum of an applied migration differs from the one in this binary. Contains the migration's number.
    #[error(
        "migration {0} of the database is not the one of this version: was the database made by another build?"
    )]
    Changed(i64),
    /// The database has tables that another application created.
    #[error("the database holds tables of something else: give the service a database of its own")]
    Foreign,
    /// The database is the target of an interrupted `latchkey copy`.
    #[error("the database holds an unfinished copy: run `latchkey copy` again, it resumes where it ended")]
    UnfinishedCopy,
    /// The database encoding, whose name is contained, is not UTF-8.
    #[error("the database has the encoding {0}, it must be UTF8")]
    Encoding(String),
}

impl Migration {
    /// Returns the SQL statements in SQLite's dialect. Shared migrations are translated by `WORDS`.
    #[must_use]
    pub fn sqlite(&self) -> Cow<'static, str> {
        if self.version < FIRST_SHARED {
            return Cow::Borrowed(self.sql);
        }
        Cow::Owned(WORDS.iter().fold(self.sql.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours)))
    }

    /// Returns the SHA-256 of [`Self::sql`], recorded when the migration is applied.
    #[must_use]
    pub fn checksum(&self) -> Vec<u8> {
        Sha256::digest(self.sql.as_bytes()).to_vec()
    }

    /// Returns the migrations of `known` that are not in `applied` (number and checksum), oldest first. Fails if a
    /// newer or a different binary migrated the database.
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

/// Migration 14: email codes, issuers of identities, two-step sign-in, and counters of wrong codes for two groups
/// of clients (known to the account, and others).
pub const PROOFS: Migration =
    Migration { version: 14, name: "0014_proofs", sql: include_str!("../migrations/0014_proofs.sql") };

/// Migration 15: second factors, challenges and undo links.
pub const FACTORS: Migration =
    Migration { version: 15, name: "0015_factors", sql: include_str!("../migrations/0015_factors.sql") };

/// Migration 16: index of the events of an account, names of sessions.
pub const OWN_ACCOUNT: Migration = Migration {
    version: 16,
    name: "0016_own_account",
    sql: include_str!("../migrations/0016_own_account.sql"),
};

/// Migration 17: passkeys and used WebAuthn ceremonies.
pub const PASSKEYS: Migration =
    Migration { version: 17, name: "0017_passkeys", sql: include_str!("../migrations/0017_passkeys.sql") };

/// Migration 18: changes of address, and their undo links.
pub const EMAIL_CHANGES: Migration = Migration {
    version: 18,
    name: "0018_email_changes",
    sql: include_str!("../migrations/0018_email_changes.sql"),
};

/// Migration 19: accounts in deletion.
pub const DELETIONS: Migration =
    Migration { version: 19, name: "0019_deletions", sql: include_str!("../migrations/0019_deletions.sql") };

/// Migration 20: links for sign-in.
pub const SIGN_IN_LINKS: Migration = Migration {
    version: 20,
    name: "0020_sign_in_links",
    sql: include_str!("../migrations/0020_sign_in_links.sql"),
};

/// Migration 21: the session that began a change of address, and an index of reserved addresses.
pub const CHANGE_SESSIONS: Migration = Migration {
    version: 21,
    name: "0021_change_sessions",
    sql: include_str!("../migrations/0021_change_sessions.sql"),
};

/// Translation of shared migrations: text in PostgreSQL's dialect, replacement for SQLite. Tables become `WITHOUT
/// ROWID`, because every shared table has a primary key.
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

/// Expands to the [`Migration`]s of an engine: first those in the engine's own folder `migrations`, then the shared
/// ones. The path is relative to the calling file, which must be in `src`.
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
        $crate::migrations::FACTORS,
        $crate::migrations::OWN_ACCOUNT,
        $crate::migrations::PASSKEYS,
        $crate::migrations::EMAIL_CHANGES,
        $crate::migrations::DELETIONS,
        $crate::migrations::SIGN_IN_LINKS,
        $crate::migrations::CHANGE_SESSIONS,
        // The next shared migration: its constant above, and its line here.
        ]
    };
}
