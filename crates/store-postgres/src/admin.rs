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

use crate::accounts::{self, account_columns, account_tables};
use crate::audit::record_event_where;
use crate::errors::Fallible;
use crate::proof::{Proven, prove};
use crate::rows::{Cells, object_text};
use crate::script::{Answers, Script};
use crate::store::PostgresStore;
use crate::transact::Step;
use crate::values::{Value, values};
use crate::{audit, challenges, profiles, sessions};

/// Users that the search, in lower case, finds. `lower` touches ASCII alone: that is the columns' collation.
macro_rules! found {
    () => {
        "(u.id = $2 OR strpos(lower(u.email), $1) > 0 OR strpos(u.email_key, $1) > 0
            OR strpos(lower(p.name), $1) > 0)"
    };
}
/// A page of users: which ones, and from where on.
macro_rules! list_users {
    ($which:expr, $from:expr) => {
        concat!(
            "SELECT ",
            account_columns!(),
            " FROM ",
            account_tables!(),
            " WHERE ",
            $which,
            " ORDER BY u.created_at DESC, u.id DESC LIMIT $3",
            $from
        )
    };
}

const COUNT_ALL: &str = "SELECT count(*) FROM users";
const COUNT_FOUND: &str = concat!("SELECT count(*) FROM ", account_tables!(), " WHERE ", found!());
const LIST_ALL_FROM: &str = list_users!("TRUE", " OFFSET $4");
const LIST_ALL_AFTER: &str = list_users!("(u.created_at, u.id) < ($4, $5)", "");
const LIST_FOUND_FROM: &str = list_users!(found!(), " OFFSET $4");
const LIST_FOUND_AFTER: &str = list_users!(concat!("(u.created_at, u.id) < ($4, $5) AND ", found!()), "");
const FIND_OWNER: &str = "SELECT id FROM users WHERE email_key = $1 AND id <> $2";
const SET_EMAIL: &str = "UPDATE users SET email = $2, email_key = $3 WHERE id = $1";
const SET_UNVERIFIED: &str = "UPDATE users SET email_verified = FALSE WHERE id = $1";
const SET_BANNED: &str = "UPDATE users SET banned_at = $2 WHERE id = $1";
const SET_METADATA: &str = "UPDATE users SET metadata = $2 WHERE id = $1";
const LOCK_USERS: &str = "SELECT id FROM users WHERE id = ANY($1) ORDER BY id FOR UPDATE";
const DELETE_CODES: &str = "DELETE FROM codes WHERE user_id = ANY($1)";
const DELETE_TOKENS: &str = "DELETE FROM link_tokens WHERE user_id = ANY($1)";
const DELETE_MAILS: &str = "DELETE FROM outbox WHERE user_id = ANY($1)";
const DELETE_USERS: &str = "DELETE FROM users WHERE id = ANY($1)";
const DELETE_PROFILE_AND_RECORD: &str = concat!(
    "WITH gone AS (DELETE FROM profiles WHERE user_id = $10 RETURNING id), recorded AS (",
    record_event_where!("EXISTS (SELECT 1 FROM gone)"),
    ") SELECT id FROM gone"
);

#[async_trait]
impl AdminUsers for PostgresStore {
    async fn list_users(&self, list: &ListUsers) -> StoreResult<UserPage> {
        list_users(self, list).await
    }

    async fn update_user(&self, update: UpdateUser) -> StoreResult<UpdateUserOutcome> {
        update_user(self, &update).await
    }

    async fn delete_users(&self, ids: &[UserId], events: Vec<AuditEvent>) -> StoreResult<u64> {
        delete_users(self, ids, &events).await
    }

    async fn end_all_sessions(
        &self,
        id: UserId,
        event: AuditEvent,
        now: Timestamp,
    ) -> StoreResult<Option<u64>> {
        let mut reads = Script::default();
        let user = accounts::lock_by_id(&mut reads, id);
        self.transact(&reads, |answers| {
            if !answers.any(user) {
                return Ok(Step::Answer(None));
            }
            let mut writes = Script::default();
            let ended = sessions::end_all_of(&mut writes, id, now);
            audit::record_of(&mut writes, event.clone(), id)?;
            Ok(Step::write(writes, move |answers| Ok(Some(answers.affected(ended)))))
        })
        .await
    }

    async fn delete_profile(&self, id: UserId, event: AuditEvent) -> StoreResult<bool> {
        let mut values = audit::event_values(AuditEvent { user_id: Some(id), ..event })?;
        values.extend(values![id]);
        let mut writes = Script::default();
        accounts::lock_by_id(&mut writes, id);
        let gone = writes.add(DELETE_PROFILE_AND_RECORD, values);
        Ok(self.write(&writes).await?.any(gone))
    }
}

/// Count and page of one moment.
async fn list_users(store: &PostgresStore, question: &ListUsers) -> StoreResult<UserPage> {
    let search = question.search.as_deref().filter(|text| !text.is_empty());
    let id = search.and_then(|text| UserId::from_str(text).ok());
    let search = search.map(str::to_ascii_lowercase);
    let one_more = i64::from(question.limit) + 1;
    let mut reads = Script::default();
    let total = match &search {
        None => reads.add(COUNT_ALL, Vec::new()),
        Some(search) => reads.add(COUNT_FOUND, values![search.as_str(), id]),
    };
    let is_found = search.is_some();
    let mut values = values![search, id, one_more];
    let sql = match question.position {
        UserPosition::Offset(offset) => {
            values.extend(values![i64::try_from(offset).unwrap_or(i64::MAX)]);
            if is_found { LIST_FOUND_FROM } else { LIST_ALL_FROM }
        }
        UserPosition::After { created_at, id } => {
            values.extend(values![created_at, id]);
            if is_found { LIST_FOUND_AFTER } else { LIST_ALL_AFTER }
        }
    };
    let page = reads.add(sql, values);
    let answers = store.read(&reads).await?;

    let total = answers.find(total, |row| Cells::new(row, "users").count("total"))?.unwrap_or_default();
    let mut users = answers.list(page, |row| Ok(accounts::read_row(row)?.user))?;
    let limit = question.limit as usize;
    let has_more = users.len() > limit;
    users.truncate(limit);
    Ok(UserPage { users, total: u64::from(total), has_more })
}

async fn update_user(store: &PostgresStore, update: &UpdateUser) -> StoreResult<UpdateUserOutcome> {
    let mut reads = Script::default();
    accounts::lock_by_id(&mut reads, update.id);
    let found = accounts::find_by_id(&mut reads, update.id);
    let profile = profiles::find_by_user(&mut reads, update.id);
    let owner = update.email.as_ref().map(|email| reads.add(FIND_OWNER, values![email.key(), update.id]));
    store
        .transact(&reads, |answers| {
            let Some(account) = accounts::account(answers, found)? else {
                return Ok(Step::Answer(UpdateUserOutcome::NotFound));
            };
            if owner.is_some_and(|owner| answers.any(owner)) {
                return Ok(Step::Answer(UpdateUserOutcome::EmailTaken));
            }
            let proven = Proven { account, profile: profiles::profile(answers, profile)? };
            let mut writes = Script::default();
            change(&mut writes, &proven, update)?;
            let user = accounts::find_by_id(&mut writes, update.id);
            let finish = move |answers: &Answers| {
                Ok(UpdateUserOutcome::Updated(Box::new(accounts::user_that_is(answers, user)?)))
            };
            Ok(Step::write(writes, finish))
        })
        .await
}

fn change(writes: &mut Script, there: &Proven, update: &UpdateUser) -> Fallible<()> {
    let UpdateUser { id, email, email_verified, banned, metadata, events, now } = update;
    let (id, now, user) = (*id, *now, &there.account.user);
    let is_moved = email.as_ref().is_some_and(|email| email.key() != user.email.key());
    if let Some(email) = email {
        set_email(writes, user, email, now);
    }
    match email_verified {
        Some(true) if is_moved || !user.email_verified => {
            challenges::delete_codes_of(writes, id, Purpose::VerifyEmail);
            prove(writes, there, Proof::Verification, now)?;
        }
        Some(false) => unverify(writes, id, now),
        None if is_moved => unverify(writes, id, now),
        Some(true) | None => {}
    }
    if let Some(is_banned) = banned {
        set_banned(writes, user, *is_banned, now);
    }
    if let Some(metadata) = metadata {
        writes.add(SET_METADATA, values![id, object_text(metadata.as_map())?]);
    }
    if email.is_some() || email_verified.is_some() || banned.is_some() || metadata.is_some() {
        accounts::touch(writes, id, now);
    }
    let events = events.iter().map(|event| AuditEvent { user_id: Some(id), ..event.clone() });
    audit::record_all(writes, events.collect())
}

/// The same address in another spelling ends nothing.
fn set_email(writes: &mut Script, user: &User, email: &Email, now: Timestamp) {
    writes.add(SET_EMAIL, values![user.id, email.as_typed(), email.key()]);
    if email.key() != user.email.key() {
        challenges::end_all_of(writes, user.id, now);
    }
}

/// A used verification link would otherwise prove the address again.
fn unverify(writes: &mut Script, id: UserId, now: Timestamp) {
    challenges::supersede_tokens_of(writes, id, Purpose::VerifyEmail, now);
    writes.add(SET_UNVERIFIED, values![id]);
}

fn set_banned(writes: &mut Script, user: &User, is_banned: bool, now: Timestamp) {
    if is_banned == user.is_banned() {
        return;
    }
    if is_banned {
        challenges::end_all_of(writes, user.id, now);
        sessions::end_all_of(writes, user.id, now);
    }
    writes.add(SET_BANNED, values![user.id, is_banned.then_some(now)]);
    profiles::show_or_hide(writes, user.id);
}

/// The first event of an id that is there counts; an id named twice is deleted once.
async fn delete_users(store: &PostgresStore, ids: &[UserId], events: &[AuditEvent]) -> StoreResult<u64> {
    let mut reads = Script::default();
    let there = reads.add(LOCK_USERS, vec![uuids(ids)]);
    store
        .transact(&reads, |answers| {
            let found: Vec<UserId> = answers.list(there, |row| Cells::new(row, "users").id("id"))?;
            if found.is_empty() {
                return Ok(Step::Answer(0));
            }
            let mut writes = Script::default();
            for sql in [DELETE_CODES, DELETE_TOKENS, DELETE_MAILS, DELETE_USERS] {
                writes.add(sql, vec![uuids(&found)]);
            }
            let event_of = |id: &UserId| {
                let at = ids.iter().position(|other| other == id)?;
                Some(AuditEvent { user_id: Some(*id), ..events.get(at)?.clone() })
            };
            audit::record_all(&mut writes, found.iter().filter_map(event_of).collect())?;
            Ok(Step::done(writes, found.len() as u64))
        })
        .await
}

fn uuids(ids: &[UserId]) -> Value {
    Value::Ids(ids.iter().map(|id| Some(id.as_uuid())).collect())
}
