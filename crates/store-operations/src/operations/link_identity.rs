//! Linking of an identity to the account of a signed-in user.

use latchkey_domain::mail_kind::MailKind;
use latchkey_store::{LinkIdentity, LinkOutcome, StoreResult};

use super::identities::link;
use crate::form::{Decided, Executor, Results, Script, Slot};
use crate::tables::identities::{self, Owned, Sought};
use crate::tables::{audit_events, outbox, sessions, users};

struct Reads {
    session: Slot,
    owner: Slot,
    user: Slot,
}

/// Links an identity to the session's account. Does nothing if the identity is already linked to this account.
pub(crate) async fn link_identity<E: Executor>(
    engine: &E,
    request: LinkIdentity,
) -> StoreResult<LinkOutcome> {
    let sought = Sought { identity: &request.identity, earlier: request.earlier };
    let mut script = Script::default();
    users::lock_by_id(&mut script, request.user_id);
    let reads = Reads {
        session: sessions::find_owner(&mut script, request.session_id, request.now),
        owner: identities::find_owner(&mut script, sought),
        user: users::find_by_id(&mut script, request.user_id),
    };
    engine.transact(script, move |results| decide(&request, &reads, results)).await
}

fn decide(request: &LinkIdentity, reads: &Reads, results: &Results<'_>) -> StoreResult<Decided<LinkOutcome>> {
    let LinkIdentity { user_id, session_id, identity, event, mail, now, .. } = request;
    if sessions::owner(results, reads.session)? != Some(*user_id) {
        return Ok(Decided::Return(LinkOutcome::Gone));
    }
    let owner = users::user_that_is(results, reads.user)?;
    match identities::owner(results, reads.owner)? {
        Some(Owned { owner: linked_to, issuer }) if linked_to == *user_id => {
            let linked = LinkOutcome::Linked(Box::new(owner));
            if !issuer.is_unknown() {
                return Ok(Decided::Return(linked));
            }
            let mut writes = Script::default();
            identities::take_issuer(&mut writes, identity);
            return Ok(Decided::done(writes, linked));
        }
        Some(_) => return Ok(Decided::Return(LinkOutcome::Taken)),
        None => {}
    }
    let mut writes = Script::default();
    link(&mut writes, *user_id, identity, *now);
    audit_events::record_in(&mut writes, event.clone(), *user_id, *session_id)?;
    outbox::notify(&mut writes, &owner, mail.as_ref(), MailKind::IdentityLinked, *now);
    let user = users::find_by_id(&mut writes, *user_id);
    Ok(Decided::write(writes, move |results| {
        Ok(LinkOutcome::Linked(Box::new(users::user_that_is(results, user)?)))
    }))
}
