//! The exchange of the code from the callback or from the pages (`page_code`): opens a session, or links the identity to the account of the session
//! that started the flow.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::client::Client;
use latchkey_domain::identity::{ProviderKey, VerifiedIdentity};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::{LinkToken, TokenHash};
use latchkey_domain::user::User;
use latchkey_store::{LinkIdentity, LinkOutcome, Linker, PresentedCode, TakenCode};
use serde_json::Value;

use super::OAuth;
use crate::error::{Error, Result};
use crate::metrics::Method;
use crate::providers::{KnownProvider, kind_of};
use crate::refusal::{
    AUTH_UNAUTHORIZED, IDENTITY_TAKEN, INVALID_OAUTH_CODE, PROVIDER_NOT_CONFIGURED, UNSUPPORTED_PROVIDER,
};
use crate::sessions::{Credential, Entrance, SignInClient};
use crate::tokens::access_tokens::AccessToken;

/// The outcome of exchanging the code from the callback.
pub enum Exchanged {
    Entered(Entrance),
    /// The identity is linked. The session continues with the same refresh token and CSRF token.
    Linked {
        /// The user, including the new identity.
        user: Box<User>,
        /// A new access token of the session; `None` for a page session.
        access: Option<AccessToken>,
    },
}

impl OAuth {
    /// Exchanges a code. A wrong PKCE verifier invalidates the code. A code for sign-in ignores the credential. A
    /// code for linking must come with a credential of the session that started the flow: the token of another
    /// session invalidates the code; with a missing or expired token the error is [`AUTH_UNAUTHORIZED`], and the code
    /// remains valid.
    pub async fn exchange(
        &self,
        code: &str,
        verifier: &str,
        credential: impl Into<Credential<'_>>,
        from: &SignInClient,
    ) -> Result<Exchanged> {
        let (client, now) = (&from.client, self.kernel.now());
        self.take(client, now)?;
        let code = LinkToken::parse(code).ok_or(&INVALID_OAUTH_CODE)?;
        let presented = PresentedCode {
            code: code.hash(),
            code_challenge: TokenHash::of(verifier.as_bytes()),
            caller: self.caller_of(credential.into(), now).await?,
            now,
        };
        match self.kernel.store.take_oauth_code(presented).await? {
            TakenCode::Unknown => {
                let entrance = self.exchange_page_code(&code, presented.code_challenge, from, now).await?;
                Ok(Exchanged::Entered(entrance))
            }
            TakenCode::NeedsSession => Err(Error::Refused(&AUTH_UNAUTHORIZED)),
            TakenCode::Burnt(identity) => self.refuse_code(&identity, "code was burnt", client, now).await,
            TakenCode::Good { identity, linker } => {
                // The provider may have been disabled or removed since the callback.
                let Some(provider) = self.offered_provider(&identity.provider).await? else {
                    return self.refuse_code(&identity, "provider is not offered", client, now).await;
                };
                let Some(linker) = linker else {
                    let entrance = self.sign_in_with(*identity, &provider, None, from, now).await;
                    let entrance = self.kernel.metrics.sign_in(Method::Provider, now, entrance)?;
                    return Ok(Exchanged::Entered(entrance));
                };
                self.link(*identity, &provider, linker, client, now).await
            }
        }
    }

    /// Returns the provider with this key; `None` unless it is configured and enabled.
    async fn offered_provider(&self, key: &ProviderKey) -> Result<Option<KnownProvider>> {
        match self.usable_provider(kind_of(key), key.as_str()).await {
            Ok(provider) => Ok(Some(provider)),
            Err(Error::Refused(&(UNSUPPORTED_PROVIDER | PROVIDER_NOT_CONFIGURED))) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes an audit event about a valid code that may not be exchanged (a possible attack), and returns the refusal.
    async fn refuse_code(
        &self,
        identity: &VerifiedIdentity,
        reason: &str,
        client: &Client,
        now: Timestamp,
    ) -> Result<Exchanged> {
        let mut event = self.provider_sign_in_event(AuditKind::SignInFailed, identity, client, now);
        event.details.insert("reason".to_owned(), Value::from(reason));
        self.kernel.store.record_event(event).await?;
        Err(Error::Refused(&INVALID_OAUTH_CODE))
    }

    /// Returns the user and session that a credential names; `None` for an invalid access token, and for the
    /// anonymous key, which clients may send in place of a user's token. The database is not read, so the
    /// session may have ended.
    async fn caller_of(&self, credential: Credential<'_>, now: Timestamp) -> Result<Option<Linker>> {
        let credential = match credential {
            Credential::Bearer(Some(bearer)) if self.access.is_anon_key(bearer) => Credential::Bearer(None),
            other => other,
        };
        match self.sessions.verify_credential(credential, now).await {
            Ok(by) => Ok(Some(Linker { user_id: by.user_id, session_id: by.session_id })),
            Err(Error::Refused(&AUTH_UNAUTHORIZED)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn link(
        &self,
        identity: VerifiedIdentity,
        provider: &KnownProvider,
        linker: Linker,
        client: &Client,
        now: Timestamp,
    ) -> Result<Exchanged> {
        let event = self.provider_sign_in_event(AuditKind::IdentityLinked, &identity, client, now);
        let Linker { user_id, session_id } = linker;
        let earlier = provider.earlier_identities();
        let mail = self.sessions.identity_notification(Some(client), &identity.provider, now)?;
        let link = LinkIdentity { user_id, session_id, identity, earlier, event, mail, now };
        match self.kernel.store.link_identity(link).await? {
            LinkOutcome::Taken => Err(Error::Refused(&IDENTITY_TAKEN)),
            LinkOutcome::Gone => Err(Error::Refused(&AUTH_UNAUTHORIZED)),
            LinkOutcome::Linked(user) => {
                self.kernel.mails.wake_for_notification();
                let live = self.kernel.store.find_live_session(session_id, now).await?;
                let live = live.ok_or(&AUTH_UNAUTHORIZED)?;
                let access = self.sessions.app_access_token(&live.user, &live.session, now)?;
                Ok(Exchanged::Linked { user, access })
            }
        }
    }
}
