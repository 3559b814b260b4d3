//! SQL text, written once in PostgreSQL's words and turned into SQLite's by a few rules.

use std::sync::OnceLock;

/// A statement of the operations.
///
/// The text is PostgreSQL's. SQLite's follows from it: `$n` becomes `?n`, `greatest` and `least` become `max` and `min`,
/// `strpos` becomes `instr`, and row locks go, since SQLite has one writer.
pub struct Sql {
    postgres: &'static str,
    own: Option<&'static str>,
    sqlite: OnceLock<String>,
}

/// Row locks of PostgreSQL, the longest first.
const LOCKS: [&str; 5] =
    [" FOR NO KEY UPDATE", " FOR KEY SHARE", " FOR UPDATE", " FOR SHARE", " SKIP LOCKED"];
/// Functions that have another name in SQLite.
const FUNCTIONS: [(&str, &str); 3] = [("greatest(", "max("), ("least(", "min("), ("strpos(", "instr(")];

impl Sql {
    /// Takes the text in PostgreSQL's words.
    #[must_use]
    pub const fn new(postgres: &'static str) -> Self {
        Self { postgres, own: None, sqlite: OnceLock::new() }
    }

    /// Takes two texts, for a statement that SQLite needs in other words.
    #[must_use]
    pub const fn of_each(postgres: &'static str, sqlite: &'static str) -> Self {
        Self { postgres, own: Some(sqlite), sqlite: OnceLock::new() }
    }

    /// The text for PostgreSQL.
    #[must_use]
    pub const fn postgres(&self) -> &'static str {
        self.postgres
    }

    /// The text for SQLite, made at the first call.
    #[must_use]
    pub fn sqlite(&self) -> &str {
        self.sqlite.get_or_init(|| to_sqlite(self.own.unwrap_or(self.postgres)))
    }
}

/// SQLite's words for a text in PostgreSQL's.
#[must_use]
pub fn to_sqlite(postgres: &str) -> String {
    let mut text = postgres.replace('$', "?").replace("\n    FOR ", " FOR ");
    for lock in LOCKS {
        text = text.replace(lock, "");
    }
    for (theirs, ours) in FUNCTIONS {
        text = text.replace(theirs, ours);
    }
    text
}

/// Declares the statements of a file and the list of them: `NAME = text;`, or `NAME = text, sqlite text;`.
macro_rules! statements {
    (@sql $text:expr) => { $crate::form::Sql::new($text) };
    (@sql $text:expr, $sqlite:expr) => { $crate::form::Sql::of_each($text, $sqlite) };
    ($($(#[$doc:meta])* $name:ident = $text:expr $(, $sqlite:expr)?;)*) => {
        $($(#[$doc])* pub static $name: $crate::form::Sql =
            $crate::form::statements!(@sql $text $(, $sqlite)?);)*
        /// All statements of this file: a test prepares each of them.
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
    }
}
