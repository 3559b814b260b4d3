//! Changes of passkeys by their owner, and their removal by an admin.

use latchkey_domain::factors::FactorName;
use latchkey_domain::ids::PasskeyId;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::passkey::Passkey;
use latchkey_domain::sign_in_offer::SignInOffer;
use latchkey_domain::user::User;
use latchkey_store::{ChangeFactors, ChangedFactors, RemovePasskeyOf, RemovedPasskey, StoreResult};

use super::change_factors::{Owner, Reads, record};
use super::factors;
use crate::form::{Decided, Executor, Script};
use crate::tables::{audit_events, outbox, passkeys, sessions, users};

pub(crate) async fn rename<E: Executor>(
    engine: &E,
    rename: ChangeFactors<(PasskeyId, FactorName)>,
) -> StoreResult<ChangedFactors<Passkey>> {
    let mut script = Script::default();
    let reads = Reads::lock(&mut script, &rename);
    let owned = passkeys::list_of(&mut script, rename.user_id);
    engine
        .transact(script, move |results| {
            let Some(Owner { user, .. }) = reads.owner(results, &rename)? else {
                return Ok(Decided::Return(ChangedFactors::NoSession));
            };
            let (id, name) = &rename.change;
            let mut passkeys = passkeys::owned(results, owned)?.into_own().passkeys.into_iter();
            let Some(passkey) = passkeys.find(|passkey| passkey.id == *id) else {
                return Ok(Decided::Return(ChangedFactors::NotFound));
            };
            let mut writes = Script::default();
            passkeys::rename(&mut writes, *id, name);
            audit_events::record_in(&mut writes, rename.event.clone(), user.id, rename.session_id)?;
            let passkey = Passkey { name: name.clone(), ..passkey };
            Ok(Decided::done(writes, ChangedFactors::Changed(passkey)))
        })
        .await
}

/// Removes a passkey, unless it is the last second factor of an account with two-step sign-in, or the last method of
/// sign-in.
pub(crate) async fn remove<E: Executor>(
    engine: &E,
    remove: ChangeFactors<PasskeyId>,
    offer: SignInOffer,
) -> StoreResult<RemovedPasskey> {
    let mut script = Script::default();
    let reads = Reads::lock(&mut script, &remove);
    let owned = passkeys::list_of(&mut script, remove.user_id);
    engine
        .transact(script, move |results| {
            let (id, now) = (remove.change, remove.now);
            let Some(Owner { user, confirmed }) = reads.owner(results, &remove)? else {
                return Ok(Decided::Return(RemovedPasskey::NoSession));
            };
            let mut own = passkeys::owned(results, owned)?.into_own();
            let before = own.passkeys.len();
            own.passkeys.retain(|passkey| passkey.id != id);
            if own.passkeys.len() == before {
                return Ok(Decided::Return(RemovedPasskey::NotFound));
            }
            let rp_ids = own.passkeys.iter().map(|passkey| passkey.rp_id.clone()).collect();
            let left = User { passkeys: rp_ids, ..user.clone() };
            let has_factor = !confirmed.is_empty() || left.has_usable_passkey(remove.rp_id.as_ref());
            if user.has_two_step() && !has_factor {
                return Ok(Decided::Return(RemovedPasskey::LastSecondFactor));
            }
            if !offer.admits(&left) {
                return Ok(Decided::Return(RemovedPasskey::LastWayIn));
            }
            let mut writes = Script::default();
            passkeys::delete(&mut writes, id);
            record(&mut writes, &user, &remove, Some(MailKind::PasskeyRemoved))?;
            sessions::end_shown_passkey_besides(&mut writes, user.id, id, remove.session_id, now);
            Ok(Decided::done(writes, RemovedPasskey::Removed(own)))
        })
        .await
}

/// Removes a passkey for an admin. Returns `false` if the account has no such passkey.
pub(crate) async fn remove_of<E: Executor>(engine: &E, remove: RemovePasskeyOf) -> StoreResult<bool> {
    let RemovePasskeyOf { user_id, passkey: id, event, mail, now } = remove;
    let mut script = Script::default();
    users::lock_by_id(&mut script, user_id);
    let found = passkeys::find(&mut script, id);
    engine
        .transact(script, move |results| {
            let found = passkeys::with_account(results, found)?;
            let Some((_, account)) = found.filter(|(_, account)| account.user.id == user_id) else {
                return Ok(Decided::Return(false));
            };
            let mut writes = Script::default();
            factors::invalidate_challenges(&mut writes, user_id, now);
            passkeys::delete(&mut writes, id);
            users::touch(&mut writes, user_id, now);
            sessions::end_shown_passkey(&mut writes, user_id, id, now);
            audit_events::record_of(&mut writes, event.clone(), user_id)?;
            outbox::notify(&mut writes, &account.user, mail.as_ref(), MailKind::PasskeyRemoved, now);
            Ok(Decided::done(writes, true))
        })
        .await
}
