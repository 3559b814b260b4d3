//! The step after the right first factor of a sign-in. Only this file decides whether a session is opened, or
//! a challenge for a second factor or another confirmation is written. Callers must hold the lock on the
//! user's row.

use latchkey_domain::challenge::{
    ChallengePurpose, FactorRules, SecondFactorPolicy, is_challenged, is_challenged_in_console,
};
use latchkey_domain::client::OpenedFor;
use latchkey_domain::identity::VerifiedIdentity;
use latchkey_domain::ids::UserId;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::session::{Level, NewSession, NewSessionKind};
use latchkey_domain::user::User;
use latchkey_store::{CompletedSignIn, Entered, Entry, NewChallenge, StoreResult};

use super::guards;
use super::identities::link;
use super::sign_in::pend_no_more;
use crate::form::{Results, Script, Slot};
use crate::tables::challenges::{self, Beginner, Challenge, FirstFactorIdentity};
use crate::tables::{audit_events, known_clients, outbox, sessions, users};

/// Step of a sign-in that follows a right factor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// A session is opened.
    Session,
    /// A challenge is written. The other effects of a completed sign-in are deferred until the challenge is answered.
    Challenge,
}

impl Way {
    /// Decides between session and challenge. The decision depends on the authentication level of the sign-in
    /// (one factor or two), on whether the account has two-step sign-in or a scheduled deletion, and on the
    /// operator's policy for second factors. The console asks for every second factor of the account. `user` is `None` for an account that is about to be created.
    pub(crate) fn of(user: Option<&User>, entry: &Entry) -> Self {
        let has_two_step = user.is_some_and(User::has_two_step);
        let (level, rules) = (entry.session.level, &entry.rules);
        let has_factor =
            has_two_step || user.is_some_and(|user| user.has_usable_passkey(rules.rp_id.as_ref()));
        let lacks_factor = match &entry.session.kind {
            NewSessionKind::App { .. } | NewSessionKind::Pages(_) => {
                is_challenged(level, has_two_step, rules.policy)
            }
            NewSessionKind::Console(_) => is_challenged_in_console(level, has_factor, false),
            NewSessionKind::Activation(_) => {
                is_challenged_in_console(level, has_factor, rules.policy == SecondFactorPolicy::Required)
            }
        };
        if lacks_factor || user.is_some_and(User::is_in_deletion) { Self::Challenge } else { Self::Session }
    }
}

/// Handles of the statements that read the result of a sign-in, from which [`Opening::entered`] makes an
/// [`Entered`].
#[derive(Clone)]
pub(crate) enum Opening {
    Session(Slot),
    Challenge(Slot, OpenedFor, Level, FactorRules),
}

/// Opens the session of a sign-in, or writes its challenge. [`Opening::find`] reads the result.
pub(crate) fn open(
    writes: &mut Script,
    user_id: UserId,
    entry: &Entry,
    way: Way,
    identity: Option<FirstFactorIdentity<'_>>,
) -> StoreResult<()> {
    let Entry { session, challenge, .. } = entry;
    match way {
        Way::Session => sessions::open(writes, user_id, session)?,
        Way::Challenge => {
            let methods = Some(&session.methods);
            let beginner = Beginner { methods, identity, passkey: session.passkey, ..Beginner::default() };
            let purpose = ChallengePurpose::SignIn;
            challenges::insert(writes, user_id, purpose, challenge, &beginner, session.created_at);
            audit_events::record_of(writes, challenge.event.clone(), user_id)?;
        }
    }
    Ok(())
}

impl Opening {
    /// Adds the statements that read the result. They must come after all changes of the script.
    pub(crate) fn find(script: &mut Script, user_id: UserId, entry: &Entry, way: Way) -> Self {
        match way {
            Way::Session => Self::Session(users::find_by_id(script, user_id)),
            Way::Challenge => {
                let facts = challenges::find_facts(script, user_id);
                let side = entry.challenge.opened_for;
                Self::Challenge(facts, side, entry.session.level, entry.rules.clone())
            }
        }
    }

    /// Returns the user of the opened session, or the kinds of answers that the written challenge accepts.
    pub(crate) fn entered(self, results: &Results<'_>) -> StoreResult<Entered> {
        Ok(match self {
            Self::Session(user) => Entered::Session(Box::new(users::user_that_is(results, user)?)),
            Self::Challenge(facts, side, level, rules) => {
                let at = (side, ChallengePurpose::SignIn, level);
                Entered::Challenge(challenges::kinds(results, facts, at, &rules)?)
            }
        })
    }
}

/// Continues a sign-in after an answer to its challenge: opens the session, or writes a further challenge if
/// another confirmation is needed, such as that of a second factor or of the account's restoral. `user` is
/// the account's user after the answer.
pub(crate) fn go_on(
    writes: &mut Script,
    challenge: &Challenge,
    user: &User,
    (completed, next): (CompletedSignIn, &NewChallenge),
    rules: &FactorRules,
    is_linked: bool,
) -> StoreResult<Opening> {
    let entry = Entry { session: completed.session.clone(), challenge: next.clone(), rules: rules.clone() };
    let way = Way::of(Some(user), &entry);
    match way {
        Way::Session => complete(writes, challenge, &completed, is_linked)?,
        Way::Challenge => {
            let first = challenge.identity.as_ref().map(|shown| FirstFactorIdentity {
                identity: &shown.identity,
                is_linked_by_answer: shown.is_linked_by_answer,
            });
            open(writes, user.id, &entry, way, first)?;
        }
    }
    Ok(Opening::find(writes, user.id, &entry, way))
}

/// Completes a sign-in after its challenge was answered: opens the session, and writes the effects that [`open`]
/// postponed.
pub(crate) fn complete(
    writes: &mut Script,
    challenge: &Challenge,
    completed: &CompletedSignIn,
    is_linked: bool,
) -> StoreResult<()> {
    let CompletedSignIn { session, guard, event, linked, mail } = completed;
    let (user, now) = (&challenge.account.user, session.created_at);
    let identity = challenge.identity.as_ref().map(|shown| &shown.identity);
    if let Some(guard) = guard {
        guards::forgive(writes, guard);
        guards::know_client(writes, guard, now);
    }
    if user.is_pending {
        pend_no_more(writes, user.id, now);
    }
    if let Some(identity) = identity
        && !is_linked
    {
        link(writes, user.id, identity, now);
        audit_events::record_in(writes, linked.clone(), user.id, session.id)?;
        outbox::notify(writes, user, mail.as_ref(), MailKind::IdentityLinked, now);
    }
    let identity = identity.map(VerifiedIdentity::id);
    let session = NewSession { identity, ..session.clone() };
    sessions::open(writes, user.id, &session)?;
    known_clients::remember(writes, user.email.key(), &session);
    audit_events::record_in(writes, event.clone(), user.id, session.id)
}

/// Opens a session in place of the caller's, which ended when two-step sign-in was turned on.
pub(crate) fn reopen(writes: &mut Script, user_id: UserId, session: &NewSession) -> StoreResult<()> {
    sessions::open(writes, user_id, &NewSession { new_device: None, ..session.clone() }) // no sign-in
}
