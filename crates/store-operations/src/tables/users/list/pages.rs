//! Queries for a page of the list of users, by the way to it, the sort and the direction.

/// Query for a page along the index of the order: users beyond the key (`$5`, `$6`), `$7` of them after the first `$8`.
macro_rules! walk {
    ($created:ident, $signed_in:ident, $beyond:literal, $until:literal, $order:literal) => {
        page_of!(passes!($created, $signed_in), $beyond, $order)
    };
}
/// The same for a search without other filters, for which the users before the key (`$1`, `$2`) are looked through: addresses from
/// `$3` until before `$4`, the address `$9`, and profiles with the words `$11` and `$12`, if `$10` is not empty. It is no `EXISTS`,
/// for which PostgreSQL would look through all profiles first.
macro_rules! walk_searched {
    ($has_words:expr, $created:ident, $signed_in:ident, $beyond:literal, $until:literal, $order:literal) => {
        page_of!(
            concat!(
                $until,
                " AND (",
                begins!("u.email_key", "$3", "$4"),
                " OR u.email_key = $9
                OR (SELECT TRUE FROM profiles AS p WHERE p.user_id = u.id AND $10 <> '' AND ",
                $has_words,
                "))"
            ),
            $beyond,
            $order
        )
    };
}
macro_rules! page_of {
    ($condition:expr, $beyond:literal, $order:literal) => {
        concat!(
            "SELECT ",
            account_columns!(),
            " FROM (SELECT u.id AS id FROM users AS u WHERE ",
            $beyond,
            " AND ",
            $condition,
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
/// with a flag that is false in the single row of an empty page. The conditions on times are for [`walk`] alone.
macro_rules! gather {
    ($set:expr, $created:ident, $signed_in:ident, $beyond:literal, $until:literal, $order:literal) => {
        concat!(
            "WITH hits AS MATERIALIZED (
                SELECT u.id AS id, u.created_at AS created_at, u.last_sign_in_at AS last_sign_in_at,
                    u.email_key AS email_key
                FROM ",
            $set,
            " AND ",
            passes!(by_row, by_row),
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
/// Calls a macro with the conditions on times, those of a page's begin and end and the order, of the list by `sort` in a
/// direction.
macro_rules! ordered {
    ($query:ident ($($set:expr)?) created down) => {
        $query!($($set,)? by_index, by_row,
            "(u.created_at, u.id) < ($5, $6)", "(u.created_at, u.id) > ($1, $2)",
            "u.created_at DESC, u.id DESC")
    };
    ($query:ident ($($set:expr)?) created up) => {
        $query!($($set,)? by_index, by_row,
            "(u.created_at, u.id) > ($5, $6)", "(u.created_at, u.id) < ($1, $2)",
            "u.created_at, u.id")
    };
    ($query:ident ($($set:expr)?) sign_in down) => {
        $query!($($set,)? by_row, by_index,
            "(coalesce(u.last_sign_in_at, 0), u.id) < ($5, $6)",
            "(coalesce(u.last_sign_in_at, 0), u.id) > ($1, $2)",
            "coalesce(u.last_sign_in_at, 0) DESC, u.id DESC")
    };
    ($query:ident ($($set:expr)?) sign_in up) => {
        $query!($($set,)? by_row, by_index,
            "(coalesce(u.last_sign_in_at, 0), u.id) > ($5, $6)",
            "(coalesce(u.last_sign_in_at, 0), u.id) < ($1, $2)",
            "coalesce(u.last_sign_in_at, 0), u.id")
    };
    ($query:ident ($($set:expr)?) email down) => {
        $query!($($set,)? by_row, by_row,
            "u.email_key < $5 AND u.id <> $6", "u.email_key > $1 AND u.id <> $2",
            "u.email_key DESC") // unique: needs no tie-break
    };
    ($query:ident ($($set:expr)?) email up) => {
        $query!($($set,)? by_row, by_row,
            "u.email_key > $5 AND u.id <> $6", "u.email_key < $1 AND u.id <> $2",
            "u.email_key")
    };
}
pub(super) use {gather, ordered, page_of, walk, walk_searched};
