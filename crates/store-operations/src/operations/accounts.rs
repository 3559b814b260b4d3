//! Creation and lookup of accounts.

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::UserId;
use latchkey_domain::profile::Profile;
use latchkey_domain::user::User;
use latchkey_store::{CreateOutcome, NewAccount, StoreResult};

use crate::form::{Decided, Executor, Results, Script, Slot};
use crate::tables::users::{self, Pending};
use crate::tables::{audit_events, known_clients, sessions};

/// Creates an account with session and event. With a session it is a sign-up that found the address free: the
/// fast path inserts without a read, in one round trip, and falls back to a transaction if a concurrent insert
/// took the address.
pub(crate) async fn create_account<E: Executor>(
    engine: &E,
    account: NewAccount,
) -> StoreResult<CreateOutcome> {
    if !E::HAS_ONE_WRITER && account.session.is_some() {
        let (writes, made) = create(&account)?;
        let written = engine.write_unless_contested(writes, move |results| created(results, made)).await?;
        if let Some(outcome) = written {
            return Ok(outcome);
        }
    }
    let mut reads = Script::default();
    let there = users::find_by_key(&mut reads, account.email.key());
    engine
        .transact(reads, move |results| {
            if results.any(there)? {
                return Ok(Decided::Return(CreateOutcome::EmailTaken));
            }
            let (writes, made) = create(&account)?;
            Ok(Decided::write(writes, move |results| created(results, made)))
        })
        .await
}

/// Script that inserts an account with session and event, and reads it back.
fn create(account: &NewAccount) -> StoreResult<(Script, Slot)> {
    let mut writes = Script::default();
    users::insert(&mut writes, account, account.email.key().as_str(), Pending::No)?;
    if let Some(session) = &account.session {
        sessions::open(&mut writes, account.id, session);
        known_clients::remember(&mut writes, account.email.key(), session);
    }
    let session_id = account.session.as_ref().map(|session| session.id);
    let event = AuditEvent {
        user_id: Some(account.id),
        session_id: session_id.or(account.event.session_id),
        ..account.event.clone()
    };
    audit_events::record(&mut writes, event)?;
    let made = users::find_by_id(&mut writes, account.id);
    Ok((writes, made))
}

/// Script that inserts an account with profile and session but no event, to seed benchmark databases.
pub fn seeding(account: &NewAccount, profile: Profile) -> StoreResult<Script> {
    let mut writes = Script::default();
    users::insert(&mut writes, account, account.email.key().as_str(), Pending::No)?;
    writes.create_profile(profile);
    if let Some(session) = &account.session {
        sessions::open(&mut writes, account.id, session);
    }
    Ok(writes)
}

fn created(results: &Results<'_>, made: Slot) -> StoreResult<CreateOutcome> {
    Ok(CreateOutcome::Created(Box::new(users::user_that_is(results, made)?)))
}

pub(crate) async fn find_user<E: Executor>(engine: &E, id: UserId) -> StoreResult<Option<User>> {
    let mut reads = Script::default();
    let found = users::find_by_id(&mut reads, id);
    find(engine, reads, found).await
}

pub(crate) async fn find_user_by_email<E: Executor>(
    engine: &E,
    email: &EmailKey,
) -> StoreResult<Option<User>> {
    let mut reads = Script::default();
    let found = users::find_by_key(&mut reads, email);
    find(engine, reads, found).await
}

async fn find<E: Executor>(engine: &E, reads: Script, found: Slot) -> StoreResult<Option<User>> {
    engine.read(reads, move |results| Ok(users::account(results, found)?.map(|account| account.user))).await
}
