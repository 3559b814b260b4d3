//! Completion of a sign-in by a second factor, and access tokens of a reauthentication (step-up).

use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::challenge::{ChallengeKind, FactorRules, SecondFactorPolicy};
use latchkey_domain::client::Client;
use latchkey_domain::identity::ProviderKey;
use latchkey_domain::session::{AuthMethod, AuthMethods, NewSession, Session, SessionKind};
use latchkey_domain::sign_in_offer::SignInOffer;
use latchkey_domain::time::Timestamp;
use latchkey_store::{ChallengeTerms, CompletedSignIn, LiveSession, NewMail, SignInGuard};
use serde_json::Value;

use super::Sessions;
use super::opening::{EntryDraft, Opens, SignInClient};
use crate::error::Result;
use crate::kernel::ActFact;
use crate::settings::EmailSignIn;
use crate::tokens::access_tokens::AccessToken;

impl Sessions {
    /// Returns the operator's current rules for second factors.
    pub(crate) fn factor_rules(&self) -> FactorRules {
        let policy = self.kernel.settings.load().values.second_factor;
        FactorRules { policy, rp_id: self.rp_id.clone() }
    }

    /// Returns the rules for the challenge of a sign-in. Whether an operator who activates a grant must enrol a factor is a
    /// setting of the console.
    pub(super) fn entry_rules(&self, opens: &Opens) -> FactorRules {
        let rules = self.factor_rules();
        let policy = match opens {
            Opens::App(_) | Opens::Pages(_) => rules.policy,
            Opens::Console(_) if self.kernel.operators.require_second_factor => SecondFactorPolicy::Required,
            Opens::Console(_) => SecondFactorPolicy::Optional,
        };
        FactorRules { policy, ..rules }
    }

    /// Returns the methods of sign-in that the service offers. An account must keep at least one of them.
    pub(crate) fn sign_in_offer(&self) -> SignInOffer {
        let is_on = self.kernel.settings.load().values.passkeys_enabled;
        SignInOffer {
            providers: self.shared.providers.load().offered(),
            rp_id: self.rp_id.clone().filter(|_| is_on),
            by_email: self.kernel.email_sign_in() != EmailSignIn::Off,
        }
    }

    /// Returns the settings and the time that determine whether a stored challenge is live and which kinds of answers
    /// it accepts.
    pub(crate) fn challenge_terms(&self, now: Timestamp) -> ChallengeTerms {
        let settings = self.kernel.settings.load();
        ChallengeTerms {
            attempts: self.lifetimes.challenge_attempts,
            rules: self.factor_rules(),
            must_verify: settings.values.require_email_verification,
            now,
        }
    }

    /// Creates a session for a sign-in whose challenge was answered, and the challenge that the store writes
    /// instead if a further answer is needed. The session has the authentication methods shown before and the
    /// one of this answer. `passkey` is the `amr` value of the passkey that answered, if one did.
    pub(crate) fn draft_raised(
        &self,
        methods: AuthMethods,
        (kind, passkey): (ChallengeKind, Option<AuthMethod>),
        client: &SignInClient,
        now: Timestamp,
    ) -> Result<EntryDraft> {
        let level = methods.level();
        let (methods, level) = kind.raise(passkey, methods, level);
        self.draft_entry_of(methods, level, client, now)
    }

    /// Builds the data that the store writes when a challenge completes a sign-in: session, audit events and mail.
    /// `provider` is the identity provider of the first factor, if the sign-in began with one.
    pub(crate) fn completed_sign_in(
        &self,
        session: &NewSession,
        provider: Option<&ProviderKey>,
        guard: Option<SignInGuard>,
        client: &Client,
        now: Timestamp,
    ) -> Result<CompletedSignIn> {
        let session = session.clone();
        let mut event = self.signed_in_event(&session, client, now);
        let mut linked = self.kernel.event(AuditKind::IdentityLinked, Actor::User, Some(client), now);
        let mut mail = None;
        if let Some(provider) = provider {
            for event in [&mut event, &mut linked] {
                event.details.insert("provider".to_owned(), Value::from(provider.as_str()));
            }
            mail = self.identity_notification(Some(client), provider, now)?;
        }
        Ok(CompletedSignIn { session, guard, event, linked, mail })
    }

    /// Builds the audit event of a sign-in, with its authentication methods. That of a console session says so.
    pub(crate) fn signed_in_event(
        &self,
        session: &NewSession,
        client: &Client,
        now: Timestamp,
    ) -> AuditEvent {
        let mut event = self.signed_in_by(&session.methods, client, now);
        if session.kind.word() == SessionKind::Console {
            event.details.insert("session".to_owned(), Value::from(SessionKind::Console.as_str()));
        }
        event
    }

    /// Builds the audit event of a sign-in, with its authentication methods.
    pub(crate) fn signed_in_by(&self, methods: &AuthMethods, client: &Client, now: Timestamp) -> AuditEvent {
        let mut event = self.kernel.event(AuditKind::SignedIn, Actor::User, Some(client), now);
        event.details.insert("amr".to_owned(), Value::from(methods.to_claim()));
        event
    }

    /// Builds the security notification about an identity that was linked or unlinked.
    pub(crate) fn identity_notification(
        &self,
        client: Option<&Client>,
        provider: &ProviderKey,
        now: Timestamp,
    ) -> Result<Option<NewMail>> {
        let providers = self.shared.providers.load();
        let name = providers.find(provider).map_or(provider.as_str(), |known| known.name());
        self.kernel.notification(client, Some(ActFact::Provider(name)), now)
    }

    /// Issues an access token after a reauthentication (step-up). The token states its time, the additional
    /// authentication method, and a higher level if a second factor was shown. The session is unchanged, so the token
    /// of the next refresh states the original sign-in again.
    pub(crate) fn step_up(
        &self,
        live: LiveSession,
        kind: (ChallengeKind, Option<AuthMethod>),
        now: Timestamp,
    ) -> Result<AccessToken> {
        let LiveSession { session, user } = live;
        self.issue_access_token(&user, &Self::raise(session, kind, now), now)
    }

    /// Returns a session with the methods, level and time of sign-in that it has after a step-up.
    pub(crate) fn raise(
        session: Session,
        (kind, passkey): (ChallengeKind, Option<AuthMethod>),
        now: Timestamp,
    ) -> Session {
        let (methods, level) = kind.raise(passkey, session.methods, session.level);
        Session { methods, level, authenticated_at: now, ..session }
    }
}
