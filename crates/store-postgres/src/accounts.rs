//! Accounts: making them, finding them, and the small changes that other operations make to them.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::Take;
use latchkey_domain::password::PasswordHash;
use latchkey_domain::profile::{AvatarUrl, Name};
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::{AppMetadata, User, UserProfile};
use latchkey_store::{
    Accounts, BeginSignUp, CreateOutcome, NewAccount, PendingSignUp, SignUpOutcome, StoreError, StoreResult,
};
use tokio_postgres::Row;

use crate::errors::Fallible;
use crate::rows::{Cells, object_text};
use crate::script::{Answers, Script, Slot};
use crate::store::PostgresStore;
use crate::transact::Step;
use crate::values::values;
use crate::{audit, profiles, sessions, sign_up};

/// What [`read_account`] reads, in its order.
macro_rules! account_columns {
    () => {
        "u.id, u.email, u.email_verified, u.first_verified_at, u.pending, u.contested, u.banned_at, u.metadata,
        u.created_at, u.updated_at, c.data,
        (SELECT string_agg(i.provider, ' ') FROM identities AS i WHERE i.user_id = u.id),
        p.user_id IS NOT NULL, p.name, p.avatar_url"
    };
}
/// Where it stands.
macro_rules! account_tables {
    () => {
        "users AS u
        LEFT JOIN credentials AS c ON c.user_id = u.id AND c.kind = 'password'
        LEFT JOIN profiles AS p ON p.user_id = u.id"
    };
}
/// The user of an address; where there is none, another one, so that both cost the same.
macro_rules! key_or_any {
    () => {
        "coalesce((SELECT id FROM users WHERE email_key = $1), (SELECT id FROM users ORDER BY id DESC LIMIT 1))"
    };
}
pub(crate) use {account_columns, account_tables, key_or_any};

const FIND_BY_ID: &str =
    concat!("SELECT ", account_columns!(), " FROM ", account_tables!(), " WHERE u.id = $1");
const FIND_BY_KEY: &str =
    concat!("SELECT ", account_columns!(), " FROM ", account_tables!(), " WHERE u.email_key = $1");
const FIND_BY_KEY_OR_ANY: &str =
    concat!("SELECT ", account_columns!(), " FROM ", account_tables!(), " WHERE u.id = ", key_or_any!());
const LOCK_BY_ID: &str = "SELECT 1 FROM users WHERE id = $1 FOR NO KEY UPDATE";
const LOCK_BY_KEY: &str = "SELECT 1 FROM users WHERE email_key = $1 FOR NO KEY UPDATE";
/// Locks a row for those who found no user to lock, in a way that gets in nobody's way.
const LOCK_DECOY: &str = "
    SELECT 1 FROM health WHERE id = 1 AND NOT EXISTS (SELECT 1 FROM users WHERE email_key = $1) FOR KEY SHARE";
const CREATE_USER: &str = "
    INSERT INTO users (id, email, email_key, email_verified, first_verified_at, pending, contested, banned_at, metadata,
        locale, pending_email, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, FALSE, NULL, $7, NULL, NULL, $8, $8)";
const SAVE_PASSWORD: &str = "
    INSERT INTO credentials (user_id, kind, data, created_at, updated_at) VALUES ($1, 'password', $2, $3, $3)
    ON CONFLICT (user_id, kind) DO UPDATE SET data = excluded.data, updated_at = excluded.updated_at";
const DELETE_PASSWORD: &str = "DELETE FROM credentials WHERE user_id = $1 AND kind = 'password'";
const TOUCH: &str = "UPDATE users SET updated_at = greatest(updated_at, $2) WHERE id = $1";

/// A user and what no face of it shows.
pub(crate) struct Account {
    pub(crate) user: User,
    pub(crate) password: Option<PasswordHash>,
    /// When a mailbox of it was proven for the first time.
    pub(crate) first_verified_at: Option<Timestamp>,
}

#[async_trait]
impl Accounts for PostgresStore {
    async fn begin_sign_up(
        &self,
        email: &EmailKey,
        takes: &[Take],
        now: Timestamp,
    ) -> StoreResult<BeginSignUp> {
        sign_up::begin(self, email, takes, now).await
    }

    async fn create_account(&self, account: NewAccount) -> StoreResult<CreateOutcome> {
        create_account(self, &account).await
    }

    async fn sign_up_pending(&self, sign_up: PendingSignUp) -> StoreResult<SignUpOutcome> {
        sign_up::sign_up_pending(self, &sign_up).await
    }

    async fn find_user(&self, id: UserId) -> StoreResult<Option<User>> {
        let found = self.ask(FIND_BY_ID, values![id]).await?.find(read_row)?;
        Ok(found.map(|account| account.user))
    }

    async fn find_user_by_email(&self, email: &EmailKey) -> StoreResult<Option<User>> {
        let found = self.ask(FIND_BY_KEY, values![email]).await?.find(read_row)?;
        Ok(found.map(|account| account.user))
    }
}

/// With a session it is a sign-up that was told that the address is free: so it is written first and looked at where
/// somebody else took it meanwhile.
async fn create_account(store: &PostgresStore, account: &NewAccount) -> StoreResult<CreateOutcome> {
    if account.session.is_some() {
        let (writes, made) = create(account)?;
        if let Some(answers) = store.write_unless_contested(&writes).await? {
            return Ok(CreateOutcome::Created(Box::new(user_that_is(&answers, made)?)));
        }
    }
    let mut reads = Script::default();
    let there = reads.add(FIND_BY_KEY, values![account.email.key()]);
    store
        .transact(&reads, |answers| {
            if answers.any(there) {
                return Ok(Step::Answer(CreateOutcome::EmailTaken));
            }
            let (writes, made) = create(account)?;
            Ok(Step::write(writes, move |answers| {
                Ok(CreateOutcome::Created(Box::new(user_that_is(answers, made)?)))
            }))
        })
        .await
}

/// Writes an account with its session and its event, and reads it.
fn create(account: &NewAccount) -> Fallible<(Script, Slot)> {
    let mut writes = Script::default();
    insert(&mut writes, account, account.email.key().as_str(), Pending::No)?;
    if let Some(session) = &account.session {
        sessions::open(&mut writes, account.id, session);
    }
    let session_id = account.session.as_ref().map(|session| session.id);
    let event = AuditEvent {
        user_id: Some(account.id),
        session_id: session_id.or(account.event.session_id),
        ..account.event.clone()
    };
    audit::record(&mut writes, event)?;
    let made = find_by_id(&mut writes, account.id);
    Ok((writes, made))
}

/// Whether a new account is pending.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pending {
    Yes,
    No,
}

/// Writes the rows of a new account under an address key: user, password, profile.
pub(crate) fn insert(script: &mut Script, account: &NewAccount, key: &str, pending: Pending) -> Fallible<()> {
    let values = values![
        account.id,
        account.email.as_typed(),
        key,
        account.email_verified,
        account.email_verified.then_some(account.now),
        pending == Pending::Yes,
        object_text(account.metadata.as_map())?,
        account.now,
    ];
    script.add(CREATE_USER, values);
    if let Some(password) = &account.password {
        save_password(script, account.id, password, account.now);
    }
    if let Some(profile) = &account.profile {
        profiles::insert(script, &profile.clone().into_profile(account.id, account.now))?;
    }
    Ok(())
}

pub(crate) fn save_password(script: &mut Script, id: UserId, password: &PasswordHash, now: Timestamp) {
    script.add(SAVE_PASSWORD, values![id, password.as_str(), now]);
}

pub(crate) fn delete_password(script: &mut Script, id: UserId) {
    script.add(DELETE_PASSWORD, values![id]);
}

/// Notes that the user changed.
pub(crate) fn touch(script: &mut Script, id: UserId, now: Timestamp) {
    script.add(TOUCH, values![id, now]);
}

/// Locks a user, so that nothing of the account changes until the end.
pub(crate) fn lock_by_id(script: &mut Script, id: UserId) -> Slot {
    script.add(LOCK_BY_ID, values![id])
}

/// Locks the user of an address; where there is none, as much work is done elsewhere.
pub(crate) fn lock_by_key_evenly(script: &mut Script, email: &EmailKey) {
    script.add(LOCK_BY_KEY, values![email]);
    script.add(LOCK_DECOY, values![email]);
}

pub(crate) fn find_by_id(script: &mut Script, id: UserId) -> Slot {
    script.add(FIND_BY_ID, values![id])
}

/// The account of an address, at the same cost whether or not there is one: where there is none, another account is
/// read in its stead and dropped by [`account_of_key`].
pub(crate) fn find_by_key_evenly(script: &mut Script, email: &EmailKey) -> Slot {
    script.add(FIND_BY_KEY_OR_ANY, values![email])
}

/// The account that [`find_by_key_evenly`] found for an address.
pub(crate) fn account_of_key(answers: &Answers, slot: Slot, email: &EmailKey) -> Fallible<Option<Account>> {
    Ok(account(answers, slot)?.filter(|account| account.user.email.key() == email))
}

/// The account that was found.
pub(crate) fn account(answers: &Answers, slot: Slot) -> Fallible<Option<Account>> {
    answers.find(slot, read_row)
}

/// The user after a change of this very transaction.
pub(crate) fn user_that_is(answers: &Answers, slot: Slot) -> Fallible<User> {
    Ok(account(answers, slot)?.ok_or(StoreError::Corrupt { table: "users", column: "id" })?.user)
}

/// Reads a row of [`account_columns`].
pub(crate) fn read_row(row: &Row) -> Fallible<Account> {
    read_account(&mut Cells::new(row, "users"))
}

/// Reads the [`account_columns`] that come next.
pub(crate) fn read_account(cells: &mut Cells<'_>) -> Fallible<Account> {
    let id = cells.of("users").id("id")?;
    let email = cells.email("email")?;
    let email_verified = cells.flag("email_verified")?;
    let first_verified_at = cells.maybe_time("first_verified_at")?;
    let is_pending = cells.flag("pending")?;
    let is_contested = cells.flag("contested")?;
    let banned_at = cells.maybe_time("banned_at")?;
    let metadata = AppMetadata::from_stored(cells.object("metadata")?);
    let created_at = cells.time("created_at")?;
    let updated_at = cells.time("updated_at")?;
    let password = cells.of("credentials").maybe_text("data")?.map(PasswordHash::from_phc);
    let identities =
        cells.of("identities").maybe_text("provider")?.as_deref().map(providers).unwrap_or_default();
    let profile = read_user_profile(cells.of("profiles"))?;
    let user = User {
        id,
        email,
        email_verified,
        has_password: password.is_some(),
        identities,
        banned_at,
        is_pending,
        is_contested,
        metadata,
        created_at,
        updated_at,
        profile,
    };
    Ok(Account { user, password, first_verified_at })
}

fn read_user_profile(cells: &mut Cells<'_>) -> Fallible<Option<UserProfile>> {
    let is_there = cells.flag("user_id")?;
    let name = cells.maybe_text("name")?;
    let avatar_url = cells.maybe_text("avatar_url")?.map(AvatarUrl::from_stored);
    match (is_there, name) {
        (false, _) => Ok(None),
        (true, Some(name)) => Ok(Some(UserProfile { name: Name::from_stored(name), avatar_url })),
        (true, None) => Err(cells.corrupt("name")),
    }
}

/// Keys have no spaces; a user can have several identities of one provider.
fn providers(joined: &str) -> Vec<String> {
    let mut providers: Vec<String> = joined.split(' ').map(str::to_owned).collect();
    providers.sort_unstable();
    providers.dedup();
    providers
}
