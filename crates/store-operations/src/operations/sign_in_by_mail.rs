//! Sign-in by a mailed code or link. Every refused code executes the same statements, whether or not there is an account or
//! a code.

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::codes::Purpose;
use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::email_verification::Verification;
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::Take;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    CodeAttempt, EmailSignIn, LimitedResult, LinkStatus, NewAccount, PresentedLink, SignInLink, StoreResult,
    VerifyOutcome,
};

use super::code_attempts::{CodeOwner, CodeReads, Tried};
use super::entry::{self, Opening, Way};
use super::guards::take_and_read;
use super::prove_mailbox::{Proven, prove};
use super::takes;
use crate::form::{Decided, Executor, Results, Script, Slot};
use crate::tables::link_tokens::{self, SignInToken};
use crate::tables::users::{self, Pending};
use crate::tables::{audit_events, codes, known_clients, profiles, undo_tokens};

/// Handles of the statements that read the account of an address, and whether the address is reserved.
#[derive(Clone, Copy)]
struct Reads {
    account: Slot,
    profile: Slot,
    reservation: Slot,
}

/// Account that a user signs in to by mail.
enum Subject {
    Account(Box<Proven>),
    /// There is no account yet; this one is created.
    Newcomer(Box<NewAccount>),
}

/// Account of the address of a sign-in, existing or to be created.
struct Found {
    /// User with this address; `None` if there is none.
    user_id: Option<UserId>,
    /// Account to sign in to; `None` if sign-in by mail is not permitted for it, or no account may be created.
    subject: Option<Subject>,
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
    let reads = Reads::find(&mut script, &attempt.email, now);
    engine
        .transact(script, move |results| {
            if let Some(limited) = takes::limited(results, limit)? {
                return Ok(Decided::Return(Err(limited)));
            }
            let mut writes = Script::default();
            let found = reads.found(results, &email, &sign_in)?;
            let CodeAttempt { email: key, mac, form, lane, event, .. } = &attempt;
            let tried = Tried { email: key, purpose: Purpose::SignIn, mac, form: *form, lane, now };
            let owner = found.subject.as_ref().map(Subject::owner);
            let is_right = codes.redeem(results, &mut writes, &tried, owner)?;
            Ok(match conclude(&mut writes, found, is_right, &sign_in, event)? {
                None => Decided::done(writes, Ok(VerifyOutcome::Refused)),
                Some(opening) => Decided::write(writes, move |results| {
                    Ok(Ok(VerifyOutcome::Entered(opening.entered(results)?)))
                }),
            })
        })
        .await
}

pub(crate) async fn by_link<E: Executor>(
    engine: &E,
    link: PresentedLink,
    sign_in: EmailSignIn,
) -> StoreResult<VerifyOutcome> {
    let (key, now) = (link.email.key(), link.now);
    let mut script = Script::default();
    users::lock_by_key(&mut script, key);
    codes::lock_codes(&mut script, key, Purpose::SignIn);
    link_tokens::lock_token(&mut script, link.token);
    let stored = link_tokens::find_sign_in_link(&mut script, link.token);
    let reads = Reads::find(&mut script, key, now);
    engine
        .transact(script, move |results| {
            let mut writes = Script::default();
            let key = link.email.key();
            let found = reads.found(results, &link.email, &sign_in)?;
            let is_right = link_tokens::sign_in_link(results, stored, now)?.is_some_and(|stored| {
                let is_of_browser = stored.code_challenge == link.code_challenge;
                is_of_browser && stored.state.status == LinkStatus::Good && stored.email.key() == key
            });
            if is_right {
                codes::delete_code(&mut writes, key.as_str(), Purpose::SignIn);
            }
            Ok(match conclude(&mut writes, found, is_right, &sign_in, &link.event)? {
                None => Decided::done(writes, VerifyOutcome::Refused),
                Some(opening) => Decided::write(writes, move |results| {
                    Ok(VerifyOutcome::Entered(opening.entered(results)?))
                }),
            })
        })
        .await
}

/// Takes tokens from the rate limits, and reads a link for sign-in, valid or not.
pub(crate) async fn find_link<E: Executor>(
    engine: &E,
    hash: TokenHash,
    takes: &[Take],
    now: Timestamp,
) -> LimitedResult<Option<SignInLink>> {
    let mut script = Script::default();
    let limit = takes::take(&mut script, takes, now);
    let found = link_tokens::find_sign_in_link(&mut script, hash);
    let finish = move |results: &Results<'_>| {
        if let Some(limited) = takes::limited(results, limit)? {
            return Ok(Err(limited));
        }
        let found = link_tokens::sign_in_link(results, found, now)?;
        Ok(Ok(found.map(|SignInToken { email, state, .. }| SignInLink { email, state })))
    };
    take_and_read(engine, script, finish).await
}

impl Reads {
    fn find(script: &mut Script, email: &EmailKey, now: Timestamp) -> Self {
        Self {
            account: users::find_by_key_at_constant_cost(script, email),
            profile: profiles::find_by_key_at_constant_cost(script, email),
            reservation: undo_tokens::find_reservation(script, email, None, now),
        }
    }

    /// Decodes the account of `email`, or chooses the account to create. Both are prepared in either case, so that known
    /// and unknown addresses cost the same.
    fn found(self, results: &Results<'_>, email: &Email, sign_in: &EmailSignIn) -> StoreResult<Found> {
        let is_reserved = undo_tokens::is_reserved(results, self.reservation)?;
        let now = sign_in.entry.session.created_at;
        let newcomer = sign_in.newcomer.as_ref().map(|newcomer| Box::new(newcomer.at(email.clone(), now)));
        let profile = profiles::profile(results, self.profile)?;
        let Some(account) = users::account_of_key(results, self.account, email.key())? else {
            let subject = newcomer.filter(|_| !is_reserved).map(Subject::Newcomer);
            return Ok(Found { user_id: None, subject });
        };
        let user_id = account.user.id;
        let profile = profile.filter(|profile| profile.user_id == user_id);
        let accepts = account.user.accepts_mailed_tokens();
        let subject = accepts.then(|| Subject::Account(Box::new(Proven { account, profile })));
        Ok(Found { user_id: Some(user_id), subject })
    }
}

impl Subject {
    fn owner(&self) -> CodeOwner {
        match self {
            Self::Account(proven) => CodeOwner::User(proven.account.user.id),
            Self::Newcomer(_) => CodeOwner::NoAccount,
        }
    }

    fn email(&self) -> &Email {
        match self {
            Self::Account(proven) => &proven.account.user.email,
            Self::Newcomer(account) => &account.email,
        }
    }
}

/// Signs in if the code or link is right. Otherwise writes an audit event about the refusal, and returns `None`.
fn conclude(
    writes: &mut Script,
    found: Found,
    is_right: bool,
    sign_in: &EmailSignIn,
    signed_in: &AuditEvent,
) -> StoreResult<Option<Opening>> {
    let Some(subject) = found.subject.filter(|_| is_right) else {
        let refused = AuditEvent { user_id: found.user_id, ..sign_in.refused.clone() };
        audit_events::record(writes, refused)?;
        return Ok(None);
    };
    enter(writes, subject, sign_in, signed_in.clone()).map(Some)
}

/// Opens a session or writes a challenge for the account of a right code or link. Before that, creates the account, or
/// verifies its address.
fn enter(
    writes: &mut Script,
    subject: Subject,
    sign_in: &EmailSignIn,
    signed_in: AuditEvent,
) -> StoreResult<Opening> {
    let EmailSignIn { entry, verified, .. } = sign_in;
    let (session, now) = (&entry.session, entry.session.created_at);
    let mut happened = Vec::new();
    let email = subject.email().clone();
    // Must precede the verification of the address, which invalidates all links that are not marked as used.
    link_tokens::use_links(writes, email.key().as_str(), Purpose::SignIn, now);
    let (user_id, way) = match subject {
        Subject::Account(proven) => {
            let user = &proven.account.user;
            if proven.account.standing().is_verified_by_sign_in(user.email_verified) {
                prove(writes, &proven, Verification::SignIn, session.account_cleared.as_ref(), now);
                happened.push(verified.clone());
            }
            (user.id, Way::of(Some(user), entry))
        }
        Subject::Newcomer(account) => {
            users::insert(writes, &account, account.email.key().as_str(), Pending::No)?;
            happened.push(account.event);
            (account.id, Way::of(None, entry))
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
