//! Sign-in with an identity of an external provider.

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email_verification::Verification;
use latchkey_domain::identity::IdentityVerdict;
use latchkey_domain::ids::UserId;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::session::SessionKind;
use latchkey_store::{IdentityOutcome, SignInWithIdentity, StoreError, StoreResult};

use super::entry::{self, Opening, Way};
use super::identities::{Concerned, Judged, link};
use super::prove_mailbox::{Proven, prove};
use super::sign_in::pend_no_more;
use crate::form::{Decided, Executor, ProfileWrite, Results, Script, Slot};
use crate::tables::challenges::FirstFactorIdentity;
use crate::tables::identities::{self, Sought};
use crate::tables::users::{self, Pending};
use crate::tables::{audit_events, known_clients, outbox, profiles, used_tokens};

struct Reads {
    /// Statement that marks the provider's token as used; `None` if the client presented no token.
    claimed: Option<Slot>,
    locked: Slot,
    concerned: Concerned,
    profile: Slot,
}

/// Opens a session for the account of an identity. The rules of `latchkey_domain` decide whether the account
/// is linked, taken over or created first.
pub(crate) async fn sign_in_with_identity<E: Executor>(
    engine: &E,
    sign_in: SignInWithIdentity,
) -> StoreResult<IdentityOutcome> {
    let sought = Sought { identity: &sign_in.identity, earlier: sign_in.rules.earlier };
    let mut script = Script::default();
    let reads = Reads {
        claimed: sign_in.token.map(|token| used_tokens::claim(&mut script, token)),
        locked: identities::lock_concerned(&mut script, sought),
        concerned: Concerned::find(&mut script, sought, sign_in.entry.session.created_at),
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
    let mut judged = reads.concerned.judge(results, &sign_in.identity, sign_in.rules)?;
    if sign_in.entry.session.kind.word() == SessionKind::Console {
        judged.verdict = judged.verdict.in_console();
    }
    let locked = results.find(reads.locked, |cells| cells.of("users").id::<UserId>("id"))?;
    if judged.account.as_ref().map(|account| account.user.id) != locked {
        // Another transaction created, linked or deleted the identity or account between the lock and the read.
        return Ok(Decided::Retry);
    }
    if let IdentityVerdict::Refused(refusal) = judged.verdict {
        let event = AuditEvent { user_id: locked, ..events.refused.clone() };
        return refuse(event, IdentityOutcome::Refused(refusal));
    }
    open(sign_in, reads, results, judged)
}

/// Refuses the sign-in and writes its audit event. The provider's token stays marked as used.
fn refuse(event: AuditEvent, outcome: IdentityOutcome) -> StoreResult<Decided<IdentityOutcome>> {
    let mut writes = Script::default();
    audit_events::record(&mut writes, event)?;
    Ok(Decided::done(writes, outcome))
}

/// Applies the decision of `latchkey_domain` on the sign-in, and opens the session or writes a challenge for
/// the second factor.
fn open(
    sign_in: &SignInWithIdentity,
    reads: &Reads,
    results: &Results<'_>,
    judged: Judged,
) -> StoreResult<Decided<IdentityOutcome>> {
    let SignInWithIdentity { identity, entry, events, mail, .. } = sign_in;
    let Judged { verdict, account, lacks_issuer } = judged;
    let session = &entry.session;
    let now = session.created_at;
    let user_id = account.as_ref().map_or(sign_in.user_id, |account| account.user.id);
    let email = account.as_ref().map(|account| &account.user.email).or(identity.email.as_ref()).cloned();
    let is_pending = account.as_ref().is_some_and(|account| account.user.is_pending);
    let way = Way::of(account.as_ref().map(|account| &account.user), entry);
    let mut first = FirstFactorIdentity { identity, is_linked_by_answer: false };
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
        // A linked identity is a further way to sign in, so it is linked only after the second factor.
        (IdentityVerdict::Link, Some(_)) if way == Way::Challenge => first.is_linked_by_answer = true,
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
    if way == Way::Session && is_pending && verdict != IdentityVerdict::TakeOver {
        pend_no_more(&mut writes, user_id, now);
    }
    entry::open(&mut writes, user_id, entry, way, Some(first))?;
    if way == Way::Session {
        if let Some(email) = email {
            known_clients::remember(&mut writes, email.key(), session);
        }
        happened.push(&events.signed_in);
    }
    for event in happened {
        match way {
            Way::Session => audit_events::record_in(&mut writes, event.clone(), user_id, session.id)?,
            Way::Challenge => audit_events::record_of(&mut writes, event.clone(), user_id)?,
        }
    }
    let opening = Opening::find(&mut writes, user_id, entry, way);
    Ok(Decided::write(writes, move |results| Ok(IdentityOutcome::Entered(opening.entered(results)?))))
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

/// Takes over an account whose address the provider has verified: verifies the address, removes data that an
/// earlier registrant may have put into the account, and links the identity.
fn take_over(writes: &mut Script, proven: &Proven, sign_in: &SignInWithIdentity) {
    let SignInWithIdentity { identity, entry, .. } = sign_in;
    let (id, now) = (proven.account.user.id, entry.session.created_at);
    prove(writes, proven, Verification::Provider, entry.session.account_cleared.as_ref(), now);
    if let Some(profile) = &proven.profile {
        let cleared = profile.without_public_text(now);
        let profile = cleared.with_provider_data(&identity.name, identity.avatar_url.as_ref(), now);
        writes.write_profile(ProfileWrite::Save(profile));
    }
    link(writes, id, identity, now);
}
