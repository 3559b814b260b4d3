//! Operations that create and find accounts: implementation of [`Accounts`].

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::Take;
use latchkey_domain::locale::Locale;
use latchkey_domain::profile::Profile;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_store::{
    Accounts, BeginSignUp, CreateOutcome, Entered, Entry, LimitedResult, NewAccount, PendingSignUp,
    SignUpOutcome, StoreResult,
};

use super::Engine;
use crate::form::{Decided, Executor, Repeat, Results, Script, Slot};
use crate::operations::entry::{self, Opening, Way};
use crate::operations::{delete_account, sign_up};
use crate::tables::users::{self, Pending};
use crate::tables::{audit_events, known_clients, sessions, sign_up_attempts, undo_tokens};

#[crate::measured]
#[async_trait]
impl<E: Executor> Accounts for Engine<E> {
    async fn begin_sign_up(
        &self,
        email: &EmailKey,
        takes: &[Take],
        now: Timestamp,
    ) -> LimitedResult<BeginSignUp> {
        sign_up::begin(&self.0, email, takes, now).await
    }

    async fn create_account(&self, account: NewAccount) -> StoreResult<CreateOutcome> {
        let mut reads = Script::default();
        let taken = Taken::find(&mut reads, &account);
        self.transact(reads, move |results| {
            if taken.is_taken(results)? {
                return Ok(Decided::Return(CreateOutcome::EmailTaken));
            }
            let mut writes = Script::default();
            users::insert(&mut writes, &account, account.email.key().as_str(), Pending::No)?;
            let event = AuditEvent { user_id: Some(account.id), ..account.event.clone() };
            audit_events::record(&mut writes, event)?;
            let made = users::find_by_id(&mut writes, account.id);
            Ok(Decided::write(writes, move |results| {
                Ok(CreateOutcome::Created(Box::new(users::user_that_is(results, made)?)))
            }))
        })
        .await
    }

    /// Inserts the account of a sign-up whose address was free when it was last read. The first attempt takes
    /// one round trip and does not read the address again. If the insert fails because another request took
    /// the address meanwhile, a transaction reads it and decides. The first attempt also locks the row of a
    /// user who still has the address. If that user is just changing to another address, the insert thus
    /// waits for the change, and finds the address reserved if the change reserved it.
    async fn create_account_and_enter(
        &self,
        account: NewAccount,
        entry: Entry,
    ) -> StoreResult<Option<Entered>> {
        if !E::HAS_ONE_WRITER {
            let mut writes = Script::default();
            users::lock_by_key(&mut writes, account.email.key());
            let opening = create_and_enter(&mut writes, &account, &entry)?;
            let written =
                self.write_unless_contested(writes, move |results| opening.entered(results)).await?;
            if let Some(entered) = written {
                return Ok(Some(entered));
            }
        }
        let mut reads = Script::default();
        let taken = Taken::find(&mut reads, &account);
        self.transact(reads, move |results| {
            if taken.is_taken(results)? {
                return Ok(Decided::Return(None));
            }
            let mut writes = Script::default();
            let opening = create_and_enter(&mut writes, &account, &entry)?;
            Ok(Decided::write(writes, move |results| opening.entered(results).map(Some)))
        })
        .await
    }

    async fn sign_up_pending(&self, sign_up: PendingSignUp) -> StoreResult<SignUpOutcome> {
        sign_up::sign_up_pending(&self.0, sign_up).await
    }

    async fn set_locale(&self, id: UserId, locale: &Locale) -> StoreResult<()> {
        let mut script = Script::default();
        users::set_locale(&mut script, id, Some(locale));
        self.write(script, Repeat::Harmless, |_| Ok(())).await
    }

    async fn find_user(&self, id: UserId) -> StoreResult<Option<User>> {
        let mut reads = Script::default();
        let found = users::find_by_id(&mut reads, id);
        find(&self.0, reads, found).await
    }

    async fn find_user_by_email(&self, email: &EmailKey) -> StoreResult<Option<User>> {
        let mut reads = Script::default();
        let found = users::find_by_key(&mut reads, email);
        find(&self.0, reads, found).await
    }

    async fn purge_sign_ups(&self, until: Timestamp) -> StoreResult<u64> {
        let mut reads = Script::default();
        let pending = users::lock_stale_sign_ups(&mut reads, until);
        let attempts = sign_up_attempts::lock_stale(&mut reads, until);
        self.transact(reads, move |results| {
            let pending = results.list(pending, |cells| cells.of("users").id::<UserId>("id"))?;
            let attempts =
                results.list(attempts, |cells| cells.of("sign_up_attempts").id::<UserId>("user_id"))?;
            let mut writes = Script::default();
            for id in &attempts {
                sign_up_attempts::delete(&mut writes, *id);
            }
            for id in &pending {
                delete_account::delete(&mut writes, *id);
            }
            Ok(Decided::done(writes, (pending.len() + attempts.len()) as u64))
        })
        .await
    }
}

/// Handles of the statements that read whether an address is taken: an account has it, or it is reserved for an account
/// that gave it up. The reservation is read last, because the change that frees an address also writes the reservation.
#[derive(Clone, Copy)]
struct Taken {
    account: Slot,
    reservation: Slot,
}

impl Taken {
    fn find(reads: &mut Script, account: &NewAccount) -> Self {
        let email = account.email.key();
        Self {
            account: users::find_by_key(reads, email),
            reservation: undo_tokens::find_reservation(reads, email, None, account.now),
        }
    }

    fn is_taken(self, results: &Results<'_>) -> StoreResult<bool> {
        Ok(results.any(self.account)? || undo_tokens::is_reserved(results, self.reservation)?)
    }
}

/// Inserts the account of a sign-up and its audit event, and opens its session, or writes a challenge if a
/// second factor is required first.
fn create_and_enter(writes: &mut Script, account: &NewAccount, entry: &Entry) -> StoreResult<Opening> {
    users::insert(writes, account, account.email.key().as_str(), Pending::No)?;
    if account.browser.is_some() {
        sign_up_attempts::remember_browser(writes, account.id, account.browser.as_ref(), account.now);
    }
    let way = Way::of(None, entry);
    entry::open(writes, account.id, entry, way, None)?;
    match way {
        Way::Session => {
            known_clients::remember(writes, account.email.key(), &entry.session);
            audit_events::record_in(writes, account.event.clone(), account.id, entry.session.id)?;
        }
        Way::Challenge => audit_events::record_of(writes, account.event.clone(), account.id)?,
    }
    Ok(Opening::find(writes, account.id, entry, way))
}

/// Makes the script that inserts an account with profile and session but no audit event, to seed benchmark databases.
pub fn seeding(account: &NewAccount, profile: Profile, session: Option<&NewSession>) -> StoreResult<Script> {
    let mut writes = Script::default();
    users::insert(&mut writes, account, account.email.key().as_str(), Pending::No)?;
    writes.create_profile(profile);
    if let Some(session) = session {
        sessions::open(&mut writes, account.id, session)?;
    }
    Ok(writes)
}

async fn find<E: Executor>(engine: &E, reads: Script, found: Slot) -> StoreResult<Option<User>> {
    engine.read(reads, move |results| Ok(users::account(results, found)?.map(|account| account.user))).await
}
