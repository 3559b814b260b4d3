//! What only an admin does to users.

use std::str::FromStr;

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::codes::Purpose;
use latchkey_domain::email::Email;
use latchkey_domain::ids::UserId;
use latchkey_domain::mailbox_proof::Proof;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_store::{
    AdminUsers, ListUsers, StoreResult, UpdateUser, UpdateUserOutcome, UserPage, UserPosition,
};
use rusqlite::{Connection, Row, params};

use crate::accounts::{self, account_columns, account_tables};
use crate::errors::Fallible;
use crate::proof::prove;
use crate::rows::{Id, object_text};
use crate::statements::{execute, list, number};
use crate::store::SqliteStore;
use crate::{audit, challenges, profiles, sessions};

/// Users that the search finds; all of them where it is null. `lower` touches ASCII alone.
macro_rules! found {
    () => {
        "(?1 IS NULL OR u.id = ?2 OR instr(lower(u.email), lower(?1)) > 0 OR instr(u.email_key, lower(?1)) > 0
            OR instr(lower(p.name), lower(?1)) > 0)"
    };
}

const COUNT_ALL: &str = "SELECT count(*) FROM users";
const COUNT_FOUND: &str = concat!("SELECT count(*) FROM ", account_tables!(), " WHERE ", found!());
const LIST_FROM: &str = concat!(
    "SELECT ",
    account_columns!(),
    " FROM ",
    account_tables!(),
    " WHERE ",
    found!(),
    " ORDER BY u.created_at DESC, u.id DESC LIMIT ?3 OFFSET ?4"
);
const LIST_AFTER: &str = concat!(
    "SELECT ",
    account_columns!(),
    " FROM ",
    account_tables!(),
    " WHERE (u.created_at, u.id) < (?4, ?5) AND ",
    found!(),
    " ORDER BY u.created_at DESC, u.id DESC LIMIT ?3"
);
const SET_EMAIL: &str = "UPDATE users SET email = ?2, email_key = ?3 WHERE id = ?1";
const SET_UNVERIFIED: &str = "UPDATE users SET email_verified = 0 WHERE id = ?1";
const SET_BANNED: &str = "UPDATE users SET banned_at = ?2 WHERE id = ?1";
const SET_METADATA: &str = "UPDATE users SET metadata = ?2 WHERE id = ?1";
const DELETE_USER: &str = "DELETE FROM users WHERE id = ?1";

#[async_trait]
impl AdminUsers for SqliteStore {
    async fn list_users(&self, list: &ListUsers) -> StoreResult<UserPage> {
        let list = list.clone();
        self.read_long(move |conn| list_users(conn, &list)).await
    }

    async fn update_user(&self, update: UpdateUser) -> StoreResult<UpdateUserOutcome> {
        self.write(move |conn| update_user(conn, update)).await
    }

    async fn delete_users(&self, ids: &[UserId], events: Vec<AuditEvent>) -> StoreResult<u64> {
        let ids = ids.to_vec();
        self.write(move |conn| delete_users(conn, &ids, events)).await
    }

    async fn end_all_sessions(
        &self,
        id: UserId,
        event: AuditEvent,
        now: Timestamp,
    ) -> StoreResult<Option<u64>> {
        self.write(move |conn| {
            if accounts::find_by_id(conn, id)?.is_none() {
                return Ok(None);
            }
            let ended = sessions::end_all_of(conn, id, now)?;
            audit::record_of(conn, event, id)?;
            Ok(Some(ended))
        })
        .await
    }

    async fn delete_profile(&self, id: UserId, event: AuditEvent) -> StoreResult<bool> {
        self.write(move |conn| {
            let is_deleted = profiles::delete(conn, id)?;
            if is_deleted {
                audit::record_of(conn, event, id)?;
            }
            Ok(is_deleted)
        })
        .await
    }
}

/// Count and page of one moment.
fn list_users(conn: &Connection, question: &ListUsers) -> Fallible<UserPage> {
    let moment = conn.unchecked_transaction()?;
    let search = question.search.as_deref().filter(|text| !text.is_empty());
    let id = search.and_then(|text| UserId::from_str(text).ok()).map(|id| id.blob());
    let total = match search {
        None => number(&moment, COUNT_ALL, [])?,
        Some(search) => number(&moment, COUNT_FOUND, params![search, id])?,
    };
    let one_more = i64::from(question.limit) + 1;
    let mut users = match question.position {
        UserPosition::Offset(offset) => {
            let offset = i64::try_from(offset).unwrap_or(i64::MAX);
            list(&moment, LIST_FROM, params![search, id, one_more, offset], read_user)?
        }
        UserPosition::After { created_at, id: last } => {
            let params = params![search, id, one_more, created_at.as_millis(), last.blob()];
            list(&moment, LIST_AFTER, params, read_user)?
        }
    };
    let limit = question.limit as usize;
    let has_more = users.len() > limit;
    users.truncate(limit);
    Ok(UserPage { users, total: u64::try_from(total).unwrap_or_default(), has_more })
}

fn read_user(row: &Row<'_>) -> Fallible<User> {
    Ok(accounts::read_row(row)?.user)
}

fn update_user(conn: &Connection, update: UpdateUser) -> Fallible<UpdateUserOutcome> {
    let UpdateUser { id, email, email_verified, banned, metadata, events, now } = update;
    let Some(account) = accounts::find_by_id(conn, id)? else {
        return Ok(UpdateUserOutcome::NotFound);
    };
    let user = &account.user;
    if let Some(email) = &email {
        let owner = accounts::find_by_key(conn, email.key())?;
        if owner.is_some_and(|owner| owner.user.id != id) {
            return Ok(UpdateUserOutcome::EmailTaken);
        }
    }

    let is_moved = email.as_ref().is_some_and(|email| email.key() != user.email.key());
    if let Some(email) = &email {
        set_email(conn, user, email, now)?;
    }
    match email_verified {
        Some(true) if is_moved || !user.email_verified => {
            prove(conn, &account, Proof::Verification, now)?;
            challenges::delete_codes_of(conn, id, Purpose::VerifyEmail)?;
        }
        Some(false) => unverify(conn, id, now)?,
        None if is_moved => unverify(conn, id, now)?,
        Some(true) | None => {}
    }
    if let Some(is_banned) = banned {
        set_banned(conn, user, is_banned, now)?;
    }
    if let Some(metadata) = &metadata {
        execute(conn, SET_METADATA, params![id.blob(), object_text(metadata.as_map())?])?;
    }
    if email.is_some() || email_verified.is_some() || banned.is_some() || metadata.is_some() {
        accounts::touch(conn, id, now)?;
    }
    for event in events {
        audit::record_of(conn, event, id)?;
    }
    Ok(UpdateUserOutcome::Updated(Box::new(accounts::user_that_is(conn, id)?)))
}

/// The same address in another spelling ends nothing.
fn set_email(conn: &Connection, user: &User, email: &Email, now: Timestamp) -> Fallible<()> {
    execute(conn, SET_EMAIL, params![user.id.blob(), email.as_typed(), email.key().as_str()])?;
    if email.key() != user.email.key() {
        challenges::end_all_of(conn, user.id, now)?;
    }
    Ok(())
}

/// A used verification link would otherwise prove the address again.
fn unverify(conn: &Connection, id: UserId, now: Timestamp) -> Fallible<()> {
    challenges::supersede_tokens_of(conn, id, Purpose::VerifyEmail, now)?;
    execute(conn, SET_UNVERIFIED, params![id.blob()])?;
    Ok(())
}

fn set_banned(conn: &Connection, user: &User, is_banned: bool, now: Timestamp) -> Fallible<()> {
    if is_banned == user.is_banned() {
        return Ok(());
    }
    if is_banned {
        sessions::end_all_of(conn, user.id, now)?;
        challenges::end_all_of(conn, user.id, now)?;
    }
    execute(conn, SET_BANNED, params![user.id.blob(), is_banned.then_some(now.as_millis())])?;
    profiles::show_or_hide(conn, user.id)
}

fn delete_users(conn: &Connection, ids: &[UserId], events: Vec<AuditEvent>) -> Fallible<u64> {
    let mut deleted = 0;
    let mut events = events.into_iter();
    for id in ids {
        let event = events.next();
        if execute(conn, DELETE_USER, params![id.blob()])? == 0 {
            continue;
        }
        deleted += 1;
        if let Some(event) = event {
            audit::record_of(conn, event, *id)?;
        }
    }
    Ok(deleted)
}
