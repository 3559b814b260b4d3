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
        let text = self.for_engine("sqlite");
        Cow::Owned(WORDS.iter().fold(text, |text, (theirs, ours)| text.replace(theirs, ours)))
    }

    /// Returns the SQL statements in PostgreSQL's dialect.
    #[must_use]
    pub fn postgres(&self) -> String {
        self.for_engine("postgres")
    }

    /// Returns the parts of the text that an engine executes. A shared migration begins with the common part; a line
    /// `-- [sqlite]` or `-- [postgres]` begins one for a single engine, for what has no common words, such as triggers.
    fn for_engine(&self, engine: &str) -> String {
        let mut is_ours = true;
        let mut text = String::with_capacity(self.sql.len());
        for line in self.sql.split_inclusive('\n') {
            let part = line.trim_end().strip_prefix("-- [").and_then(|rest| rest.strip_suffix(']'));
            match part {
                Some(part) => is_ours = part == engine,
                None if is_ours => text.push_str(line),
                None => {}
            }
        }
        text
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
/// ones in the folder of this crate.
#[macro_export]
macro_rules! migrations {
    () => {
        $crate::migrations!(
            "/migrations/" [
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
            ]
            "/../store/migrations/" [
                14 "0014_proofs",
                15 "0015_factors",
                16 "0016_own_account",
                17 "0017_passkeys",
                18 "0018_email_changes",
                19 "0019_deletions",
                20 "0020_sign_in_links",
                21 "0021_change_sessions",
                22 "0022_seen_devices",
                23 "0023_audit_of_nobody",
                24 "0024_page_sessions",
                25 "0025_page_codes",
                26 "0026_statistics",
                27 "0027_operators",
                28 "0028_acting_operators",
                29 "0029_limits_of_accounts",
                30 "0030_audit_filters",
                31 "0031_user_list",
                32 "0032_kept_keys",
                33 "0033_imports",
                34 "0034_hashes_from_elsewhere",
                35 "0035_instances",
                36 "0036_operator_addresses",
                37 "0037_many_profiles",
                38 "0038_names_in_the_index",
            ]
        )
    };
    ($($folder:literal [$($version:literal $file:literal,)*])*) => {
        &[$($($crate::migrations::Migration {
            version: $version,
            name: $file,
            sql: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), $folder, $file, ".sql")),
        },)*)*]
    };
}
