//! SQL statements, written once in PostgreSQL's dialect and translated to SQLite's by a few rules.

use std::sync::OnceLock;

/// A statement in PostgreSQL's dialect.
///
/// The text for SQLite is derived: `$n` becomes `?n`, `greatest` and `least` become `max` and `min`, `strpos` becomes
/// `instr`, the collation `C`, which is SQLite's own order, is left out, and row locks are dropped, since SQLite has a single
/// writer.
pub struct Sql {
    postgres: &'static str,
    own: Option<&'static str>,
    sqlite: OnceLock<String>,
}

/// PostgreSQL's clauses that lock rows, longest first.
const LOCKS: [&str; 5] =
    [" FOR NO KEY UPDATE", " FOR KEY SHARE", " FOR UPDATE", " FOR SHARE", " SKIP LOCKED"];
/// Words of PostgreSQL (left) with those of SQLite (right).
const WORDS: [(&str, &str); 4] =
    [("greatest(", "max("), ("least(", "min("), ("strpos(", "instr("), (" COLLATE \"C\"", "")];

impl Sql {
    /// Creates a statement whose text for SQLite is translated from PostgreSQL's.
    #[must_use]
    pub const fn new(postgres: &'static str) -> Self {
        Self { postgres, own: None, sqlite: OnceLock::new() }
    }

    /// Creates a statement with a text of its own for each engine.
    #[must_use]
    pub const fn of_each(postgres: &'static str, sqlite: &'static str) -> Self {
        Self { postgres, own: Some(sqlite), sqlite: OnceLock::new() }
    }

    #[must_use]
    pub const fn postgres(&self) -> &'static str {
        self.postgres
    }

    /// Returns the text for SQLite. The first call translates it from PostgreSQL's.
    #[must_use]
    pub fn sqlite(&self) -> &str {
        self.sqlite.get_or_init(|| to_sqlite(self.own.unwrap_or(self.postgres)))
    }
}

#[must_use]
pub fn to_sqlite(postgres: &str) -> String {
    let mut text = placeholders(postgres).replace("\n    FOR ", " FOR ");
    for lock in LOCKS {
        text = text.replace(lock, "");
    }
    for (theirs, ours) in WORDS {
        text = text.replace(theirs, ours);
    }
    text
}

/// Turns `$n` into `?n`. A dollar before anything but a digit belongs to a literal.
fn placeholders(postgres: &str) -> String {
    let mut parts = postgres.split('$');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push(if part.starts_with(|first: char| first.is_ascii_digit()) { '?' } else { '$' });
        text.push_str(part);
    }
    text
}

/// Declares the SQL statements of a file, and `ALL`, a list of them.
///
/// - `NAME = text;` declares a statement in PostgreSQL's dialect, which is translated for SQLite.
/// - `NAME = text, sqlite text;` declares one with a text of its own for SQLite.
/// - `NAME: change touch(id: UserId) = text;` also declares the function `touch`, which adds the statement to a
///   [`Script`](crate::form::Script); for a read, `read` stands instead of `change`.
/// - `[id, …]` after the arguments lists the statement's values if they differ from the arguments.
macro_rules! statements {
    (@sql $text:expr) => { $crate::form::Sql::new($text) };
    (@sql $text:expr, $sqlite:expr) => { $crate::form::Sql::of_each($text, $sqlite) };
    (@values [$($given:expr),*]) => { $crate::form::values![$($given),*] };
    (@values [$($argument:expr),*] [$($given:expr),*]) => { $crate::form::values![$($given),*] };
    ($(
        $(#[$doc:meta])*
        $name:ident
        $(: $verb:ident $function:ident($($argument:ident: $kind:ty),*) $([$($given:expr),*])?)?
        = $text:expr $(, $sqlite:expr)?;
    )*) => {
        $($(#[$doc])* pub static $name: $crate::form::Sql =
            $crate::form::statements!(@sql $text $(, $sqlite)?);
        $(pub(crate) fn $function(
            script: &mut $crate::form::Script,
            $($argument: $kind),*
        ) -> $crate::form::Slot {
            script.$verb(&$name, $crate::form::statements!(@values [$($argument),*] $([$($given),*])?))
        })?)*
        /// All statements of this file, by name. A test prepares each of them.
        pub static ALL: &[(&str, &$crate::form::Sql)] = &[$((stringify!($name), &$name)),*];
    };
}
pub(crate) use statements;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_functions_and_locks_are_turned() {
        let sql = Sql::new(
            "SELECT greatest(a, $2) FROM t WHERE id = $1
    FOR NO KEY UPDATE",
        );
        assert_eq!(sql.sqlite(), "SELECT max(a, ?2) FROM t WHERE id = ?1");
        assert_eq!(Sql::new("SELECT 1 FROM t FOR UPDATE SKIP LOCKED").sqlite(), "SELECT 1 FROM t");
        assert_eq!(
            Sql::new("SELECT '$argon2id$v=19' WHERE x = $12").sqlite(),
            "SELECT '$argon2id$v=19' WHERE x = ?12"
        );
    }
}
