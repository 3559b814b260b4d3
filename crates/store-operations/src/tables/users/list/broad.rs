//! Searches that many users match. Collecting the matches, to count and order them, takes long; so the page is read along the
//! index of its order, where it is soon full, and the matches are only counted.

use latchkey_domain::user_list::{UserFilter, UserKey, UserSearch};
use latchkey_store::{ListUsers, StoreResult};

use super::super::read_account;
use super::sets::{
    all_in_range, begins, candidates_in_postgres, has_words_in_postgres, has_words_in_sqlite,
    hidden_with_words, indexed_in_postgres, indexed_in_sqlite, of_names, pending_in_sqlite,
};
use super::statements::{WALK, WALK_SEARCHED};
use super::{
    BEYOND, OFFSET, Read, addresses, direction, key_value, offset, page_values, start_of, statement,
};
use crate::form::{NameQuery, Results, Script, Slot, statements, values};

/// Factor by which a page may pass more users than it would if matches were spread evenly. When it passes them all and is not
/// full, the matches are collected after all.
const PATIENCE: u64 = 4;

/// Number up to which candidates are counted on PostgreSQL, which reads their rows, or a hundredth of all users if that is more.
/// What an index alone counts is counted up to ten times that: addresses, and candidates on SQLite.
const ENOUGH: i64 = 10_001;
/// Number of candidates of which it is looked how many have the words.
const SAMPLE: u64 = 2_000;
/// Cost of collecting a match, and of looking through a user, in units of the cost of counting a profile (measured with a
/// million users, where both are some 8 µs).
const DEAR: u64 = 3;

/// Numbers by which the way to a page of a search is chosen. None is exact if it is great.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    /// Addresses that begin with the text.
    addresses: u64,
    /// Profiles that may have the words.
    candidates: u64,
    /// Profiles that have the words.
    names: u64,
    all: u64,
}

macro_rules! find_sizes {
    ($candidates:expr, $sample:expr) => {
        concat!(
            "WITH n AS MATERIALIZED (SELECT coalesce((SELECT CAST(sum(total) AS BIGINT) FROM user_counts
                WHERE provider = '' AND state <> 'no-profile'), 0) AS total)",
            $candidates,
            " SELECT (SELECT count(*) FROM (SELECT 1 FROM users AS u WHERE ",
            begins!("u.email_key", "$1", "$2"),
            " LIMIT (SELECT 10 * greatest($4, total / 100) FROM n)) AS few),
            (SELECT count(*) FROM candidates),
            (SELECT count(*) FROM ",
            $sample,
            "), (SELECT total FROM n)"
        )
    };
}
/// Condition on a profile `p`, in a count: it has the words `$5` and `$6`, if `$4` is not empty.
macro_rules! named {
    ($has_words:expr) => {
        concat!("$4 <> '' AND ", $has_words)
    };
}
/// Number of profiles with the words.
macro_rules! count_named_in_postgres {
    () => {
        concat!(
            "(SELECT count(*) FROM profiles AS p WHERE ",
            hidden_with_words!("$4", has_words_in_postgres!("$5", "$6")),
            ") + (SELECT count(*) FROM profiles AS p WHERE ",
            indexed_in_postgres!("$4", "$5", "$6"),
            ")"
        )
    };
}
macro_rules! count_named_in_sqlite {
    ($indexed:expr) => {
        concat!(
            "(SELECT count(*) FROM profiles AS p WHERE ",
            hidden_with_words!("$4", has_words_in_sqlite!("$5", "$6")),
            ") + (SELECT count(*) FROM (",
            pending_in_sqlite!("$4", "$5", "$6"),
            ")) + (SELECT count(*) FROM (",
            $indexed,
            "))"
        )
    };
}
/// Profiles of the index with trigrams that nothing but the words has. `$5` and `$6` say the same.
macro_rules! exactly_indexed_in_sqlite {
    () => {
        "SELECT 1 FROM profile_search WHERE $4 <> '' AND profile_search MATCH $4
            AND NOT EXISTS (SELECT 1 FROM profile_search_pending AS b WHERE b.search_id = profile_search.rowid)"
    };
}
/// Number of users with an address that begins with the text, and with the address `$3`, who meet a condition.
macro_rules! count_addressed {
    ($condition:expr) => {
        concat!(
            "(SELECT count(*) FROM users AS u WHERE ",
            begins!("u.email_key", "$1", "$2"),
            $condition,
            ") + (SELECT count(*) FROM users AS u WHERE u.email_key = $3 AND NOT (",
            begins!("u.email_key", "$1", "$2"),
            ")",
            $condition,
            ")"
        )
    };
}
macro_rules! not_named {
    ($has_words:expr) => {
        concat!(
            " AND NOT EXISTS (SELECT 1 FROM profiles AS p WHERE p.user_id = u.id AND ",
            named!($has_words),
            ")"
        )
    };
}
/// Condition on a user `u`: the address is not among those of [`count_addressed`].
macro_rules! not_addressed {
    () => {
        concat!(" AND NOT (", begins!("u.email_key", "$1", "$2"), ") AND u.email_key <> coalesce($3, '')")
    };
}

statements! {
    /// Reads [`Sizes`].
    FIND_SIZES = find_sizes!(
        concat!(", candidates AS MATERIALIZED (SELECT p.folded_name, p.folded_username FROM profiles AS p
            WHERE NOT EXISTS (", all_in_range!(), ") AND ", candidates_in_postgres!("$3"), " LIMIT (SELECT greatest($4, total / 100) FROM n))"),
        concat!("(SELECT * FROM candidates LIMIT $7) AS p WHERE ", has_words_in_postgres!("$5", "$6"))
    ), find_sizes!(
        ", candidates AS NOT MATERIALIZED (SELECT rowid AS id FROM profile_search WHERE $3 <> '' AND profile_search MATCH $3
            LIMIT (SELECT 10 * greatest($4, total / 100) FROM n))",
        concat!("(SELECT id FROM candidates LIMIT $7) AS c
            CROSS JOIN profiles AS p ON p.search_id = c.id WHERE ", has_words_in_sqlite!("$5", "$6"))
    );
    /// Counts the matches: profiles with the words, and users with such an address whose profile has not.
    COUNT_NAMES = concat!(
        "SELECT ", count_named_in_postgres!(), " + ", count_addressed!(not_named!(has_words_in_postgres!("$5", "$6")))
    ), concat!(
        "SELECT ", count_named_in_sqlite!(indexed_in_sqlite!("$4", "$5", "$6")),
        " + ", count_addressed!(not_named!(has_words_in_sqlite!("$5", "$6")))
    );
    /// Counts the same where the index of SQLite is exact.
    COUNT_EXACT_NAMES = concat!(
        "SELECT ", count_named_in_postgres!(), " + ", count_addressed!(not_named!(has_words_in_postgres!("$5", "$6")))
    ), concat!(
        "SELECT ", count_named_in_sqlite!(exactly_indexed_in_sqlite!()),
        " + ", count_addressed!(not_named!(has_words_in_sqlite!("$5", "$6")))
    );
    /// Counts the matches: users with such an address, and the other users of profiles with the words.
    COUNT_ADDRESSES = concat!(
        "SELECT ", count_addressed!(""),
        " + (SELECT count(*) FROM profiles AS p JOIN users AS u ON u.id = p.user_id
            WHERE ", hidden_with_words!("$4", has_words_in_postgres!("$5", "$6")), not_addressed!(),
        ") + (SELECT count(*) FROM profiles AS p JOIN users AS u ON u.id = p.user_id
            WHERE ", indexed_in_postgres!("$4", "$5", "$6"), not_addressed!(), ")"
    ), concat!(
        "SELECT ", count_addressed!(""),
        " + (SELECT count(*) FROM (SELECT p.user_id AS id FROM profiles AS p
            WHERE ", hidden_with_words!("$4", has_words_in_sqlite!("$5", "$6")), "
            UNION ALL ", indexed_in_sqlite!("$4", "$5", "$6"), "
            UNION ALL ", pending_in_sqlite!("$4", "$5", "$6"), ") AS d CROSS JOIN users AS u WHERE u.id = d.id",
        not_addressed!(), ")"
    );
}

/// True if the matches of a search are counted by themselves: it is for no id, and there is no other filter.
pub(crate) fn is_countable(list: &ListUsers, search: &UserSearch) -> bool {
    let filter = UserFilter { search: None, ..list.filter.clone() };
    search.id.is_none() && filter == UserFilter::default()
}

/// Adds the statement that reads the sizes of a search.
pub(crate) fn find_sizes(script: &mut Script, search: &UserSearch, names: &NameQuery) -> Slot {
    let (prefix, end) = addresses(search);
    let NameQuery { candidates, longest, others, is_exact } = names.clone();
    let sample = if is_exact { 0 } else { SAMPLE.cast_signed() };
    script.read(&FIND_SIZES, values![prefix, end, candidates, ENOUGH, longest, others, sample])
}

pub(crate) fn sizes(results: &Results<'_>, found: Slot, is_exact: bool) -> StoreResult<Option<Sizes>> {
    results.find(found, |cells| {
        cells.of("users");
        let mut next = || Ok(u64::try_from(cells.int("total")?).unwrap_or_default());
        let (addresses, candidates, in_sample, all) = (next()?, next()?, next()?, next()?);
        let names = if is_exact { candidates } else { estimated(candidates, in_sample, all) };
        Ok(Sizes { addresses, candidates, names, all })
    })
}

/// Estimates how many candidates have the words. The sample is the oldest of them, so that it is not trusted for more than a small
/// multiple of it, unless nearly all in it have the words.
fn estimated(candidates: u64, in_sample: u64, all: u64) -> u64 {
    let sample = candidates.clamp(1, SAMPLE);
    let trusted =
        if 10 * in_sample >= 9 * sample { candidates } else { ENOUGH.cast_unsigned().max(all / 100) };
    candidates.min(trusted) * in_sample / sample
}

impl Sizes {
    /// Returns the number of users that a page along the index may pass; `None` if collecting the matches costs less. If the
    /// page is not full then, the time is at most that of collecting them.
    pub(crate) fn span(self, list: &ListUsers, is_exact: bool) -> Option<u64> {
        let matches = self.addresses.max(self.names).max(1);
        let wanted = u64::from(list.limit) + 1 + offset(&list.position).unsigned_abs();
        let passed = wanted.saturating_mul(self.all) / matches;
        let counted = if is_exact { 0 } else { self.candidates } + self.addresses.min(self.candidates);
        let walks = passed.saturating_mul(DEAR).saturating_add(counted) < matches * DEAR;
        walks.then(|| passed.saturating_mul(PATIENCE).min(matches))
    }
}

/// Adds the statement that reads the user at the end of a span of the order.
pub(crate) fn find_end(script: &mut Script, list: &ListUsers, span: u64) -> Slot {
    let all = ListUsers { filter: UserFilter::default(), limit: 0, ..list.clone() };
    let mut values = page_values(&all);
    values[OFFSET] = i64::try_from(span).unwrap_or(i64::MAX).into();
    script.read(statement(&WALK, &all), values)
}

pub(crate) fn end(results: &Results<'_>, found: Slot, list: &ListUsers) -> StoreResult<Option<UserKey>> {
    results.find(found, |cells| Ok(list.order.sort.key_of(&read_account(cells)?.user)))
}

/// Adds the statements that read a page of a search along the index, before a user, and the total.
pub(crate) fn walk(
    script: &mut Script,
    list: &ListUsers,
    search: &UserSearch,
    names: NameQuery,
    sizes: Sizes,
    end: Option<UserKey>,
) -> Read {
    let (prefix, prefix_end) = addresses(search);
    let email = search.email.as_ref().map(|email| email.as_str().to_owned());
    let NameQuery { candidates, longest, others, is_exact } = names;
    // Profiles that are read anyway are joined to their users at half the cost.
    let counting = if is_exact && sizes.addresses <= sizes.candidates {
        &COUNT_EXACT_NAMES
    } else if !is_exact && 2 * sizes.addresses <= sizes.candidates {
        &COUNT_NAMES
    } else {
        &COUNT_ADDRESSES
    };
    let words = values![candidates, longest, others];
    let mut values = values![prefix.clone(), prefix_end.clone(), email.clone()];
    values.extend(words.iter().cloned());
    let total = script.read(counting, values);
    let UserKey { value, id } = end.unwrap_or_else(|| start_of(list, direction(list).turned()));
    let mut values = values![key_value(value), id, prefix, prefix_end];
    values.extend(page_values(list).drain(BEYOND));
    values.push(email.into());
    values.extend(words);
    Read::Walk { total, page: script.read(statement(&WALK_SEARCHED, list), values) }
}
