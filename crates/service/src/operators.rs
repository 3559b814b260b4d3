//! Operators: accounts with a grant, which may sign in to the console. A grant sleeps until its activation link is used by
//! the signed-in account, which has shown a second factor. Who may do what, and the protection of operators' accounts,
//! are rules of [`latchkey_domain::operator`].

use std::collections::BTreeMap;
use std::sync::Arc;

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::operator::{
    ACTIVATION_LIFETIME, Act, ActingOperator, Ineligible, Operator, Party, Role,
};
use latchkey_domain::passkey::RpId;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::LinkToken;
use latchkey_store::{
    ActivateOperator, ActivatedOperator, GrantOperator, GrantedOperator, NewToken, RenewActivation,
    RenewedActivation, RevokeOperator, RevokedOperator,
};

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::refusal::{
    AUTH_UNAUTHORIZED, INVALID_CODE, OPERATOR_NEEDS_FACTOR, OPERATOR_NOT_FOUND, OPERATOR_PROTECTED,
    USER_NOT_FOUND,
};
use crate::sessions::FreshCaller;

mod addresses;

/// The use cases of operators.
pub struct Operators {
    pub(crate) kernel: Arc<Kernel>,
}

/// A one-time link by which the signed-in account activates its grant. It is shown once, and never mailed.
pub struct ActivationLink {
    url: String,
    pub expires_at: Timestamp,
}

impl ActivationLink {
    /// Returns the URL, to be shown to the owner or on the terminal.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.url
    }
}

/// The outcome of giving an account a role.
pub enum Granting {
    /// The account has the role, and its grant is active already.
    Active,
    /// The account has the role; the link activates its grant.
    Asleep(ActivationLink),
    /// The account cannot be an operator. Nothing changed.
    Ineligible(Ineligible),
}

impl Operators {
    /// Lists all operators, the earliest grant first.
    pub async fn list(&self) -> Result<Vec<Operator>> {
        Ok(self.kernel.store.list_operators().await?)
    }

    /// Lists the accounts that are protected, with their roles: operators, and those whose address has a grant that waits.
    pub async fn list_protected(&self) -> Result<BTreeMap<UserId, Role>> {
        Ok(self.kernel.store.list_protected_accounts().await?)
    }

    /// Gives an account a role. A grant that is active stays so; console sessions of the account end. Only an owner and the
    /// command line may do it.
    pub async fn grant(
        &self,
        user_id: UserId,
        role: Role,
        party: Party,
        client: Option<&Client>,
    ) -> Result<Granting> {
        let granted_by = manager(party, |operator| operator.role.may_grant(role))?;
        let now = self.kernel.now();
        let (activation, link) = self.activation(now);
        let event = self.kernel.event(AuditKind::OperatorGranted, party, client, now);
        let grant = GrantOperator { user_id, role, granted_by, activation, event, now };
        match self.kernel.store.grant_operator(grant).await?? {
            GrantedOperator::Active => Ok(Granting::Active),
            GrantedOperator::Asleep => Ok(Granting::Asleep(link)),
            GrantedOperator::Ineligible(reason) => Ok(Granting::Ineligible(reason)),
            GrantedOperator::NotFound => Err(Error::Refused(&USER_NOT_FOUND)),
        }
    }

    /// Makes a new activation link. The grant falls asleep, console sessions of the account end, and an earlier link becomes
    /// invalid. Only an owner and the command line may do it. The command line alone may put the last owner to sleep, since
    /// it makes owners without the console.
    pub async fn reactivate(
        &self,
        user_id: UserId,
        party: Party,
        client: Option<&Client>,
    ) -> Result<Granting> {
        manager(party, |_| true)?;
        let now = self.kernel.now();
        let (activation, link) = self.activation(now);
        let even_last_owner = party == Party::System;
        let event = self.kernel.event(AuditKind::OperatorLinkMade, party, client, now);
        let renew = RenewActivation { user_id, activation, even_last_owner, event };
        match self.kernel.store.renew_activation(renew).await?? {
            RenewedActivation::Renewed => Ok(Granting::Asleep(link)),
            RenewedActivation::Ineligible(reason) => Ok(Granting::Ineligible(reason)),
            RenewedActivation::NotFound => Err(Error::Refused(&OPERATOR_NOT_FOUND)),
        }
    }

    /// Withdraws the role of an account, and ends its console sessions. Only an owner and the command line may do it. Returns
    /// true if it was the last owner, which is refused unless `even_last_owner` is set.
    pub async fn revoke(
        &self,
        user_id: UserId,
        even_last_owner: bool,
        party: Party,
        client: Option<&Client>,
    ) -> Result<bool> {
        manager(party, |_| true)?;
        let event = self.kernel.event(AuditKind::OperatorRevoked, party, client, self.kernel.now());
        match self.kernel.store.revoke_operator(RevokeOperator { user_id, even_last_owner, event }).await?? {
            RevokedOperator::Revoked { was_last_owner } => Ok(was_last_owner),
            RevokedOperator::NotFound => Err(Error::Refused(&OPERATOR_NOT_FOUND)),
        }
    }

    /// Activates the caller's grant by its link. The caller must have signed in recently, with a second factor if the
    /// account has two-step sign-in; where operators need a second factor, the account must have it.
    pub async fn activate(&self, caller: &FreshCaller, token: &str, client: &Client) -> Result<()> {
        let token = LinkToken::parse(token).ok_or(&INVALID_CODE)?;
        let caller = caller.caller();
        self.activate_in((caller.user_id, caller.session_id), &token, None, client).await
    }

    /// Activates the grant of a session's user, who showed the factors that it needs. A passkey for `rp_id` counts as a
    /// second factor.
    pub(crate) async fn activate_in(
        &self,
        (user_id, session_id): (UserId, SessionId),
        token: &LinkToken,
        rp_id: Option<RpId>,
        client: &Client,
    ) -> Result<()> {
        let now = self.kernel.now();
        let activate = ActivateOperator {
            user_id,
            session_id,
            token: token.hash(),
            needs_factor: self.kernel.operators.require_second_factor,
            rp_id,
            event: self.kernel.event(AuditKind::OperatorActivated, Actor::User, Some(client), now),
            now,
        };
        match self.kernel.store.activate_operator(activate).await? {
            ActivatedOperator::Activated => Ok(()),
            ActivatedOperator::Refused => Err(Error::Refused(&INVALID_CODE)),
            ActivatedOperator::NoFactor => Err(Error::Refused(&OPERATOR_NEEDS_FACTOR)),
            ActivatedOperator::NoSession => Err(Error::Refused(&AUTH_UNAUTHORIZED)),
        }
    }

    fn activation(&self, now: Timestamp) -> (NewToken, ActivationLink) {
        let token = LinkToken::new(self.kernel.entropy.bytes());
        let expires_at = now.plus(ACTIVATION_LIFETIME);
        let url = self.kernel.site.activation_link(&token);
        (NewToken { hash: token.hash(), expires_at }, ActivationLink { url, expires_at })
    }
}

/// Returns the operator who manages operators; `None` for the command line. Refused for every other party.
fn manager(party: Party, may: impl Fn(ActingOperator) -> bool) -> Result<Option<UserId>> {
    match party {
        Party::System => Ok(None),
        Party::Operator(operator) if operator.role.may(Act::ManageOperators) && may(operator) => {
            Ok(Some(operator.user_id))
        }
        Party::Operator(_) | Party::Admin => Err(Error::Refused(&OPERATOR_PROTECTED)),
    }
}
