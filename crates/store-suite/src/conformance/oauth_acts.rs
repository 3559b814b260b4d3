//! Helpers of the cases, each of which makes one call of the store, or the request for it: sign-ins at
//! identity providers.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::identity::{
    IdentityRefusal, IdentityRules, Issuer, LegacyIdentities, ProviderClaims, ProviderKey, ProviderKind,
    Subject, VerifiedIdentity,
};
use latchkey_domain::ids::UserId;
use latchkey_domain::session::{AuthMethod, AuthMethods, NewSession};
use latchkey_domain::sign_in_offer::SignInOffer;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;
use serde_json::json;

use super::fixtures::{MINUTE, World, object};
use super::numbered::entry;
use latchkey_store::{
    Entered, IdentityEvents, IdentityOutcome, LinkIdentity, LinkOutcome, Linker, NewFlow, NewOAuthCode,
    PresentedCode, SignInWithIdentity, StoredProvider, TakenCode, UnlinkIdentity, UnlinkOutcome, Unlinker,
};

/// Rules for sign-ins with an identity that create an account without requiring a verified address.
pub(super) const OPEN: IdentityRules = IdentityRules {
    is_sign_up_open: true,
    must_be_verified: false,
    links_by_email: true,
    earlier: LegacyIdentities::Apart,
};
/// Issuer of all identities.
pub(super) const ISSUER: &str = "https://issuer.example";
/// URL of the app to which the sign-ins at a provider return.
pub(super) const APP: &str = "https://app.example/back?x=1#top";

pub(super) fn provider(key: &str) -> ProviderKey {
    ProviderKey::parse(key).unwrap()
}

/// Identity at Google with this subject and the verified address `name`@example.org.
pub(super) fn google(subject: &str, name: &str) -> VerifiedIdentity {
    identity("google", subject, Some(name), true)
}

/// Identity of a provider, with or without an address, verified or not.
pub(super) fn identity(key: &str, subject: &str, name: Option<&str>, is_verified: bool) -> VerifiedIdentity {
    let address = name.map(|name| format!("{name}@example.org"));
    let facts = ProviderClaims {
        issuer: ISSUER,
        subject,
        email: address.as_deref(),
        email_verified: is_verified,
        name: Some("Ada of Google"),
        avatar_url: Some("https://pictures.example/ada.png"),
    };
    VerifiedIdentity::of(provider(key), facts).unwrap()
}

/// The same identity from another issuer.
pub(super) fn issued_by(issuer: &str, identity: VerifiedIdentity) -> VerifiedIdentity {
    VerifiedIdentity { issuer: Issuer::parse(issuer).unwrap(), ..identity }
}

/// The same identity without an issuer, as earlier releases stored it.
pub(super) fn of_unknown_issuer(identity: VerifiedIdentity) -> VerifiedIdentity {
    VerifiedIdentity { issuer: Issuer::unknown(), ..identity }
}

/// User and session that requested to link an identity.
pub(super) fn linker(user_id: UserId, session: &NewSession) -> Linker {
    Linker { user_id, session_id: session.id }
}

impl World {
    /// Request to sign in with an identity, under permissive rules.
    pub(super) fn with_identity(&self, identity: VerifiedIdentity, now: Timestamp) -> SignInWithIdentity {
        SignInWithIdentity {
            rules: OPEN,
            token: None,
            user_id: self.user_id(now),
            profile_id: Some(self.profile_id(now)),
            entry: entry(NewSession {
                methods: AuthMethods::of(AuthMethod::Federated),
                identity: Some(identity.id()),
                ..self.session(now)
            }),
            events: IdentityEvents {
                signed_up: self.event(AuditKind::SignedUp, now),
                verified: self.event(AuditKind::EmailVerified, now),
                linked: self.event(AuditKind::IdentityLinked, now),
                signed_in: self.event(AuditKind::SignedIn, now),
                refused: self.event(AuditKind::SignInFailed, now),
                replayed: self.event(AuditKind::SignInFailed, now),
            },
            mail: None,
            identity,
        }
    }

    /// Signs in with an identity, which must succeed.
    pub(super) async fn enter(&self, identity: VerifiedIdentity, now: Timestamp) -> User {
        match self.sign_in_with_identity(self.with_identity(identity, now)).await.unwrap() {
            IdentityOutcome::Entered(Entered::Session(user)) => *user,
            other => panic!("not opened: {other:?}"),
        }
    }

    /// Reason for which a sign-in with an identity is refused.
    pub(super) async fn refused(&self, identity: VerifiedIdentity, now: Timestamp) -> IdentityRefusal {
        match self.sign_in_with_identity(self.with_identity(identity, now)).await.unwrap() {
            IdentityOutcome::Refused(refusal) => refusal,
            other => panic!("not refused: {other:?}"),
        }
    }

    /// Links an identity to the account of a session.
    pub(super) async fn link(
        &self,
        user_id: UserId,
        session: &NewSession,
        identity: VerifiedIdentity,
        now: Timestamp,
    ) -> LinkOutcome {
        let event = self.event(AuditKind::IdentityLinked, now);
        let earlier = LegacyIdentities::Apart;
        let link =
            LinkIdentity { user_id, session_id: session.id, identity, earlier, event, mail: None, now };
        self.link_identity(link).await.unwrap()
    }

    /// Unlinks the identities of a provider. Google and github are available for sign-in.
    pub(super) async fn unlink(
        &self,
        user_id: UserId,
        key: &str,
        subject: Option<&str>,
        now: Timestamp,
    ) -> UnlinkOutcome {
        let unlink = UnlinkIdentity {
            user_id,
            provider: provider(key),
            subject: subject.and_then(Subject::parse),
            offer: SignInOffer {
                providers: vec![provider("google"), provider("github")],
                ..SignInOffer::default()
            },
            by: Unlinker::Owner(self.session_id(now)),
            event: self.event(AuditKind::IdentityUnlinked, now),
            mail: None,
            now,
        };
        self.unlink_identity(unlink).await.unwrap()
    }

    /// Makes the record of a sign-in that begins at Google, valid for ten minutes.
    pub(super) fn flow(&self, linker: Option<Linker>, now: Timestamp) -> NewFlow {
        NewFlow {
            state: self.token(),
            provider: provider("google"),
            code_challenge: TokenHash::of(b"verifier"),
            redirect_to: APP.to_owned(),
            sealed: vec![7; 80],
            linker,
            created_at: now,
            expires_at: now.plus(std::time::Duration::from_secs(10 * MINUTE.unsigned_abs())),
        }
    }

    /// Makes the one-time code that the service issues to the app after a sign-in at a provider, valid for
    /// one minute.
    pub(super) fn oauth_code(
        &self,
        identity: VerifiedIdentity,
        linker: Option<Linker>,
        now: Timestamp,
    ) -> NewOAuthCode {
        NewOAuthCode {
            code: self.token(),
            code_challenge: TokenHash::of(b"verifier"),
            identity,
            linker,
            rules: OPEN,
            created_at: now,
            expires_at: now.plus(std::time::Duration::from_mins(1)),
        }
    }

    /// Exchanges the app's one-time code, with a PKCE verifier.
    pub(super) async fn present_code(
        &self,
        code: TokenHash,
        verifier: &str,
        caller: Option<Linker>,
        now: Timestamp,
    ) -> TakenCode {
        let code_challenge = TokenHash::of(verifier.as_bytes());
        self.take_oauth_code(PresentedCode { code, code_challenge, caller, now }).await.unwrap()
    }
}

/// Stored configuration of a provider.
pub(super) fn configured(key: &str, now: Timestamp) -> StoredProvider {
    StoredProvider {
        key: provider(key),
        kind: ProviderKind::Custom,
        config: object(json!({ "clientId": "latchkey", "scopes": ["openid", "é"] })),
        sealed: vec![1, 0, 255],
        created_at: now,
        updated_at: now,
    }
}
