//! Changes of passkeys by their owner, and their removal by an admin.

use latchkey_domain::factors::FactorName;
use latchkey_domain::ids::PasskeyId;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::operator::Effect;
use latchkey_domain::passkey::{Passkey, Passkeys as OwnPasskeys};
use latchkey_domain::sign_in_offer::SignInOffer;
use latchkey_domain::user::User;
use latchkey_store::{ChangeFactors, ChangedFactors, GuardedResult, RemovePasskeyOf, StoreResult};

use super::change_factors::{OwnGrant, Owner, change, record};
use super::factors;
use super::operator_guard::OperatorReads;
use crate::form::{Decided, Executor, Script};
use crate::tables::{audit_events, operators, outbox, passkeys, sessions, users};

pub(crate) async fn rename<E: Executor>(
    engine: &E,
    rename: ChangeFactors<(PasskeyId, FactorName)>,
) -> StoreResult<ChangedFactors<Passkey>> {
    change(engine, rename, OwnGrant::Stays, |writes, Owner { user, own, .. }, rename| {
        let (id, name) = &rename.change;
        let Some(passkey) = own.passkeys.into_iter().find(|passkey| passkey.id == *id) else {
            return Ok(ChangedFactors::NotFound);
        };
        passkeys::rename(writes, *id, name);
        audit_events::record_in(writes, rename.event.clone(), user.id, rename.session_id)?;
        Ok(ChangedFactors::Changed(Passkey { name: name.clone(), ..passkey }))
    })
    .await
}

/// Removes a passkey, unless it is the last second factor of an account with two-step sign-in, or the last method of
/// sign-in.
pub(crate) async fn remove<E: Executor>(
    engine: &E,
    remove: ChangeFactors<PasskeyId>,
    offer: SignInOffer,
) -> StoreResult<ChangedFactors<OwnPasskeys>> {
    change(engine, remove, OwnGrant::MaySleep, move |writes, owner, remove| {
        let Owner { user, confirmed, mut own, may_sleep } = owner;
        let id = remove.change;
        let Some(place) = own.passkeys.iter().position(|passkey| passkey.id == id) else {
            return Ok(ChangedFactors::NotFound);
        };
        // A passkey of another relying party id is neither a second factor nor a way to sign in.
        let is_usable = Some(own.passkeys.remove(place).rp_id) == remove.rp_id;
        let rp_ids = own.passkeys.iter().map(|passkey| passkey.rp_id.clone()).collect();
        let left = User { passkeys: rp_ids, ..user.clone() };
        let has_factor = !confirmed.is_empty() || left.has_usable_passkey(remove.rp_id.as_ref());
        if is_usable && user.has_two_step() && !has_factor {
            return Ok(ChangedFactors::LastSecondFactor);
        }
        if is_usable && !offer.admits(&left) {
            return Ok(ChangedFactors::LastWayIn);
        }
        if !has_factor && !may_sleep {
            return Ok(ChangedFactors::LastOwner);
        }
        passkeys::delete(writes, id);
        if !has_factor {
            operators::sleep(writes, user.id, remove.now);
        }
        record(writes, &user, remove, Some(MailKind::PasskeyRemoved))?;
        sessions::end_shown_passkey_besides(writes, user.id, id, remove.session_id, remove.now);
        Ok(ChangedFactors::Changed(own))
    })
    .await
}

/// Removes a passkey for an admin. Returns `false` if the account has no such passkey.
pub(crate) async fn remove_of<E: Executor>(engine: &E, remove: RemovePasskeyOf) -> GuardedResult<bool> {
    let RemovePasskeyOf { user_id, passkey: id, event, mail, rp_id, protection, even_last_owner, now } =
        remove;
    let mut script = Script::default();
    users::lock_by_id(&mut script, user_id);
    let found = passkeys::find(&mut script, id);
    let guard = OperatorReads::find(&mut script, Effect::of_sleep(even_last_owner));
    engine
        .transact(script, move |results| {
            let found = passkeys::with_account(results, found)?;
            let Some((_, account)) = found.filter(|(_, account)| account.user.id == user_id) else {
                return Ok(Decided::Return(Ok(false)));
            };
            if let Err(refusal) = guard.judge(results, protection, &[user_id])? {
                return Ok(Decided::Return(Err(refusal)));
            }
            let mut writes = Script::default();
            factors::invalidate_challenges(&mut writes, user_id, now);
            passkeys::delete(&mut writes, id);
            users::end_bare_two_step(&mut writes, user_id, rp_id.as_ref());
            operators::sleep(&mut writes, user_id, now);
            users::touch(&mut writes, user_id, now);
            sessions::end_shown_passkey(&mut writes, user_id, id, now);
            audit_events::record_of(&mut writes, event.clone(), user_id)?;
            outbox::notify(&mut writes, &account.user, mail.as_ref(), MailKind::PasskeyRemoved, now);
            Ok(Decided::done(writes, Ok(true)))
        })
        .await
}
