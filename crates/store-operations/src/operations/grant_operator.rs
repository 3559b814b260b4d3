//! Grants of operators: given, withdrawn, and activated by a link.

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::{Effect, Operator, Protection, Role, may_be_operator};
use latchkey_store::{
    ActivateOperator, ActivatedOperator, GrantOperator, GrantedOperator, GuardedResult, RenewActivation,
    RenewedActivation, RevokeOperator, RevokedOperator, StoreResult,
};

use super::operator_guard::OperatorReads;
use crate::form::{Decided, Executor, Results, Script, Slot};
use crate::tables::{audit_events, operator_addresses, operators, sessions, users};

/// Handles of the statements that lock an account and read it with its grant.
#[derive(Clone, Copy)]
struct AccountReads {
    account: Slot,
    grant: Slot,
}

impl AccountReads {
    fn lock(script: &mut Script, user_id: UserId) -> Self {
        users::lock_by_id(script, user_id);
        Self { account: users::find_by_id(script, user_id), grant: operators::find(script, user_id) }
    }

    fn operator(self, results: &Results<'_>) -> StoreResult<Option<Operator>> {
        results.find(self.grant, operators::read_operator)
    }
}

pub(crate) async fn grant<E: Executor>(engine: &E, grant: GrantOperator) -> GuardedResult<GrantedOperator> {
    let mut script = Script::default();
    let reads = AccountReads::lock(&mut script, grant.user_id);
    // Every role but the highest one may take the role of an owner away.
    let effect = if grant.role == Role::Owner { Effect::Change } else { Effect::Loss };
    let guard = OperatorReads::find(&mut script, effect);
    engine
        .transact(script, move |results| {
            let Some(account) = users::account(results, reads.account)? else {
                return Ok(Decided::Return(Ok(GrantedOperator::NotFound)));
            };
            if let Err(reason) = may_be_operator(&account.user) {
                return Ok(Decided::Return(Ok(GrantedOperator::Ineligible(reason))));
            }
            if let Err(refusal) = guard.judge(results, Protection::LastOwner, &[grant.user_id])? {
                return Ok(Decided::Return(Err(refusal)));
            }
            let before = reads.operator(results)?.map(|operator| operator.grant);
            let is_active = before.as_ref().is_some_and(|grant| grant.activated_at.is_some());
            let (hash, expires_at) = (&grant.activation.hash, grant.activation.expires_at);
            let mut writes = Script::default();
            operators::save(&mut writes, &grant, (!is_active).then_some((hash, expires_at)));
            operator_addresses::delete(&mut writes, account.user.email.key());
            let mut event = with_role(&grant.event, "role", grant.role);
            if let Some(before) = before {
                event = with_role(&event, "from", before.role);
            }
            audit_events::record_of(&mut writes, event, grant.user_id)?;
            let outcome = if is_active { GrantedOperator::Active } else { GrantedOperator::Asleep };
            Ok(Decided::done(writes, Ok(outcome)))
        })
        .await
}

pub(crate) async fn renew<E: Executor>(
    engine: &E,
    renew: RenewActivation,
) -> GuardedResult<RenewedActivation> {
    let mut script = Script::default();
    let reads = AccountReads::lock(&mut script, renew.user_id);
    let guard = OperatorReads::find(&mut script, Effect::Loss);
    engine
        .transact(script, move |results| {
            let Some(operator) = reads.operator(results)? else {
                return Ok(Decided::Return(Ok(RenewedActivation::NotFound)));
            };
            if let Err(reason) = may_be_operator(&operator.user) {
                return Ok(Decided::Return(Ok(RenewedActivation::Ineligible(reason))));
            }
            let judged = guard.judge(results, Protection::LastOwner, &[renew.user_id])?;
            if let Err(refusal) = judged
                && !renew.even_last_owner
            {
                return Ok(Decided::Return(Err(refusal)));
            }
            let mut writes = Script::default();
            let link = (&renew.activation.hash, renew.activation.expires_at);
            operators::renew(&mut writes, renew.user_id, link, renew.event.at);
            audit_events::record_of(&mut writes, renew.event.clone(), renew.user_id)?;
            Ok(Decided::done(writes, Ok(RenewedActivation::Renewed)))
        })
        .await
}

pub(crate) async fn revoke<E: Executor>(
    engine: &E,
    revoke: RevokeOperator,
) -> GuardedResult<RevokedOperator> {
    let mut script = Script::default();
    let reads = AccountReads::lock(&mut script, revoke.user_id);
    let guard = OperatorReads::find(&mut script, Effect::Loss);
    engine
        .transact(script, move |results| {
            let Some(operator) = reads.operator(results)? else {
                return Ok(Decided::Return(Ok(RevokedOperator::NotFound)));
            };
            let judged = guard.judge(results, Protection::LastOwner, &[revoke.user_id])?;
            if let Err(refusal) = judged
                && !revoke.even_last_owner
            {
                return Ok(Decided::Return(Err(refusal)));
            }
            let mut writes = Script::default();
            operators::delete(&mut writes, revoke.user_id, revoke.event.at);
            let event = with_role(&revoke.event, "role", operator.grant.role);
            audit_events::record_of(&mut writes, event, revoke.user_id)?;
            Ok(Decided::done(writes, Ok(RevokedOperator::Revoked { was_last_owner: judged.is_err() })))
        })
        .await
}

pub(crate) async fn activate<E: Executor>(
    engine: &E,
    activate: ActivateOperator,
) -> StoreResult<ActivatedOperator> {
    let ActivateOperator { user_id, session_id, token, needs_factor, rp_id, event, now } = activate;
    let mut script = Script::default();
    users::lock_by_id(&mut script, user_id);
    let live = sessions::find_live(&mut script, session_id, now);
    let link = operators::find_activation(&mut script, user_id, &token, now);
    engine
        .transact(script, move |results| {
            let live = results.find(live, users::read_account)?.map(|account| account.user);
            let Some(user) = live.filter(|user| user.id == user_id) else {
                return Ok(Decided::Return(ActivatedOperator::NoSession));
            };
            if !results.any(link)? || may_be_operator(&user).is_err() {
                return Ok(Decided::Return(ActivatedOperator::Refused));
            }
            if needs_factor && !user.has_two_step() && !user.has_usable_passkey(rp_id.as_ref()) {
                return Ok(Decided::Return(ActivatedOperator::NoFactor));
            }
            let mut writes = Script::default();
            operators::activate(&mut writes, user_id, now);
            audit_events::record_in(&mut writes, event.clone(), user_id, session_id)?;
            Ok(Decided::done(writes, ActivatedOperator::Activated))
        })
        .await
}

/// Adds a role to the details of an event.
pub(crate) fn with_role(event: &AuditEvent, detail: &str, role: Role) -> AuditEvent {
    let mut event = event.clone();
    event.details.insert(detail.to_owned(), role.as_str().into());
    event
}
