//! Unlinking of identities from an account.

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::identity::Subject;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::operator::Effect;
use latchkey_domain::user::User;
use latchkey_store::{LinkedIdentity, StoreResult, UnlinkIdentity, UnlinkOutcome, Unlinker};

use super::operator_guard::OperatorReads;
use crate::form::{Decided, Executor, Results, Script, Slot};
use crate::tables::{audit_events, identities, outbox, sessions, users};

/// Unlinks one identity, or all identities of a provider. Refused if the account would keep no way to sign in.
pub(crate) async fn unlink_identity<E: Executor>(
    engine: &E,
    request: UnlinkIdentity,
) -> StoreResult<UnlinkOutcome> {
    let mut script = Script::default();
    users::lock_by_id(&mut script, request.user_id);
    let guard = match request.by {
        Unlinker::Owner(_) => None,
        Unlinker::Admin(protection) => Some((OperatorReads::find(&mut script, Effect::Change), protection)),
    };
    let all = identities::list_of(&mut script, request.user_id);
    let user = users::find_by_id(&mut script, request.user_id);
    let decide = move |results: &Results<'_>| {
        if let Some((guard, protection)) = guard
            && let Err(refusal) = guard.judge(results, protection, &[request.user_id])?
        {
            return Ok(Decided::Return(UnlinkOutcome::Refused(refusal)));
        }
        decide(&request, all, user, results)
    };
    engine.transact(script, decide).await
}

fn decide(
    request: &UnlinkIdentity,
    all: Slot,
    user: Slot,
    results: &Results<'_>,
) -> StoreResult<Decided<UnlinkOutcome>> {
    let UnlinkIdentity { user_id, provider, subject, offer, by, event, mail, now } = request;
    let is_named = |one: &LinkedIdentity| {
        one.provider == provider.as_str()
            && subject.as_ref().map(Subject::as_str).is_none_or(|subject| subject == one.subject)
    };
    let all = results.list(all, identities::read_linked)?;
    let (named, left): (Vec<_>, Vec<_>) = all.into_iter().partition(is_named);
    let Some(account) = users::account(results, user)?.filter(|_| !named.is_empty()) else {
        return Ok(Decided::Return(UnlinkOutcome::NotFound));
    };
    let identities = left.into_iter().map(|one| one.provider).collect();
    if !offer.admits(&User { identities, ..account.user.clone() }) {
        return Ok(Decided::Return(UnlinkOutcome::LastWayIn));
    }
    let keep = match by {
        Unlinker::Owner(session) => Some(*session),
        Unlinker::Admin(_) => None,
    };
    let mut writes = Script::default();
    for one in named {
        sessions::end_opened_by(&mut writes, *user_id, &one, keep, *now);
        identities::delete(&mut writes, *user_id, one);
    }
    users::touch(&mut writes, *user_id, *now);
    let event = AuditEvent { session_id: keep, ..event.clone() };
    audit_events::record_of(&mut writes, event, *user_id)?;
    outbox::notify(&mut writes, &account.user, mail.as_ref(), MailKind::IdentityUnlinked, *now);
    let user = users::find_by_id(&mut writes, *user_id);
    Ok(Decided::write(writes, move |results| {
        Ok(UnlinkOutcome::Unlinked(Box::new(users::user_that_is(results, user)?)))
    }))
}
