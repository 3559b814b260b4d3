//! Sign-in by a mailed code. Every refused attempt executes the same statements, whether or not there is an account or
//! a code.

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::codes::Purpose;
use latchkey_domain::email::Email;
use latchkey_domain::email_verification::Verification;
use latchkey_store::{CodeAttempt, EmailSignIn, LimitedResult, NewAccount, StoreResult, VerifyOutcome};

use super::code_attempts::{CodeOwner, CodeReads, Tried};
use super::entry::{self, Opening, Way};
use super::prove_mailbox::{Proven, prove};
use super::takes;
use crate::form::{Decided, Executor, Results, Script, Slot};
use crate::tables::users::{self, Account, Pending};
use crate::tables::{audit_events, known_clients, profiles, undo_tokens};

/// Handles of the statements that read the account of an address, and whether the address is reserved.
#[derive(Clone, Copy)]
struct Reads {
    account: Slot,
    profile: Slot,
    reservation: Slot,
}

/// Account of a sign-in.
enum Subject {
    Account(Box<Proven>),
    /// The account is to be created.
    Newcomer(Box<NewAccount>),
}

pub(crate) async fn by_code<E: Executor>(
    engine: &E,
    attempt: CodeAttempt,
    email: Email,
    sign_in: EmailSignIn,
) -> LimitedResult<VerifyOutcome> {
    let now = attempt.now;
    let mut script = Script::default();
    let limit = takes::take(&mut script, &attempt.takes, now);
    users::lock_by_key_at_constant_cost(&mut script, &attempt.email);
    let codes = CodeReads::lock(&mut script, &attempt.email, Purpose::SignIn, &attempt.lane);
    let reads = Reads {
        account: users::find_by_key_at_constant_cost(&mut script, &attempt.email),
        profile: profiles::find_by_key_at_constant_cost(&mut script, &attempt.email),
        reservation: undo_tokens::find_reservation(&mut script, &attempt.email, None, now),
    };
    engine
        .transact(script, move |results| {
            if let Some(limited) = takes::limited(results, limit)? {
                return Ok(Decided::Return(Err(limited)));
            }
            let mut writes = Script::default();
            let account = users::account_of_key(results, reads.account, &attempt.email)?;
            let user_id = account.as_ref().map(|account| account.user.id);
            let subject = reads.subject(results, account, &email, &sign_in)?;
            let CodeAttempt { email: key, mac, form, lane, .. } = &attempt;
            let tried = Tried { email: key, purpose: Purpose::SignIn, mac, form: *form, lane, now };
            let owner = subject.as_ref().map(Subject::owner);
            let is_right = codes.redeem(results, &mut writes, &tried, owner)?;
            let Some(subject) = subject.filter(|_| is_right) else {
                audit_events::record(&mut writes, AuditEvent { user_id, ..sign_in.refused.clone() })?;
                return Ok(Decided::done(writes, Ok(VerifyOutcome::Refused)));
            };
            let opening = enter(&mut writes, subject, &sign_in, attempt.event.clone())?;
            Ok(Decided::write(writes, move |results| {
                Ok(Ok(VerifyOutcome::Entered(opening.entered(results)?)))
            }))
        })
        .await
}

impl Reads {
    /// Returns the account that a right code opens, or creates at `email`; `None` if the account accepts no mailed codes,
    /// or none may be created.
    fn subject(
        self,
        results: &Results<'_>,
        account: Option<Account>,
        email: &Email,
        sign_in: &EmailSignIn,
    ) -> StoreResult<Option<Subject>> {
        let is_reserved = undo_tokens::is_reserved(results, self.reservation)?;
        let Some(account) = account else {
            let newcomer = sign_in.newcomer.as_ref().filter(|_| !is_reserved);
            let now = sign_in.entry.session.created_at;
            return Ok(newcomer.map(|new| Subject::Newcomer(Box::new(new.at(email.clone(), now)))));
        };
        if !account.user.accepts_mailed_tokens() {
            return Ok(None);
        }
        let profile = profiles::profile_of(results, self.profile, account.user.id)?;
        Ok(Some(Subject::Account(Box::new(Proven { account, profile }))))
    }
}

impl Subject {
    fn owner(&self) -> CodeOwner {
        match self {
            Self::Account(proven) => CodeOwner::User(proven.account.user.id),
            Self::Newcomer(_) => CodeOwner::NoAccount,
        }
    }
}

/// Opens a session or writes a challenge for the account of a right code. Before that, creates the account, or verifies
/// its address.
fn enter(
    writes: &mut Script,
    subject: Subject,
    sign_in: &EmailSignIn,
    signed_in: AuditEvent,
) -> StoreResult<Opening> {
    let EmailSignIn { entry, verified, .. } = sign_in;
    let (session, now) = (&entry.session, entry.session.created_at);
    let mut happened = Vec::new();
    let (user_id, email, way) = match subject {
        Subject::Account(proven) => {
            let user = &proven.account.user;
            if proven.account.standing().is_verified_by_sign_in(user.email_verified) {
                prove(writes, &proven, Verification::SignIn, now);
                happened.push(verified.clone());
            }
            (user.id, user.email.clone(), Way::of(Some(user), entry))
        }
        Subject::Newcomer(account) => {
            users::insert(writes, &account, account.email.key().as_str(), Pending::No)?;
            happened.push(account.event);
            (account.id, account.email, Way::of(None, entry))
        }
    };
    entry::open(writes, user_id, entry, way, None)?;
    if way == Way::Session {
        known_clients::remember(writes, email.key(), session);
        happened.push(signed_in);
    }
    for event in happened {
        match way {
            Way::Session => audit_events::record_in(writes, event, user_id, session.id)?,
            Way::Challenge => audit_events::record_of(writes, event, user_id)?,
        }
    }
    Ok(Opening::find(writes, user_id, entry, way))
}
