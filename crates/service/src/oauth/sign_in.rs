//! Sign-in with a verified identity, shared by the code exchange and by native apps.

use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::identity::{IdentityRules, VerifiedIdentity};
use latchkey_domain::ids::{ProfileId, UserId};
use latchkey_domain::session::{AuthMethod, AuthMethods};
use latchkey_domain::time::Timestamp;
use latchkey_store::{IdentityEvents, IdentityOutcome, SignInWithIdentity, UsedToken};
use serde_json::Value;

use super::OAuth;
use crate::error::{Error, Result};
use crate::providers::KnownProvider;
use crate::refusal::{INVALID_CREDENTIALS, INVALID_ID_TOKEN};
use crate::sessions::{Entrance, Opens, SignInClient};

impl OAuth {
    /// Returns the rules of sign-in for identities of a provider, from the current settings.
    pub(crate) fn identity_rules(&self, provider: &KnownProvider) -> IdentityRules {
        let settings = self.kernel.settings.load();
        IdentityRules {
            is_sign_up_open: !settings.values.disable_sign_up,
            must_be_verified: settings.values.require_email_verification,
            links_by_email: provider.description.link_by_email,
            earlier: provider.earlier_identities(),
        }
    }

    /// Signs in with an identity in one transaction, by the rules in [`latchkey_domain::identity`]. If the
    /// identity is linked already, its account is used. Otherwise it is linked: to the account with its email
    /// address (after the removal of all credentials, if the account may be an attacker's), or to a new
    /// account.
    ///
    /// The console lets in by linked identities of its own providers alone, and gives every other one the response of
    /// wrong credentials at the same cost.
    pub(crate) async fn sign_in_with(
        &self,
        identity: VerifiedIdentity,
        provider: &KnownProvider,
        token: Option<UsedToken>,
        from: &SignInClient,
        now: Timestamp,
    ) -> Result<Entrance> {
        let client = &from.client;
        let events = self.identity_events(&identity, client, now);
        let is_console = matches!(from.opens, Opens::Console(_));
        if is_console && !self.may_enter_console(&identity, provider, from, now).await? {
            self.kernel.store.record_event(events.refused).await?;
            return Err(Error::Refused(&INVALID_CREDENTIALS));
        }
        let mut draft = self.sessions.draft_entry(AuthMethod::Federated, from, now)?;
        draft.entry.session.identity = Some(identity.id());
        let profile_id = ProfileId::new(now, self.kernel.id_bytes(now));
        let sign_in = SignInWithIdentity {
            rules: self.identity_rules(provider),
            token,
            user_id: UserId::new(now, self.kernel.id_bytes(now)),
            profile_id: self.kernel.site.create_profile_on_sign_up.then_some(profile_id),
            entry: draft.entry.clone(),
            events,
            mail: self.sessions.identity_notification(Some(client), &identity.provider, now)?,
            identity,
        };
        match self.kernel.store.sign_in_with_identity(sign_in).await? {
            IdentityOutcome::Entered(entered) => {
                self.kernel.mails.wake_for_notification();
                self.sessions.entered(entered, draft, now)
            }
            IdentityOutcome::Refused(_) if is_console => Err(Error::Refused(&INVALID_CREDENTIALS)),
            IdentityOutcome::Refused(refusal) => Err(refusal.into()),
            IdentityOutcome::Replayed => Err(Error::Refused(&INVALID_ID_TOKEN)),
        }
    }

    /// True if the identity is of a provider of the console, and is linked to an account that may open what the sign-in
    /// asks for.
    async fn may_enter_console(
        &self,
        identity: &VerifiedIdentity,
        provider: &KnownProvider,
        from: &SignInClient,
        now: Timestamp,
    ) -> Result<bool> {
        let owner = self.kernel.store.find_identity_owner(identity, provider.earlier_identities()).await?;
        let may_open = self.sessions.may_open(owner, &from.opens, now).await?;
        Ok(may_open && self.kernel.operators.providers.contains(&identity.provider))
    }

    fn identity_events(
        &self,
        identity: &VerifiedIdentity,
        client: &Client,
        now: Timestamp,
    ) -> IdentityEvents {
        let event = |kind| self.provider_sign_in_event(kind, identity, client, now);
        let mut refused = event(AuditKind::SignInFailed);
        refused.details.insert("reason".to_owned(), Value::from("identity may not sign in"));
        let mut replayed = event(AuditKind::SignInFailed);
        replayed.details.insert("reason".to_owned(), Value::from("token was used before"));
        let mut signed_in = event(AuditKind::SignedIn);
        signed_in
            .details
            .extend(self.sessions.signed_in_by(&AuthMethods::of(AuthMethod::Federated), client, now).details);
        IdentityEvents {
            signed_up: event(AuditKind::SignedUp),
            verified: event(AuditKind::EmailVerified),
            linked: event(AuditKind::IdentityLinked),
            signed_in,
            refused,
            replayed,
        }
    }

    /// Builds an audit event that names the provider of the identity.
    pub(crate) fn provider_sign_in_event(
        &self,
        kind: AuditKind,
        identity: &VerifiedIdentity,
        client: &Client,
        now: Timestamp,
    ) -> AuditEvent {
        let mut event = self.kernel.event(kind, Actor::User, Some(client), now);
        event.details.insert("provider".to_owned(), Value::from(identity.provider.as_str()));
        event
    }
}
