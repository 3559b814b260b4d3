//! Grants for addresses without an account. The account that the activation link makes gets the grant
//! ([`AddressGrant`] says why the link alone verifies nothing).

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::email::Email;
use latchkey_domain::operator::{AddressGrant, AddressGrantId, Party, Role, WaitingGrant};
use latchkey_domain::tokens::LinkToken;
use latchkey_store::{AdoptGrant, GrantAddress, GrantedAddress, RevokeAddress};

use super::{Granting, Operators, manager};
use crate::error::{Error, Result};
use crate::refusal::{BUSY, OPERATOR_NOT_FOUND};

/// Number of attempts to save a grant. An attempt is repeated if an account was made or deleted between two steps.
const TRIES: usize = 3;

impl Operators {
    /// Lists the grants for addresses without an account, the earliest first.
    pub async fn list_addresses(&self) -> Result<Vec<AddressGrant>> {
        Ok(self.kernel.store.list_address_grants().await?)
    }

    /// Lists these grants with the accounts that have the addresses by now.
    pub async fn list_waiting(&self) -> Result<Vec<WaitingGrant>> {
        let mut waiting = Vec::new();
        for of in self.list_addresses().await? {
            let found = self.kernel.store.find_user_by_email(of.email.key()).await?;
            waiting.push(WaitingGrant { of, account: found.filter(|user| !user.is_pending) });
        }
        Ok(waiting)
    }

    /// Gives the account of an address a role, as [`Self::grant`] does. Without an account the role waits for the one that
    /// the link makes; a sign-up that was never verified is none.
    pub async fn grant_to(
        &self,
        email: &Email,
        role: Role,
        party: Party,
        client: Option<&Client>,
    ) -> Result<Granting> {
        for _ in 0..TRIES {
            let found = self.kernel.store.find_user_by_email(email.key()).await?;
            if let Some(user) = found.filter(|user| !user.is_pending) {
                return self.grant(user.id, role, party, client).await;
            }
            let kind = AuditKind::OperatorGranted;
            if let Some(granting) = self.grant_address(email, role, kind, (party, client)).await? {
                return Ok(granting);
            }
        }
        Err(Error::Refused(&BUSY))
    }

    /// Makes a new activation link for the grant of an address. The earlier link becomes invalid.
    pub async fn reactivate_address(
        &self,
        email: &Email,
        party: Party,
        client: Option<&Client>,
    ) -> Result<Granting> {
        let grants = self.list_addresses().await?;
        let found = grants.into_iter().find(|grant| grant.email.key() == email.key());
        let role = found.ok_or(&OPERATOR_NOT_FOUND)?.grant.role;
        let kind = AuditKind::OperatorLinkMade;
        let granting = self.grant_address(email, role, kind, (party, client)).await?;
        granting.ok_or(Error::Refused(&OPERATOR_NOT_FOUND))
    }

    /// Withdraws the role of an address without an account.
    pub async fn revoke_address(&self, email: &Email, party: Party, client: Option<&Client>) -> Result<()> {
        manager(party, |_| true)?;
        let event = self.kernel.event(AuditKind::OperatorRevoked, party, client, self.kernel.now());
        let revoke = RevokeAddress { email: email.key().clone(), event };
        let is_done = self.kernel.store.revoke_address(revoke).await?;
        if is_done { Ok(()) } else { Err(Error::Refused(&OPERATOR_NOT_FOUND)) }
    }

    /// Returns the address whose grant has this activation link, if it has no account yet.
    pub(crate) async fn address_of(&self, link: &LinkToken) -> Result<Option<Email>> {
        let found = self.kernel.store.find_address_grant(link.hash(), self.kernel.now()).await?;
        Ok(found.map(|grant| grant.email))
    }

    /// Passes the grant of a link on to the account of its address, if there is one by now that may be an operator.
    pub(crate) async fn adopt(&self, link: &LinkToken, client: &Client) -> Result<()> {
        let now = self.kernel.now();
        let event = self.kernel.event(AuditKind::OperatorGranted, Actor::System, Some(client), now);
        self.kernel.store.adopt_grant(AdoptGrant { token: link.hash(), event, now }).await?;
        Ok(())
    }

    /// Saves a grant for an address; `None` if it has an account.
    async fn grant_address(
        &self,
        email: &Email,
        role: Role,
        kind: AuditKind,
        (party, client): (Party, Option<&Client>),
    ) -> Result<Option<Granting>> {
        let granted_by = manager(party, |operator| operator.role.may_grant(role))?;
        let now = self.kernel.now();
        let (activation, link) = self.activation(now);
        let grant = GrantAddress {
            id: AddressGrantId::new(now, self.kernel.id_bytes(now)),
            email: email.clone(),
            role,
            granted_by,
            activation,
            event: self.kernel.event(kind, party, client, now),
            now,
        };
        Ok(match self.kernel.store.grant_address(grant).await? {
            GrantedAddress::Asleep => Some(Granting::Asleep(link)),
            GrantedAddress::HasAccount => None,
        })
    }
}
