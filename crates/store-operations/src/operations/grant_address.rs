//! Grants for addresses without an account: given, withdrawn, and passed on to the account that the link made.

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::operator::{AddressGrant, AddressGrantId, may_be_operator};
use latchkey_store::{
    AdoptGrant, GrantAddress, GrantOperator, GrantedAddress, NewToken, RevokeAddress, StoreResult,
};

use super::grant_operator::with_role;
use crate::form::{Decided, Executor, Script};
use crate::tables::{audit_events, operator_addresses, operators, users};

/// Saves a grant for an address, unless it has an account. A sign-up that was never verified is none: whoever began it need
/// not be the one who is meant.
pub(crate) async fn grant<E: Executor>(engine: &E, grant: GrantAddress) -> StoreResult<GrantedAddress> {
    let mut script = Script::default();
    let account = users::find_by_key(&mut script, grant.email.key());
    engine
        .transact(script, move |results| {
            if users::account(results, account)?.is_some_and(|account| !account.user.is_pending) {
                return Ok(Decided::Return(GrantedAddress::HasAccount));
            }
            let mut writes = Script::default();
            operator_addresses::save(&mut writes, &grant);
            audit_events::record(
                &mut writes,
                of_grant(with_role(&grant.event, "role", grant.role), grant.id),
            )?;
            Ok(Decided::done(writes, GrantedAddress::Asleep))
        })
        .await
}

pub(crate) async fn revoke<E: Executor>(engine: &E, revoke: RevokeAddress) -> StoreResult<bool> {
    let RevokeAddress { email, event } = revoke;
    let mut script = Script::default();
    let found = operator_addresses::lock(&mut script, &email);
    engine
        .transact(script, move |results| {
            let Some(AddressGrant { id, grant, .. }) = results.find(found, operator_addresses::read)? else {
                return Ok(Decided::Return(false));
            };
            let mut writes = Script::default();
            operator_addresses::delete(&mut writes, &email);
            audit_events::record(&mut writes, of_grant(with_role(&event, "role", grant.role), id))?;
            Ok(Decided::done(writes, true))
        })
        .await
}

/// Passes the grant of a link on to the account of its address, if that may be an operator. This alone turns a grant for
/// an address into one of an account. The link stays valid, and activates it.
pub(crate) async fn adopt<E: Executor>(engine: &E, adopt: AdoptGrant) -> StoreResult<bool> {
    let AdoptGrant { token, event, now } = adopt;
    let mut script = Script::default();
    operator_addresses::lock_account(&mut script, &token, now);
    let account = operator_addresses::find_account(&mut script, &token, now);
    let found = operator_addresses::find_of_token(&mut script, &token, now);
    engine
        .transact(script, move |results| {
            let found = results.find(found, operator_addresses::read)?;
            let user = users::account(results, account)?.map(|account| account.user);
            let user = user.filter(|user| may_be_operator(user).is_ok());
            let (Some(AddressGrant { id, email, grant }), Some(user)) = (found, user) else {
                return Ok(Decided::Return(false));
            };
            let Some(expires_at) = grant.activation_expires_at else { return Ok(Decided::Return(false)) };
            let event = of_grant(with_role(&event, "role", grant.role), id);
            let given = GrantOperator {
                user_id: user.id,
                role: grant.role,
                granted_by: grant.granted_by,
                activation: NewToken { hash: token, expires_at },
                event: event.clone(),
                now: grant.granted_at,
            };
            let mut writes = Script::default();
            operators::save(&mut writes, &given, Some((&token, expires_at)));
            operator_addresses::delete(&mut writes, email.key());
            audit_events::record_of(&mut writes, event, user.id)?;
            Ok(Decided::done(writes, true))
        })
        .await
}

/// Adds the id of the grant to the details of an event.
fn of_grant(mut event: AuditEvent, id: AddressGrantId) -> AuditEvent {
    event.details.insert("grant".to_owned(), id.to_string().into());
    event
}
