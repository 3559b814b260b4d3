//! SQL of the list of users: conditions, sets, and pages by sort and direction.

use crate::form::{Sql, statements};
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
                ELSE ",
            state_of!("u"),
            " = $1 END
            AND ($2 = '' OR EXISTS (SELECT 1 FROM identities AS i WHERE i.user_id = u.id AND i.provider = $2))"
        )
    };
}
/// Condition on a user: the whole filter, with the time of creation from `$3` until before `$4`. A `+` before that time keeps
/// SQLite from reading along its index, where the index of another order is to be read.
macro_rules! passes {
    ($created:literal) => {
        concat!(is_of_kind!(), " AND ", $created, " >= $3 AND ", $created, " < $4")
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
/// Query for a page along the index of the order: users beyond the key (`$5`, `$6`), `$7` of them after the first `$8`.
macro_rules! walk {
    ($created:literal, $beyond:literal, $order:literal) => {
        concat!(
            "SELECT ",
            account_columns!(),
            " FROM (SELECT u.id AS id FROM users AS u WHERE ",
            $beyond,
            " AND ",
            passes!($created),
            " ORDER BY ",
            $order,
            " LIMIT $7 OFFSET $8) AS page CROSS JOIN ",
            account_tables!(),
            " WHERE u.id = page.id ORDER BY ",
            $order
        )
    };
}
/// Query for a page of a collected set, given as FROM clause and condition. Each row begins with the number of all matches, and
/// with a flag that is false in the single row of an empty page. `$walked` is for [`walk`] alone.
macro_rules! gather {
    ($set:expr, $walked:literal, $beyond:literal, $order:literal) => {
        concat!(
            "WITH hits AS MATERIALIZED (
                SELECT u.id AS id, u.created_at AS created_at, u.last_sign_in_at AS last_sign_in_at,
                    u.email_key AS email_key
                FROM ",
            $set,
            " AND ",
            passes!("+u.created_at"),
            "),
            page AS (SELECT u.id AS id FROM hits AS u WHERE ",
            $beyond,
            " ORDER BY ",
            $order,
            " LIMIT $7 OFFSET $8)
            SELECT (SELECT count(*) FROM hits), u.id IS NOT NULL, ",
            account_columns!(),
            "
            FROM (SELECT 1 AS one) AS one LEFT JOIN page ON TRUE LEFT JOIN users AS u ON u.id = page.id
            LEFT JOIN credentials AS c ON c.user_id = u.id AND c.kind = 'password'
            LEFT JOIN profiles AS p ON p.user_id = u.id ORDER BY ",
            $order
        )
    };
}
macro_rules! of_state {
    () => {
        concat!("users AS u WHERE ", state_of!("u"), " = $1")
    };
}
macro_rules! without_profile {
    () => {
        "users AS u WHERE NOT u.has_profile"
    };
}
/// Joins the users of a set of ids, one by one: without statistics of the set, PostgreSQL would read all users instead.
macro_rules! one_by_one_in_postgres {
    () => {
        " AS d CROSS JOIN LATERAL (SELECT * FROM users WHERE id = d.id LIMIT 1) AS u WHERE TRUE"
    };
}
macro_rules! one_by_one_in_sqlite {
    () => {
        " AS d CROSS JOIN users AS u WHERE u.id = d.id"
    };
}
macro_rules! of_provider {
    ($joined:expr) => {
        concat!("(SELECT DISTINCT user_id AS id FROM identities WHERE provider = $2)", $joined)
    };
}
macro_rules! operating {
    () => {
        "operators AS d CROSS JOIN users AS u WHERE u.id = d.user_id"
    };
}
macro_rules! created {
    () => {
        "users AS u WHERE u.created_at >= $3 AND u.created_at < $4"
    };
}
/// Set of a search: the id `$9`, addresses from `$10` until before `$11`, the address `$12`, and profiles with a name or
/// username that has the word `$14` and all words of the list `$15`. The index of the profile search narrows the latter by
/// `$13`. It has no hidden profiles, which are few and looked through one by one.
macro_rules! searched {
    ($indexed:expr, $has_words:expr, $joined:expr) => {
        concat!(
            "(SELECT id FROM users WHERE id = $9
            UNION SELECT id FROM users WHERE email_key >= $10 AND email_key < $11
            UNION SELECT id FROM users WHERE email_key = $12
            UNION SELECT user_id AS id FROM profiles AS p WHERE $13 <> '' AND NOT p.searchable AND ",
            $has_words,
            $indexed,
            ")",
            $joined
        )
    };
}
macro_rules! searched_in_postgres {
    () => {
        searched!(
            concat!(
                " UNION SELECT user_id AS id FROM profiles AS p
                WHERE $13 <> '' AND p.searchable AND p.trigrams @> string_to_array($13, ' ')::int[] AND ",
                has_words_in_postgres!()
            ),
            has_words_in_postgres!(),
            one_by_one_in_postgres!()
        )
    };
}
macro_rules! has_words_in_postgres {
    () => {
        "strpos(' ' || p.folded_name || ' ' || p.folded_username, $14) > 0
            AND NOT EXISTS (SELECT 1 FROM unnest(string_to_array($15, E'\\n')) AS word
                WHERE strpos(' ' || p.folded_name || ' ' || p.folded_username, word) = 0)"
    };
}
macro_rules! searched_in_sqlite {
    () => {
        searched!(
            concat!(
                " UNION SELECT p.user_id AS id
                FROM profile_search CROSS JOIN profiles AS p ON p.search_id = profile_search.rowid
                WHERE $13 <> '' AND profile_search MATCH $13 AND p.searchable AND ", has_words_in_sqlite!(), "
                    AND NOT EXISTS (SELECT 1 FROM profile_search_pending AS b WHERE b.search_id = p.search_id)
                UNION SELECT p.user_id AS id
                FROM profile_search_pending AS b CROSS JOIN profiles AS p ON p.search_id = b.search_id
                WHERE $13 <> '' AND p.searchable AND ", has_words_in_sqlite!()
            ),
            has_words_in_sqlite!(),
            one_by_one_in_sqlite!()
        )
    };
}
macro_rules! has_words_in_sqlite {
    () => {
        "instr(' ' || p.folded_name || ' ' || p.folded_username, $14) > 0
            AND NOT EXISTS (SELECT 1 FROM json_each($15) AS word
                WHERE instr(' ' || p.folded_name || ' ' || p.folded_username, word.value) = 0)"
    };
}
/// Calls a macro with the time of creation, the condition of a page and the order, of the list by `sort` in a direction.
macro_rules! ordered {
    ($query:ident ($($set:expr)?) created down) => {
        $query!($($set,)? "u.created_at", "(u.created_at, u.id) < ($5, $6)", "u.created_at DESC, u.id DESC")
    };
    ($query:ident ($($set:expr)?) created up) => {
        $query!($($set,)? "u.created_at", "(u.created_at, u.id) > ($5, $6)", "u.created_at, u.id")
    };
    ($query:ident ($($set:expr)?) sign_in down) => {
        $query!($($set,)? "+u.created_at", "(coalesce(u.last_sign_in_at, 0), u.id) < ($5, $6)",
            "coalesce(u.last_sign_in_at, 0) DESC, u.id DESC")
    };
    ($query:ident ($($set:expr)?) sign_in up) => {
        $query!($($set,)? "+u.created_at", "(coalesce(u.last_sign_in_at, 0), u.id) > ($5, $6)",
            "coalesce(u.last_sign_in_at, 0), u.id")
    };
    ($query:ident ($($set:expr)?) email down) => {
        $query!($($set,)? "+u.created_at", "u.email_key < $5 AND u.id <> $6", "u.email_key DESC") // unique: needs no tie-break
    };
    ($query:ident ($($set:expr)?) email up) => {
        $query!($($set,)? "+u.created_at", "u.email_key > $5 AND u.id <> $6", "u.email_key")
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
    PROVIDER_CREATED_DOWN = ordered!(gather (of_provider!(one_by_one_in_postgres!())) created down),
        ordered!(gather (of_provider!(one_by_one_in_sqlite!())) created down);
    PROVIDER_CREATED_UP = ordered!(gather (of_provider!(one_by_one_in_postgres!())) created up),
        ordered!(gather (of_provider!(one_by_one_in_sqlite!())) created up);
    PROVIDER_SIGN_IN_DOWN = ordered!(gather (of_provider!(one_by_one_in_postgres!())) sign_in down),
        ordered!(gather (of_provider!(one_by_one_in_sqlite!())) sign_in down);
    PROVIDER_SIGN_IN_UP = ordered!(gather (of_provider!(one_by_one_in_postgres!())) sign_in up),
        ordered!(gather (of_provider!(one_by_one_in_sqlite!())) sign_in up);
    PROVIDER_EMAIL_DOWN = ordered!(gather (of_provider!(one_by_one_in_postgres!())) email down),
        ordered!(gather (of_provider!(one_by_one_in_sqlite!())) email down);
    PROVIDER_EMAIL_UP = ordered!(gather (of_provider!(one_by_one_in_postgres!())) email up),
        ordered!(gather (of_provider!(one_by_one_in_sqlite!())) email up);
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
/// From all matches of a search.
pub(super) static SEARCHED: Ordered = [
    [&SEARCH_CREATED_DOWN, &SEARCH_CREATED_UP],
    [&SEARCH_SIGN_IN_DOWN, &SEARCH_SIGN_IN_UP],
    [&SEARCH_EMAIL_DOWN, &SEARCH_EMAIL_UP],
];
