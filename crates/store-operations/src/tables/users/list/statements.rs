//! SQL of the list of users: conditions, and pages by sort and direction.

use super::pages::{gather, ordered, page_of, walk, walk_searched};
use super::sets::{
    all_in_range, begins, candidates_in_postgres, created, has_words_in_postgres, has_words_in_sqlite,
    hidden_with_words, indexed_in_postgres, indexed_in_sqlite, joined_in_postgres, not_by_address, of_names,
    of_provider, of_state, one_by_one_in_sqlite, operating, pending_in_sqlite, searched_in_postgres,
    searched_in_sqlite, signed_in, with_imported_hash, with_passkey, without_profile,
};
use crate::form::{Sql, statements};
use crate::tables::credentials::{classed, imported_hashes};
use crate::tables::users::{account_columns, account_tables};

/// Expression for the state of a user, as the index `users_by_state` has it.
macro_rules! state_of {
    ($user:literal) => {
        concat!(
            "CASE WHEN ",
            $user,
            ".banned_at IS NOT NULL THEN 'banned'
    WHEN ",
            $user,
            ".deletes_at IS NOT NULL THEN 'deletion' WHEN ",
            $user,
            ".pending THEN 'pending' WHEN ",
            $user,
            ".email_verified THEN 'verified'
    ELSE 'unverified' END"
        )
    };
}
/// Condition on a user: state `$1` and provider `$2`; empty texts match all.
macro_rules! is_of_kind {
    () => {
        concat!(
            "CASE $1 WHEN '' THEN TRUE WHEN 'no-profile' THEN NOT u.has_profile
                WHEN 'operator' THEN EXISTS (SELECT 1 FROM operators AS o WHERE o.user_id = u.id)
                WHEN 'imported-hash' THEN EXISTS (SELECT 1 FROM credentials AS h
                    WHERE h.user_id = u.id AND h.kind = 'password' AND substr(h.data, 1, 10) <> '$argon2id$')
                ELSE ",
            state_of!("u"),
            " = $1 END
            AND CASE $2 WHEN '' THEN TRUE
                WHEN 'email' THEN EXISTS (SELECT 1 FROM credentials AS k WHERE k.user_id = u.id AND k.kind = 'password')
                WHEN 'passkey' THEN EXISTS (SELECT 1 FROM passkeys AS k WHERE k.user_id = u.id)
                ELSE EXISTS (SELECT 1 FROM identities AS i WHERE i.user_id = u.id AND i.provider = $2) END"
        )
    };
}
/// Condition on a user: the whole filter, with the time of creation from `$3` until before `$4`, and that of the last sign-in
/// from `$9` until before `$10`.
macro_rules! passes {
    ($created:ident, $signed_in:ident) => {
        concat!(
            is_of_kind!(),
            " AND ",
            $created!("u.created_at", "$3", "$4"),
            " AND ",
            $signed_in!("coalesce(u.last_sign_in_at, 0)", "$9", "$10")
        )
    };
}
/// Condition on a time by which an index is read.
macro_rules! by_index {
    ($time:literal, $from:literal, $until:literal) => {
        concat!($time, " >= ", $from, " AND ", $time, " < ", $until)
    };
}
/// Condition on a time where another index is read: SQLite does not read the time's own index for an `OR`, and PostgreSQL's
/// planner sees that a condition without bounds leaves nothing out.
macro_rules! by_row {
    ($time:literal, $from:literal, $until:literal) => {
        concat!(
            "(",
            $from,
            " = 0 OR ",
            $time,
            " >= ",
            $from,
            ") AND (",
            $until,
            " = 9223372036854775807 OR ",
            $time,
            " < ",
            $until,
            ")"
        )
    };
}
/// Number of users by `user_counts`, with conditions on state and provider, created on the days from `$5` until before `$6`.
macro_rules! sum_of {
    ($state:literal, $provider:literal) => {
        concat!(
            "coalesce((SELECT CAST(sum(total) AS BIGINT) FROM user_counts WHERE provider = ",
            $provider,
            " AND ",
            $state,
            " AND day >= $5 AND day < $6), 0)"
        )
    };
}

statements! {
    /// Reads the numbers by which a way to the page is chosen: of all matches, and of the users of the state, of the provider
    /// and of the days alone.
    FIND_NUMBERS = concat!(
        "SELECT ",
        sum_of!("(state = $1 OR $1 = '' AND state <> 'no-profile')", "$2"), ", ",
        sum_of!("(state = $1 OR $1 = '' AND state <> 'no-profile')", "''"), ", ",
        sum_of!("state <> 'no-profile'", "$2"), ", ",
        sum_of!("state <> 'no-profile'", "''"), ", ",
        "coalesce((SELECT CAST(sum(total) AS BIGINT) FROM user_counts WHERE provider = '' AND state <> 'no-profile'), 0)
        WHERE $3 <= $4"
    );
    /// Finds a row if every address is in a range.
    ALL_IN_RANGE = all_in_range!();
    /// Counts the users with a password.
    COUNT_PASSWORDS: read count_passwords() = "SELECT count(*) FROM credentials WHERE kind = 'password'";
    /// Counts the users with a hash from elsewhere.
    COUNT_IMPORTED_HASHES: read count_imported_hashes() = concat!("SELECT count(*) FROM (", imported_hashes!(), ") AS h");
    /// Counts the same, but no more than a limit.
    COUNT_FEW_IMPORTED_HASHES: read count_few_imported_hashes(limit: i64) =
        concat!("SELECT count(*) FROM (SELECT 1 FROM (", imported_hashes!(), ") AS h LIMIT $1) AS few");
    /// Counts the users whose last sign-in was in a time.
    COUNT_SIGNED_IN: read count_signed_in(from: i64, until: i64) =
        concat!("SELECT count(*) FROM ", signed_in!("$1", "$2"));
    /// Counts the same, but no more than a limit.
    COUNT_FEW_SIGNED_IN: read count_few_signed_in(from: i64, until: i64, limit: i64) =
        concat!("SELECT count(*) FROM (SELECT 1 FROM ", signed_in!("$1", "$2"), " LIMIT $3) AS few");
    /// Counts all matches: whole days by their numbers, and the users of the days in which the time begins and ends, which are
    /// those created before `$7` and from `$8` on.
    COUNT_MATCHES = concat!(
        "SELECT ",
        sum_of!("(state = $1 OR $1 = '' AND state <> 'no-profile')", "$2"),
        " + (SELECT count(*) FROM users AS u WHERE u.created_at >= $3 AND u.created_at < $7 AND ", is_of_kind!(), ")
        + (SELECT count(*) FROM users AS u WHERE u.created_at >= $8 AND u.created_at < $4 AND ", is_of_kind!(), ")"
    );
    WALK_CREATED_DOWN = ordered!(walk () created down);
    WALK_CREATED_UP = ordered!(walk () created up);
    WALK_SIGN_IN_DOWN = ordered!(walk () sign_in down);
    WALK_SIGN_IN_UP = ordered!(walk () sign_in up);
    WALK_EMAIL_DOWN = ordered!(walk () email down);
    WALK_EMAIL_UP = ordered!(walk () email up);
    STATE_CREATED_DOWN = ordered!(gather (of_state!()) created down);
    STATE_CREATED_UP = ordered!(gather (of_state!()) created up);
    STATE_SIGN_IN_DOWN = ordered!(gather (of_state!()) sign_in down);
    STATE_SIGN_IN_UP = ordered!(gather (of_state!()) sign_in up);
    STATE_EMAIL_DOWN = ordered!(gather (of_state!()) email down);
    STATE_EMAIL_UP = ordered!(gather (of_state!()) email up);
    NO_PROFILE_CREATED_DOWN = ordered!(gather (without_profile!()) created down);
    NO_PROFILE_CREATED_UP = ordered!(gather (without_profile!()) created up);
    NO_PROFILE_SIGN_IN_DOWN = ordered!(gather (without_profile!()) sign_in down);
    NO_PROFILE_SIGN_IN_UP = ordered!(gather (without_profile!()) sign_in up);
    NO_PROFILE_EMAIL_DOWN = ordered!(gather (without_profile!()) email down);
    NO_PROFILE_EMAIL_UP = ordered!(gather (without_profile!()) email up);
    PROVIDER_CREATED_DOWN = ordered!(gather (of_provider!(joined_in_postgres!())) created down),
        ordered!(gather (of_provider!(one_by_one_in_sqlite!())) created down);
    PROVIDER_CREATED_UP = ordered!(gather (of_provider!(joined_in_postgres!())) created up),
        ordered!(gather (of_provider!(one_by_one_in_sqlite!())) created up);
    PROVIDER_SIGN_IN_DOWN = ordered!(gather (of_provider!(joined_in_postgres!())) sign_in down),
        ordered!(gather (of_provider!(one_by_one_in_sqlite!())) sign_in down);
    PROVIDER_SIGN_IN_UP = ordered!(gather (of_provider!(joined_in_postgres!())) sign_in up),
        ordered!(gather (of_provider!(one_by_one_in_sqlite!())) sign_in up);
    PROVIDER_EMAIL_DOWN = ordered!(gather (of_provider!(joined_in_postgres!())) email down),
        ordered!(gather (of_provider!(one_by_one_in_sqlite!())) email down);
    PROVIDER_EMAIL_UP = ordered!(gather (of_provider!(joined_in_postgres!())) email up),
        ordered!(gather (of_provider!(one_by_one_in_sqlite!())) email up);
    PASSKEY_CREATED_DOWN = ordered!(gather (with_passkey!(joined_in_postgres!())) created down),
        ordered!(gather (with_passkey!(one_by_one_in_sqlite!())) created down);
    PASSKEY_CREATED_UP = ordered!(gather (with_passkey!(joined_in_postgres!())) created up),
        ordered!(gather (with_passkey!(one_by_one_in_sqlite!())) created up);
    PASSKEY_SIGN_IN_DOWN = ordered!(gather (with_passkey!(joined_in_postgres!())) sign_in down),
        ordered!(gather (with_passkey!(one_by_one_in_sqlite!())) sign_in down);
    PASSKEY_SIGN_IN_UP = ordered!(gather (with_passkey!(joined_in_postgres!())) sign_in up),
        ordered!(gather (with_passkey!(one_by_one_in_sqlite!())) sign_in up);
    PASSKEY_EMAIL_DOWN = ordered!(gather (with_passkey!(joined_in_postgres!())) email down),
        ordered!(gather (with_passkey!(one_by_one_in_sqlite!())) email down);
    PASSKEY_EMAIL_UP = ordered!(gather (with_passkey!(joined_in_postgres!())) email up),
        ordered!(gather (with_passkey!(one_by_one_in_sqlite!())) email up);
    OPERATOR_CREATED_DOWN = ordered!(gather (operating!()) created down);
    OPERATOR_CREATED_UP = ordered!(gather (operating!()) created up);
    OPERATOR_SIGN_IN_DOWN = ordered!(gather (operating!()) sign_in down);
    OPERATOR_SIGN_IN_UP = ordered!(gather (operating!()) sign_in up);
    OPERATOR_EMAIL_DOWN = ordered!(gather (operating!()) email down);
    OPERATOR_EMAIL_UP = ordered!(gather (operating!()) email up);
    TIME_CREATED_DOWN = ordered!(gather (created!()) created down);
    TIME_CREATED_UP = ordered!(gather (created!()) created up);
    TIME_SIGN_IN_DOWN = ordered!(gather (created!()) sign_in down);
    TIME_SIGN_IN_UP = ordered!(gather (created!()) sign_in up);
    TIME_EMAIL_DOWN = ordered!(gather (created!()) email down);
    TIME_EMAIL_UP = ordered!(gather (created!()) email up);
    SIGNED_IN_CREATED_DOWN = ordered!(gather (signed_in!("$9", "$10")) created down);
    SIGNED_IN_CREATED_UP = ordered!(gather (signed_in!("$9", "$10")) created up);
    SIGNED_IN_SIGN_IN_DOWN = ordered!(gather (signed_in!("$9", "$10")) sign_in down);
    SIGNED_IN_SIGN_IN_UP = ordered!(gather (signed_in!("$9", "$10")) sign_in up);
    SIGNED_IN_EMAIL_DOWN = ordered!(gather (signed_in!("$9", "$10")) email down);
    SIGNED_IN_EMAIL_UP = ordered!(gather (signed_in!("$9", "$10")) email up);
    IMPORTED_CREATED_DOWN = ordered!(gather (with_imported_hash!(joined_in_postgres!())) created down),
        ordered!(gather (with_imported_hash!(one_by_one_in_sqlite!())) created down);
    IMPORTED_CREATED_UP = ordered!(gather (with_imported_hash!(joined_in_postgres!())) created up),
        ordered!(gather (with_imported_hash!(one_by_one_in_sqlite!())) created up);
    IMPORTED_SIGN_IN_DOWN = ordered!(gather (with_imported_hash!(joined_in_postgres!())) sign_in down),
        ordered!(gather (with_imported_hash!(one_by_one_in_sqlite!())) sign_in down);
    IMPORTED_SIGN_IN_UP = ordered!(gather (with_imported_hash!(joined_in_postgres!())) sign_in up),
        ordered!(gather (with_imported_hash!(one_by_one_in_sqlite!())) sign_in up);
    IMPORTED_EMAIL_DOWN = ordered!(gather (with_imported_hash!(joined_in_postgres!())) email down),
        ordered!(gather (with_imported_hash!(one_by_one_in_sqlite!())) email down);
    IMPORTED_EMAIL_UP = ordered!(gather (with_imported_hash!(joined_in_postgres!())) email up),
        ordered!(gather (with_imported_hash!(one_by_one_in_sqlite!())) email up);
    SEARCH_CREATED_DOWN = ordered!(gather (searched_in_postgres!()) created down),
        ordered!(gather (searched_in_sqlite!()) created down);
    SEARCH_CREATED_UP = ordered!(gather (searched_in_postgres!()) created up),
        ordered!(gather (searched_in_sqlite!()) created up);
    SEARCH_SIGN_IN_DOWN = ordered!(gather (searched_in_postgres!()) sign_in down),
        ordered!(gather (searched_in_sqlite!()) sign_in down);
    SEARCH_SIGN_IN_UP = ordered!(gather (searched_in_postgres!()) sign_in up),
        ordered!(gather (searched_in_sqlite!()) sign_in up);
    SEARCH_EMAIL_DOWN = ordered!(gather (searched_in_postgres!()) email down),
        ordered!(gather (searched_in_sqlite!()) email down);
    SEARCH_EMAIL_UP = ordered!(gather (searched_in_postgres!()) email up),
        ordered!(gather (searched_in_sqlite!()) email up);
    SEARCH_WALK_CREATED_DOWN = ordered!(walk_searched (has_words_in_postgres!("$11", "$12")) created down),
        ordered!(walk_searched (has_words_in_sqlite!("$11", "$12")) created down);
    SEARCH_WALK_CREATED_UP = ordered!(walk_searched (has_words_in_postgres!("$11", "$12")) created up),
        ordered!(walk_searched (has_words_in_sqlite!("$11", "$12")) created up);
    SEARCH_WALK_SIGN_IN_DOWN = ordered!(walk_searched (has_words_in_postgres!("$11", "$12")) sign_in down),
        ordered!(walk_searched (has_words_in_sqlite!("$11", "$12")) sign_in down);
    SEARCH_WALK_SIGN_IN_UP = ordered!(walk_searched (has_words_in_postgres!("$11", "$12")) sign_in up),
        ordered!(walk_searched (has_words_in_sqlite!("$11", "$12")) sign_in up);
    SEARCH_WALK_EMAIL_DOWN = ordered!(walk_searched (has_words_in_postgres!("$11", "$12")) email down),
        ordered!(walk_searched (has_words_in_sqlite!("$11", "$12")) email down);
    SEARCH_WALK_EMAIL_UP = ordered!(walk_searched (has_words_in_postgres!("$11", "$12")) email up),
        ordered!(walk_searched (has_words_in_sqlite!("$11", "$12")) email up);
}

/// Statements of one way to a page: by created, last sign-in and email, each descending and ascending.
pub(super) type Ordered = [[&'static Sql; 2]; 3];

/// Along the index of the order.
pub(super) static WALK: Ordered = [
    [&WALK_CREATED_DOWN, &WALK_CREATED_UP],
    [&WALK_SIGN_IN_DOWN, &WALK_SIGN_IN_UP],
    [&WALK_EMAIL_DOWN, &WALK_EMAIL_UP],
];
/// From all users of a state.
pub(super) static OF_STATE: Ordered = [
    [&STATE_CREATED_DOWN, &STATE_CREATED_UP],
    [&STATE_SIGN_IN_DOWN, &STATE_SIGN_IN_UP],
    [&STATE_EMAIL_DOWN, &STATE_EMAIL_UP],
];
/// From all users without profile.
pub(super) static WITHOUT_PROFILE: Ordered = [
    [&NO_PROFILE_CREATED_DOWN, &NO_PROFILE_CREATED_UP],
    [&NO_PROFILE_SIGN_IN_DOWN, &NO_PROFILE_SIGN_IN_UP],
    [&NO_PROFILE_EMAIL_DOWN, &NO_PROFILE_EMAIL_UP],
];
/// From all users of a provider.
pub(super) static OF_PROVIDER: Ordered = [
    [&PROVIDER_CREATED_DOWN, &PROVIDER_CREATED_UP],
    [&PROVIDER_SIGN_IN_DOWN, &PROVIDER_SIGN_IN_UP],
    [&PROVIDER_EMAIL_DOWN, &PROVIDER_EMAIL_UP],
];
/// From all users with a passkey.
pub(super) static WITH_PASSKEY: Ordered = [
    [&PASSKEY_CREATED_DOWN, &PASSKEY_CREATED_UP],
    [&PASSKEY_SIGN_IN_DOWN, &PASSKEY_SIGN_IN_UP],
    [&PASSKEY_EMAIL_DOWN, &PASSKEY_EMAIL_UP],
];
/// From all operators.
pub(super) static OPERATING: Ordered = [
    [&OPERATOR_CREATED_DOWN, &OPERATOR_CREATED_UP],
    [&OPERATOR_SIGN_IN_DOWN, &OPERATOR_SIGN_IN_UP],
    [&OPERATOR_EMAIL_DOWN, &OPERATOR_EMAIL_UP],
];
/// From all users created in a time.
pub(super) static CREATED: Ordered = [
    [&TIME_CREATED_DOWN, &TIME_CREATED_UP],
    [&TIME_SIGN_IN_DOWN, &TIME_SIGN_IN_UP],
    [&TIME_EMAIL_DOWN, &TIME_EMAIL_UP],
];
/// From all users whose last sign-in was in a time.
pub(super) static SIGNED_IN: Ordered = [
    [&SIGNED_IN_CREATED_DOWN, &SIGNED_IN_CREATED_UP],
    [&SIGNED_IN_SIGN_IN_DOWN, &SIGNED_IN_SIGN_IN_UP],
    [&SIGNED_IN_EMAIL_DOWN, &SIGNED_IN_EMAIL_UP],
];
/// From all users with a hash from elsewhere.
pub(super) static WITH_IMPORTED_HASH: Ordered = [
    [&IMPORTED_CREATED_DOWN, &IMPORTED_CREATED_UP],
    [&IMPORTED_SIGN_IN_DOWN, &IMPORTED_SIGN_IN_UP],
    [&IMPORTED_EMAIL_DOWN, &IMPORTED_EMAIL_UP],
];
/// From all matches of a search.
pub(super) static SEARCHED: Ordered = [
    [&SEARCH_CREATED_DOWN, &SEARCH_CREATED_UP],
    [&SEARCH_SIGN_IN_DOWN, &SEARCH_SIGN_IN_UP],
    [&SEARCH_EMAIL_DOWN, &SEARCH_EMAIL_UP],
];
/// Along the index of the order, looking each user through for a search.
pub(super) static WALK_SEARCHED: Ordered = [
    [&SEARCH_WALK_CREATED_DOWN, &SEARCH_WALK_CREATED_UP],
    [&SEARCH_WALK_SIGN_IN_DOWN, &SEARCH_WALK_SIGN_IN_UP],
    [&SEARCH_WALK_EMAIL_DOWN, &SEARCH_WALK_EMAIL_UP],
];
