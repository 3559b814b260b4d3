//! Opening a session for an identity that was proven, by whichever way.

use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::identity::{IdentityRules, VerifiedIdentity};
use latchkey_domain::ids::{ProfileId, UserId};
use latchkey_domain::session::AuthMethod;
use latchkey_domain::time::Timestamp;
use latchkey_store::{IdentityEvents, IdentityOutcome, SignInWithIdentity, UsedToken};
use serde_json::Value;

use super::OAuth;
use crate::error::{Error, Result};
use crate::providers::KnownProvider;
use crate::refusal::INVALID_ID_TOKEN;
use crate::sessions::SignedIn;

impl OAuth {
    /// The rules in force for identities of a provider.
    pub(crate) fn identity_rules(&self, provider: &KnownProvider) -> IdentityRules {
        let settings = self.kernel.settings.load();
        IdentityRules {
            is_sign_up_open: !settings.values.disable_sign_up,
            must_be_verified: settings.values.require_email_verification,
            links_by_email: provider.description.link_by_email,
            earlier: provider.earlier_identities(),
        }
    }

    /// Signs in, links, takes over or makes an account: by the rules of the domain, in one go.
    pub(crate) async fn sign_in_with(
        &self,
        identity: VerifiedIdentity,
        provider: &KnownProvider,
        token: Option<UsedToken>,
        client: &Client,
        now: Timestamp,
    ) -> Result<SignedIn> {
        let mut draft = self.sessions.draft_session(AuthMethod::Federated, client, now);
        draft.session.identity = Some(identity.id());
        let profile_id = ProfileId::new(now, self.kernel.id_bytes(now));
        let sign_in = SignInWithIdentity {
            rules: self.identity_rules(provider),
            token,
            user_id: UserId::new(now, self.kernel.id_bytes(now)),
            profile_id: self.kernel.site.create_profile_on_sign_up.then_some(profile_id),
            session: draft.session.clone(),
            events: self.identity_events(&identity, client, now),
            mail: self.identity_notification(client, &identity.provider, now)?,
            identity,
        };
        match self.kernel.store.sign_in_with_identity(sign_in).await? {
            IdentityOutcome::Opened(user) => {
                self.kernel.mails.wake_for_notification();
                self.sessions.signed_in(*user, draft, now)
            }
            IdentityOutcome::Refused(refusal) => Err(refusal.into()),
            IdentityOutcome::Replayed => Err(Error::Refused(&INVALID_ID_TOKEN)),
        }
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
        IdentityEvents {
            signed_up: event(AuditKind::SignedUp),
            verified: event(AuditKind::EmailVerified),
            linked: event(AuditKind::IdentityLinked),
            signed_in: event(AuditKind::SignedIn),
            refused,
            replayed,
        }
    }

    /// An event that names the provider.
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
