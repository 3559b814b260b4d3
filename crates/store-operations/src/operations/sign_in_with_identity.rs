//! Sign-in with an identity of a provider.

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email_verification::Verification;
use latchkey_domain::identity::IdentityVerdict;
use latchkey_domain::ids::UserId;
use latchkey_domain::mail_kind::MailKind;
use latchkey_store::{IdentityOutcome, SignInWithIdentity, StoreError, StoreResult};

use super::identities::{Concerned, Judged, link};
use super::prove_mailbox::{Proven, prove};
use super::sign_in::pend_no_more;
use crate::form::{Decided, Executor, ProfileWrite, Results, Script, Slot};
use crate::tables::identities::{self, Sought};
use crate::tables::users::{self, Pending};
use crate::tables::{audit_events, known_clients, outbox, profiles, sessions, used_tokens};

/// Slots of a sign-in's reads.
struct Reads {
    /// Claim of the provider token, if one was given.
    claimed: Option<Slot>,
    locked: Slot,
    concerned: Concerned,
    profile: Slot,
}

/// Signs in, and creates the account if there is none.
pub(crate) async fn sign_in_with_identity<E: Executor>(
    engine: &E,
    sign_in: SignInWithIdentity,
) -> StoreResult<IdentityOutcome> {
    let sought = Sought { identity: &sign_in.identity, earlier: sign_in.rules.earlier };
    let mut script = Script::default();
    let reads = Reads {
        claimed: sign_in.token.map(|token| used_tokens::claim(&mut script, token)),
        locked: identities::lock_concerned(&mut script, sought),
        concerned: Concerned::find(&mut script, sought),
        profile: identities::find_concerned_profile(&mut script, sought),
    };
    engine.transact(script, move |results| decide(&sign_in, &reads, results)).await
}

fn decide(
    sign_in: &SignInWithIdentity,
    reads: &Reads,
    results: &Results<'_>,
) -> StoreResult<Decided<IdentityOutcome>> {
    let events = &sign_in.events;
    if let Some(claimed) = reads.claimed
        && results.affected(claimed)? == 0
    {
        return refuse(events.replayed.clone(), IdentityOutcome::Replayed);
    }
    let judged = reads.concerned.judge(results, &sign_in.identity, sign_in.rules)?;
    let locked = results.find(reads.locked, |cells| cells.of("users").id::<UserId>("id"))?;
    if judged.account.as_ref().map(|account| account.user.id) != locked {
        // The identity or account was created, linked or deleted between the lock and the read.
        return Ok(Decided::Retry);
    }
    if let IdentityVerdict::Refused(refusal) = judged.verdict {
        let event = AuditEvent { user_id: locked, ..events.refused.clone() };
        return refuse(event, IdentityOutcome::Refused(refusal));
    }
    open(sign_in, reads, results, judged)
}

/// Writes only the event. A claimed token stays used.
fn refuse(event: AuditEvent, outcome: IdentityOutcome) -> StoreResult<Decided<IdentityOutcome>> {
    let mut writes = Script::default();
    audit_events::record(&mut writes, event)?;
    Ok(Decided::done(writes, outcome))
}

/// Applies the verdict and opens the session.
fn open(
    sign_in: &SignInWithIdentity,
    reads: &Reads,
    results: &Results<'_>,
    judged: Judged,
) -> StoreResult<Decided<IdentityOutcome>> {
    let SignInWithIdentity { identity, session, events, mail, .. } = sign_in;
    let Judged { verdict, account, lacks_issuer } = judged;
    let now = session.created_at;
    let user_id = account.as_ref().map_or(sign_in.user_id, |account| account.user.id);
    let email = account.as_ref().map(|account| &account.user.email).or(identity.email.as_ref()).cloned();
    let is_pending = account.as_ref().is_some_and(|account| account.user.is_pending);
    let mut writes = Script::default();
    let mut happened = Vec::new();
    match (verdict, account) {
        (IdentityVerdict::Create, _) => {
            create(&mut writes, sign_in)?;
            happened.push(&events.signed_up);
        }
        (IdentityVerdict::TakeOver, Some(account)) => {
            outbox::notify(&mut writes, &account.user, mail.as_ref(), MailKind::IdentityLinked, now);
            let profile = profiles::profile(results, reads.profile)?;
            take_over(&mut writes, &Proven { account, profile }, sign_in);
            happened.extend([&events.verified, &events.linked]);
        }
        (IdentityVerdict::Link, Some(account)) => {
            outbox::notify(&mut writes, &account.user, mail.as_ref(), MailKind::IdentityLinked, now);
            link(&mut writes, user_id, identity, now);
            happened.push(&events.linked);
        }
        _ => {
            if lacks_issuer {
                identities::take_issuer(&mut writes, identity);
            }
            identities::save_email(&mut writes, identity);
        }
    }
    if is_pending && verdict != IdentityVerdict::TakeOver {
        pend_no_more(&mut writes, user_id, now);
    }
    sessions::open(&mut writes, user_id, session);
    if let Some(email) = email {
        known_clients::remember(&mut writes, email.key(), session);
    }
    happened.push(&events.signed_in);
    for event in happened {
        audit_events::record_in(&mut writes, event.clone(), user_id, session.id)?;
    }
    let user = users::find_by_id(&mut writes, user_id);
    Ok(Decided::write(writes, move |results| {
        Ok(IdentityOutcome::Opened(Box::new(users::user_that_is(results, user)?)))
    }))
}

fn create(writes: &mut Script, sign_in: &SignInWithIdentity) -> StoreResult<()> {
    let account = sign_in.account().ok_or(StoreError::Corrupt { table: "users", column: "email" })?;
    users::insert(writes, &account, account.email.key().as_str(), Pending::No)?;
    if !account.email_verified {
        users::contest(writes, account.id, account.now);
    }
    link(writes, account.id, &sign_in.identity, account.now);
    Ok(())
}

/// Removes what a stranger may have put into the account before its owner came, and links the identity.
fn take_over(writes: &mut Script, proven: &Proven, sign_in: &SignInWithIdentity) {
    let SignInWithIdentity { identity, session, .. } = sign_in;
    let (id, now) = (proven.account.user.id, session.created_at);
    prove(writes, proven, Verification::Provider, now);
    if let Some(profile) = &proven.profile {
        let cleared = profile.without_public_text(now);
        let profile = cleared.with_provider_data(&identity.name, identity.avatar_url.as_ref(), now);
        writes.write_profile(ProfileWrite::Save(profile));
    }
    link(writes, id, identity, now);
}
