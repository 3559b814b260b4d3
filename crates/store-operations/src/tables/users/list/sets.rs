//! Sets of users from which a page of the list is collected, as a FROM clause and the begin of a condition.

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
/// Joins the users of a set of ids. PostgreSQL chooses the way by the size of the set.
macro_rules! joined_in_postgres {
    () => {
        " AS d JOIN users AS u ON u.id = d.id WHERE TRUE"
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
macro_rules! with_passkey {
    ($joined:expr) => {
        concat!("(SELECT DISTINCT user_id AS id FROM passkeys)", $joined)
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
macro_rules! signed_in {
    ($from:literal, $until:literal) => {
        concat!(
            "users AS u WHERE coalesce(u.last_sign_in_at, 0) >= ",
            $from,
            " AND coalesce(u.last_sign_in_at, 0) < ",
            $until
        )
    };
}
macro_rules! with_imported_hash {
    ($joined:expr) => {
        concat!("(", imported_hashes!(), ")", $joined)
    };
}
/// Set of a search: the id `$11`, addresses from `$12` until before `$13`, the address `$14`, and profiles with a name or
/// username that has the word `$16` and all words of the list `$17`. The index of the profile search narrows the latter by
/// `$15`. It has no hidden profiles, which are few and looked through one by one. A search for an id has no other part. Each
/// part leaves out what those before it have, so that the server may choose how it joins them.
macro_rules! searched_in_postgres {
    () => {
        concat!(
            "(SELECT * FROM users WHERE id = $11
            UNION ALL SELECT * FROM users WHERE ",
            begins!("email_key", "$12", "$13"),
            "
            UNION ALL SELECT * FROM users WHERE email_key = $14 AND NOT (",
            begins!("email_key", "$12", "$13"),
            ")
            UNION ALL SELECT n.* FROM profiles AS p JOIN users AS n ON n.id = p.user_id
            WHERE ",
            hidden_with_words!("$15", has_words_in_postgres!("$16", "$17")),
            " AND ",
            not_by_address!(),
            " UNION ALL SELECT n.* FROM profiles AS p JOIN users AS n ON n.id = p.user_id
            WHERE ",
            indexed_in_postgres!("$15", "$16", "$17"),
            " AND ",
            not_by_address!(),
            ") AS u WHERE TRUE"
        )
    };
}
macro_rules! not_by_address {
    () => {
        concat!("NOT (", begins!("n.email_key", "$12", "$13"), ") AND n.email_key IS DISTINCT FROM $14")
    };
}
/// One row if every address is in a range.
macro_rules! all_in_range {
    () => {
        "SELECT 1 WHERE (SELECT min(email_key) FROM users) >= $1 AND (SELECT max(email_key) FROM users) < $2"
    };
}
/// Addresses that begin with the text of a search.
macro_rules! begins {
    ($key:literal, $prefix:literal, $end:literal) => {
        concat!($key, " >= ", $prefix, " AND ", $key, " < ", $end)
    };
}
macro_rules! hidden_with_words {
    ($candidates:literal, $has_words:expr) => {
        concat!($candidates, " <> '' AND NOT p.searchable AND ", $has_words)
    };
}
macro_rules! candidates_in_postgres {
    ($candidates:literal) => {
        concat!(
            $candidates,
            " <> '' AND p.searchable AND ",
            of_names!(),
            " @> string_to_array(",
            $candidates,
            ", ' ')::int[]"
        )
    };
}
macro_rules! indexed_in_postgres {
    ($candidates:literal, $longest:literal, $others:literal) => {
        concat!(candidates_in_postgres!($candidates), " AND ", has_words_in_postgres!($longest, $others))
    };
}
/// Trigrams of name and username, as the index `profiles_by_name_trigram` has them.
macro_rules! of_names {
    () => {
        "p.trigrams[:coalesce(array_position(p.trigrams, NULL) - 1, cardinality(p.trigrams))]"
    };
}
macro_rules! has_words_in_postgres {
    ($longest:literal, $others:literal) => {
        concat!(
            "strpos(' ' || p.folded_name || ' ' || p.folded_username, ",
            $longest,
            ") > 0
            AND NOT EXISTS (SELECT 1 FROM unnest(string_to_array(",
            $others,
            ", E'\\n')) AS word
                WHERE strpos(' ' || p.folded_name || ' ' || p.folded_username, word) = 0)"
        )
    };
}
macro_rules! searched_in_sqlite {
    () => {
        concat!(
            "(SELECT id FROM users WHERE id = $11
            UNION SELECT id FROM users WHERE ",
            begins!("email_key", "$12", "$13"),
            "
            UNION SELECT id FROM users WHERE email_key = $14
            UNION SELECT user_id AS id FROM profiles AS p
            WHERE ",
            hidden_with_words!("$15", has_words_in_sqlite!("$16", "$17")),
            "
            UNION ",
            indexed_in_sqlite!("$15", "$16", "$17"),
            "
            UNION ",
            pending_in_sqlite!("$15", "$16", "$17"),
            ")",
            one_by_one_in_sqlite!()
        )
    };
}
macro_rules! indexed_in_sqlite {
    ($candidates:literal, $longest:literal, $others:literal) => {
        concat!(
            "SELECT p.user_id AS id
            FROM profile_search CROSS JOIN profiles AS p ON p.search_id = profile_search.rowid
            WHERE ", $candidates, " <> '' AND profile_search MATCH ", $candidates, " AND p.searchable
                AND ", has_words_in_sqlite!($longest, $others), "
                AND NOT EXISTS (SELECT 1 FROM profile_search_pending AS b WHERE b.search_id = p.search_id)"
        )
    };
}
macro_rules! pending_in_sqlite {
    ($candidates:literal, $longest:literal, $others:literal) => {
        concat!(
            "SELECT p.user_id AS id
            FROM profile_search_pending AS b CROSS JOIN profiles AS p ON p.search_id = b.search_id
            WHERE ",
            $candidates,
            " <> '' AND p.searchable AND ",
            has_words_in_sqlite!($longest, $others)
        )
    };
}
macro_rules! has_words_in_sqlite {
    ($longest:literal, $others:literal) => {
        concat!(
            "instr(' ' || p.folded_name || ' ' || p.folded_username, ",
            $longest,
            ") > 0
            AND NOT EXISTS (SELECT 1 FROM json_each(",
            $others,
            ") AS word
                WHERE instr(' ' || p.folded_name || ' ' || p.folded_username, word.value) = 0)"
        )
    };
}
pub(super) use {
    all_in_range, begins, candidates_in_postgres, created, has_words_in_postgres, has_words_in_sqlite,
    hidden_with_words, indexed_in_postgres, indexed_in_sqlite, joined_in_postgres, not_by_address, of_names,
    of_provider, of_state, one_by_one_in_sqlite, operating, pending_in_sqlite, searched_in_postgres,
    searched_in_sqlite, signed_in, with_imported_hash, with_passkey, without_profile,
};
