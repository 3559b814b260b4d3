//! Sign-up while verification is required: which case an address is, and what belongs to it.

use latchkey_domain::audit::{AuditEvent, AuditKind};
use latchkey_domain::codes::Purpose;
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::Take;
use latchkey_domain::password::PasswordHash;
use latchkey_domain::time::Timestamp;
use latchkey_store::{BeginSignUp, MailKind, PendingSignUp, SignUpOutcome, StoreResult};

use crate::accounts::{self, Account, Pending};
use crate::errors::Fallible;
use crate::limits::Taking;
use crate::outbox::{self, Address};
use crate::script::Script;
use crate::store::PostgresStore;
use crate::transact::Step;
use crate::values::values;
use crate::{audit, challenges};

const CONTEST: &str =
    "UPDATE users SET contested = TRUE, updated_at = greatest(updated_at, $2) WHERE id = $1";

/// Takes the tokens and says what stands at the address.
pub(crate) async fn begin(
    store: &PostgresStore,
    email: &EmailKey,
    takes: &[Take],
    now: Timestamp,
) -> StoreResult<BeginSignUp> {
    let mut script = Script::default();
    let taking = Taking::add(&mut script, takes, now);
    let found = accounts::find_by_key_evenly(&mut script, email);
    let answers = store.repeat(&script).await?;
    if let Err(limited) = taking.outcome(&answers, takes, now)? {
        return Ok(BeginSignUp::Limited(limited));
    }
    Ok(match accounts::account_of_key(&answers, found, email)? {
        None => BeginSignUp::Free,
        Some(account) if is_open(&account) => BeginSignUp::Pending(account.password),
        Some(_) => BeginSignUp::Taken,
    })
}

/// A sign-up while verification is required. Whatever the case, the statements of a new account run, so that the
/// answer takes as long; where the address has an account they are taken back.
pub(crate) async fn sign_up_pending(
    store: &PostgresStore,
    sign_up: &PendingSignUp,
) -> StoreResult<SignUpOutcome> {
    let email = sign_up.account.email.key();
    let mut reads = Script::default();
    accounts::lock_by_key_evenly(&mut reads, email);
    let found = accounts::find_by_key_evenly(&mut reads, email);
    store
        .transact(&reads, |answers| match accounts::account_of_key(answers, found, email)? {
            None => create(sign_up),
            Some(account) if is_open(&account) => renew(sign_up, &account),
            Some(account) => tell_owner(sign_up, &account),
        })
        .await
}

/// Whether a further sign-up may do something to the account.
const fn is_open(account: &Account) -> bool {
    account.user.is_pending && !account.user.is_banned()
}

fn create(sign_up: &PendingSignUp) -> Fallible<Step<SignUpOutcome>> {
    let PendingSignUp { account, challenge, mail } = sign_up;
    let (id, key) = (account.id, account.email.key().as_str());
    let mut writes = Script::default();
    writes.add("SAVEPOINT account", Vec::new());
    accounts::insert(&mut writes, account, key, Pending::Yes)?;
    challenges::write(&mut writes, key, Purpose::VerifyEmail, Some(id), challenge, account.now);
    writes.add("RELEASE account", Vec::new());
    outbox::write(&mut writes, mail, MailKind::Verify, Address::Of(id, &account.email), account.now);
    audit::record_of(&mut writes, account.event.clone(), id)?;
    Ok(Step::done(writes, SignUpOutcome::Created))
}

fn renew(sign_up: &PendingSignUp, there: &Account) -> Fallible<Step<SignUpOutcome>> {
    let PendingSignUp { account, challenge, mail } = sign_up;
    let outcome = match compare(there.password.as_ref(), account.password.as_ref()) {
        Comparison::Same => SignUpOutcome::Renewed,
        Comparison::Other => SignUpOutcome::Contested,
        Comparison::NotComparable(stored) => return Ok(Step::Answer(SignUpOutcome::Rehash(stored))),
    };
    let (user, now) = (&there.user, account.now);
    let mut writes = Script::default();
    rehearse_account(&mut writes, sign_up)?;
    if outcome == SignUpOutcome::Contested {
        contest(&mut writes, user.id, now);
    }
    let key = user.email.key().as_str();
    challenges::write(&mut writes, key, Purpose::VerifyEmail, Some(user.id), challenge, now);
    outbox::write(&mut writes, mail, MailKind::Verify, Address::Of(user.id, &user.email), now);
    audit::record_of(&mut writes, repeated(account.event.clone()), user.id)?;
    Ok(Step::done(writes, outcome))
}

/// Until its mailbox is proven, nothing in the account is known to be its owner's.
pub(crate) fn contest(writes: &mut Script, id: UserId, now: Timestamp) {
    writes.add(CONTEST, values![id, now]);
}

fn tell_owner(sign_up: &PendingSignUp, there: &Account) -> Fallible<Step<SignUpOutcome>> {
    let PendingSignUp { account, mail, .. } = sign_up;
    let user = &there.user;
    let mut writes = Script::default();
    rehearse_account(&mut writes, sign_up)?;
    let address =
        if user.is_banned() { Address::Decoy(user.email.key()) } else { Address::Of(user.id, &user.email) };
    outbox::write(&mut writes, mail, MailKind::SignUpAttempt, address, account.now);
    audit::record_of(&mut writes, repeated(account.event.clone()), user.id)?;
    Ok(Step::done(writes, SignUpOutcome::OwnerTold))
}

/// Makes the account under a key that is no address and nobody else's, and takes it back.
fn rehearse_account(writes: &mut Script, sign_up: &PendingSignUp) -> Fallible<()> {
    let PendingSignUp { account, challenge, .. } = sign_up;
    let key = format!("rehearsal {}", account.id);
    writes.add("SAVEPOINT account", Vec::new());
    accounts::insert(writes, account, &key, Pending::Yes)?;
    challenges::write(writes, &key, Purpose::VerifyEmail, Some(account.id), challenge, account.now);
    writes.add("ROLLBACK TO account", Vec::new());
    Ok(())
}

/// The event of a sign-up that made no account.
fn repeated(event: AuditEvent) -> AuditEvent {
    AuditEvent { kind: AuditKind::SignUpRepeated, ..event }
}

enum Comparison {
    Same,
    Other,
    NotComparable(PasswordHash),
}

fn compare(stored: Option<&PasswordHash>, given: Option<&PasswordHash>) -> Comparison {
    match (stored, given) {
        (Some(stored), Some(given)) if !stored.is_comparable(given) => {
            Comparison::NotComparable(stored.clone())
        }
        (stored, given) if stored == given => Comparison::Same,
        _ => Comparison::Other,
    }
}
