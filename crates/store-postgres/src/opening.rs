//! BEGIN statements of transactions, and the settings of their session. A direct connection gets the settings once; a
//! connection that a pooler may share gets them in each transaction.

use crate::options::PostgresOptions;

const READ_COMMITTED: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
/// A plan that was made while a table was empty would otherwise scan it as a whole later, until the server has analysed
/// it. After that the server would plan each execution anew, which takes as long as the execution.
const BY_INDEX: &[&str] = &["enable_seqscan = off", "plan_cache_mode = force_generic_plan"];
/// A search may have one match or a million, and each needs another plan. The candidates of a million fit into the memory.
const OF_LONG_READS: &[&str] = &["plan_cache_mode = force_custom_plan", "work_mem = '16MB'"];
/// The reader of the pages may take its time.
const OF_PAGES: &str = "idle_in_transaction_session_timeout = 0";
/// The index of trigrams takes up its list of changes when the list is this long. Many short lists take a multiple of the
/// time of a long one. The rows that are there already are found one by one: a plan that was made while a table was small
/// would otherwise read it as a whole for each batch, until the server has analysed it.
const OF_MANY_ROWS: &[&str] = &[
    "gin_pending_list_limit = '4MB'",
    "enable_seqscan = off",
    "enable_hashjoin = off",
    "enable_mergejoin = off",
];

/// The BEGIN statement of a kind of transaction.
pub(crate) struct Opening {
    direct: String,
    shared: String,
}

impl Opening {
    /// Makes the statement: `own` are the settings of this kind of transaction, `of_session` those that a direct connection
    /// has already.
    fn new(begin: &str, own: &[&str], of_session: &[&str]) -> Self {
        Self {
            direct: with_settings(begin, own),
            shared: with_settings(&with_settings(begin, of_session), own),
        }
    }

    /// Returns the statement for a connection, which is direct or not.
    pub(crate) fn on(&self, is_direct: bool) -> &str {
        if is_direct { &self.direct } else { &self.shared }
    }
}

fn with_settings(begin: &str, settings: &[&str]) -> String {
    settings.iter().fold(begin.to_owned(), |text, setting| format!("{text}; SET LOCAL {setting}"))
}

/// The BEGIN statements of a database.
pub(crate) struct Openings {
    /// For a lone read.
    pub(crate) read: Opening,
    /// For reads from one snapshot.
    pub(crate) reads: Opening,
    /// For reads from one snapshot that may take long.
    pub(crate) long_reads: Opening,
    /// For long reads from one snapshot, one after another, each of which may take [`PostgresOptions::page_timeout`].
    pub(crate) pages: Opening,
    /// For reads from one snapshot that find all rows by an index.
    pub(crate) index_reads: Opening,
    /// For writes: each statement sees everything that was committed before it.
    pub(crate) writes: Opening,
    /// For writes of many rows.
    pub(crate) many_writes: Opening,
}

impl Openings {
    pub(crate) fn new(options: &PostgresOptions) -> Self {
        let Settings { statement_timeout, idle_timeout, jit, pending_list } = &Settings::new(options);
        let snapshot = [statement_timeout.as_str(), jit];
        let of_page = format!("statement_timeout = {}", options.page_timeout().as_millis());
        let pages = [OF_LONG_READS, &[OF_PAGES, &of_page]].concat();
        let writes = [statement_timeout.as_str(), idle_timeout, pending_list];
        Self {
            read: Opening::new(READ_COMMITTED, &[], &[statement_timeout]),
            reads: Opening::new(SNAPSHOT, &[], &snapshot),
            long_reads: Opening::new(SNAPSHOT, OF_LONG_READS, &snapshot),
            pages: Opening::new(SNAPSHOT, &pages, &snapshot),
            index_reads: Opening::new(SNAPSHOT, BY_INDEX, &snapshot),
            writes: Opening::new(READ_COMMITTED, &[], &writes),
            many_writes: Opening::new(READ_COMMITTED, OF_MANY_ROWS, &writes),
        }
    }
}

/// Returns the statements that give a direct connection its settings. A lone statement then needs no transaction around
/// it.
pub(crate) fn session(options: &PostgresOptions) -> String {
    let Settings { statement_timeout, idle_timeout, jit, pending_list } = Settings::new(options);
    format!(
        "SET {statement_timeout}; SET {idle_timeout}; SET {jit}; SET {pending_list}; \
         SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED"
    )
}

struct Settings {
    /// The server would otherwise continue after the client's own timeout.
    statement_timeout: String,
    /// An instance that crashes inside a transaction must not hold its locks for long.
    idle_timeout: String,
    /// Compilation takes longer than it saves in a search.
    jit: &'static str,
    /// A short list, because the write that makes it too long waits until the index has taken it up.
    pending_list: &'static str,
}

impl Settings {
    fn new(options: &PostgresOptions) -> Self {
        let limit = options.server_timeout();
        Self {
            statement_timeout: format!("statement_timeout = {limit}"),
            idle_timeout: format!("idle_in_transaction_session_timeout = {}", 2 * limit),
            jit: "jit = off",
            pending_list: "gin_pending_list_limit = '256kB'",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_settings_of_a_transaction_win() {
        let many = Openings::new(&PostgresOptions::new("postgres:///latchkey")).many_writes;
        assert!(many.on(true).starts_with(
            "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL gin_pending_list_limit = '4MB'; SET LOCAL enable_seqscan = off"
        ));
        assert!(many.on(false).contains("statement_timeout = 5000; "));
        assert!(many.on(false).contains("'256kB'; SET LOCAL gin_pending_list_limit = '4MB'; "));
    }

    #[test]
    fn pages_are_long_reads_with_timeouts_of_their_own() {
        let options = PostgresOptions::new("postgres:///latchkey");
        assert!(session(&options).contains("SET idle_in_transaction_session_timeout = 10000;"));
        for is_direct in [true, false] {
            let pages = Openings::new(&options).pages;
            assert!(OF_LONG_READS.iter().all(|setting| pages.on(is_direct).contains(setting)));
            let own =
                "SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 60000";
            assert!(pages.on(is_direct).ends_with(own));
        }
    }
}
