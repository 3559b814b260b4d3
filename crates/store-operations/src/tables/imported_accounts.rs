//! Table `imported_accounts`: the accounts that imports created. `imported_at` is the time of the last change that the account
//! got by the import; an account with another one was changed since.

use latchkey_domain::ids::{ImportId, UserId};
use latchkey_store::StoreResult;

use super::imports::count;
use crate::bulk::{Table, columns};
use crate::form::{Cells, statements};

/// Query for the accounts of a page of an import.
macro_rules! page {
    ($columns:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM imported_accounts WHERE import_id = $1 AND place > $2 ORDER BY place LIMIT $3"
        )
    };
}

pub const TABLE: Table =
    Table::new("imported_accounts", 2, columns! { id import_id, int place, id user_id, int imported_at });

statements! {
    INSERT_ALL = "
    INSERT INTO imported_accounts (import_id, place, user_id, imported_at)
    SELECT import_id, place, user_id, imported_at
    FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::bigint[]) AS r (import_id, place, user_id, imported_at)", "
    INSERT INTO imported_accounts (import_id, place, user_id, imported_at) VALUES ($1, $2, $3, $4)";
    /// Locks the accounts of a page.
    LOCK_PAGE: read lock_page(id: ImportId, after: i64, limit: i64) = concat!(
        "SELECT 1 FROM users WHERE id IN (", page!("user_id"), ") ORDER BY id FOR UPDATE"
    );
    /// Reads the accounts of a page, and what keeps each of them from being deleted again.
    FIND_PAGE: read find_page(id: ImportId, after: i64, limit: i64) = concat!(
        "SELECT a.place, a.user_id, u.id IS NOT NULL,
            coalesce(u.last_sign_in_at >= (SELECT i.started_at FROM imports AS i WHERE i.id = $1), FALSE)
                OR u.device_mail_at IS NOT NULL OR EXISTS (SELECT 1 FROM sessions AS s WHERE s.user_id = a.user_id),
            coalesce(u.updated_at <> a.imported_at, FALSE) OR coalesce(p.version <> 1, FALSE)
                OR EXISTS (SELECT 1 FROM operators AS o WHERE o.user_id = a.user_id)
                OR EXISTS (SELECT 1 FROM operator_addresses AS w WHERE w.email_key = u.email_key)
        FROM (", page!("place, user_id, imported_at"), ") AS a
        LEFT JOIN users AS u ON u.id = a.user_id LEFT JOIN profiles AS p ON p.user_id = a.user_id ORDER BY a.place"
    );
    /// Reads the accounts of a page that exist, each with its id in the source if that was no UUID. A value of another type
    /// is not the import's.
    LIST_IDS: read list_ids(id: ImportId, after: i64, limit: u32) = concat!(
        "SELECT a.place, a.user_id,
            CASE json_typeof(u.metadata::json -> 'importedId') WHEN 'string' THEN u.metadata::json ->> 'importedId' END
        FROM (", page!("place, user_id"), ") AS a JOIN users AS u ON u.id = a.user_id ORDER BY a.place"
    ), concat!(
        "SELECT a.place, a.user_id,
            CASE json_type(u.metadata, '$.importedId') WHEN 'text' THEN u.metadata ->> 'importedId' END
        FROM (", page!("place, user_id"), ") AS a JOIN users AS u ON u.id = a.user_id ORDER BY a.place"
    );
}

/// An account that an import created, as an undo finds it.
pub(crate) struct Found {
    pub(crate) place: u64,
    pub(crate) user_id: UserId,
    pub(crate) is_there: bool,
    pub(crate) has_signed_in: bool,
    pub(crate) has_changed: bool,
}

pub(crate) fn read_found(cells: &mut Cells<'_>) -> StoreResult<Found> {
    cells.of("imported_accounts");
    Ok(Found {
        place: count(cells, "place")?,
        user_id: cells.id("user_id")?,
        is_there: cells.flag("id")?,
        has_signed_in: cells.flag("device_mail_at")?,
        has_changed: cells.flag("updated_at")?,
    })
}

pub(crate) fn read_id(cells: &mut Cells<'_>) -> StoreResult<(u64, UserId, Option<String>)> {
    cells.of("imported_accounts");
    let place = count(cells, "place")?;
    Ok((place, cells.id("user_id")?, cells.of("users").maybe_text("metadata")?))
}
