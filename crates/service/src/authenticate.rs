//! Who calls: bearers of user tokens, of the anonymous key, of an admin key.

use std::sync::Arc;

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::LiveSession;

use crate::claims::Claims;
use crate::error::{Error, Result};
use crate::refusal::{ADMIN_UNAUTHORIZED, ANON_KEY_REQUIRED, AUTH_UNAUTHORIZED, FORBIDDEN};
use crate::service::Service;
use crate::signing_keys::KeySet;
use crate::verified_tokens::VerifiedToken;

/// A caller with a good user token: what calls need that load nothing more of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The user.
    pub user_id: UserId,
    /// The session of the token.
    pub session_id: SessionId,
    /// When the token stops being good.
    pub token_expires_at: Timestamp,
}

/// Whom a good user token names. Its session was not looked up: only an operation that does so takes it, or
/// [`Service::confirm`], which makes a [`Caller`] of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedCaller(pub(crate) Caller);

impl Service {
    /// A good token of a session that lives. Sign-out, ban and deletion act on the very next call.
    pub async fn authenticate(&self, bearer: Option<&str>) -> Result<Caller> {
        let named = self.named_caller(bearer).await?;
        self.confirm(named).await
    }

    /// Whom a good token names. Whether its session lives is left to what the call does next, in the same trip to the
    /// store, or to [`Service::confirm`].
    pub async fn named_caller(&self, bearer: Option<&str>) -> Result<NamedCaller> {
        let token = self.good_token(bearer, self.clock.now()).await?;
        let VerifiedToken { user_id, session_id, .. } = token;
        Ok(NamedCaller(Caller { user_id, session_id, token_expires_at: token.expires_at() }))
    }

    /// The caller, if the session lives; else [`AUTH_UNAUTHORIZED`].
    pub async fn confirm(&self, NamedCaller(caller): NamedCaller) -> Result<Caller> {
        let owner = self.store.find_session_owner(caller.session_id, self.clock.now()).await?;
        if owner == Some(caller.user_id) { Ok(caller) } else { Err(Error::Refused(&AUTH_UNAUTHORIZED)) }
    }

    /// The same, with session and user.
    pub async fn current_session(&self, bearer: Option<&str>) -> Result<(LiveSession, Timestamp)> {
        let now = self.clock.now();
        let token = self.good_token(bearer, now).await?;
        let live = self.store.find_live_session(token.session_id, now).await?.ok_or(&AUTH_UNAUTHORIZED)?;
        if live.user.id != token.user_id {
            return Err(Error::Refused(&AUTH_UNAUTHORIZED));
        }
        Ok((live, token.expires_at()))
    }

    /// Whether the operator demands the anonymous key for public calls.
    #[must_use]
    pub fn wants_anon_key(&self) -> bool {
        self.config.require_anon_key
    }

    /// Whether a public call may be made: always, unless the operator demands the anonymous key. A token of this
    /// service, stale or not, shows as much: its bearer once signed in here.
    pub async fn check_anon_key(&self, bearer: Option<&str>) -> Result<()> {
        if !self.config.require_anon_key {
            return Ok(());
        }
        let bearer = bearer.ok_or(&ANON_KEY_REQUIRED)?;
        if self.is_anon_key(bearer) {
            return Ok(());
        }
        // A time before all others: no token has ended then.
        self.good_token(Some(bearer), Timestamp::default()).await.map(|_| ())
    }

    /// Whether this is the anonymous key.
    pub(crate) fn is_anon_key(&self, bearer: &str) -> bool {
        self.config.anon_key.is_some_and(|key| key == TokenHash::of(bearer.as_bytes()))
    }

    /// Whether this is exactly an admin key, in constant time.
    #[must_use]
    pub fn is_admin_key(&self, key: &str) -> bool {
        let hash = TokenHash::of(key.as_bytes());
        // Every key is compared, so that time does not tell which of them it was.
        self.config.admin_keys.iter().filter(|admin| **admin == hash).count() > 0
    }

    /// Lets a good admin key pass. A refusal is counted by address and written to the audit.
    pub async fn authorize_admin(&self, key: Option<&str>, client: &Client) -> Result<()> {
        let Some(key) = key else { return Err(Error::Refused(&ADMIN_UNAUTHORIZED)) };
        if self.is_admin_key(key) {
            return Ok(());
        }
        let now = self.clock.now();
        match self.good_token(Some(key), now).await {
            // A user's token is known, and does not open this.
            Ok(_) => return Err(Error::Refused(&FORBIDDEN)),
            Err(Error::Refused(&AUTH_UNAUTHORIZED)) => {}
            Err(error) => return Err(error),
        }
        self.store.take(&self.limits.admin(client), now).await??;
        let event = self.event(AuditKind::AdminRefused, Actor::Admin, Some(client), now);
        self.store.record_event(event).await?;
        Err(Error::Refused(&ADMIN_UNAUTHORIZED))
    }

    /// A token that is good by itself; whether its session lives is the store's to say.
    pub(crate) async fn good_token(&self, bearer: Option<&str>, now: Timestamp) -> Result<VerifiedToken> {
        self.verified(bearer, |bearer, keys| self.names.verify_once(bearer, keys, now)).await
    }

    /// The same, with all that it says.
    pub(crate) async fn good_claims(&self, bearer: Option<&str>, now: Timestamp) -> Result<Claims> {
        self.verified(bearer, |bearer, keys| self.names.verify(bearer, keys, now)).await
    }

    async fn verified<T>(
        &self,
        bearer: Option<&str>,
        verify: impl Fn(&str, &KeySet) -> Option<T>,
    ) -> Result<T> {
        let bearer = bearer.ok_or(&AUTH_UNAUTHORIZED)?;
        let known = self.signing.load_full();
        if let Some(good) = verify(bearer, &known) {
            return Ok(good);
        }
        // What has not the form of a token is none by any key.
        if bearer.split('.').count() != 3 {
            return Err(Error::Refused(&AUTH_UNAUTHORIZED));
        }
        // The key may have been rotated elsewhere a moment ago; this or another task takes it over.
        self.sync_shared().await?;
        let newest = self.signing.load_full();
        if Arc::ptr_eq(&known, &newest) {
            return Err(Error::Refused(&AUTH_UNAUTHORIZED));
        }
        verify(bearer, &newest).ok_or(Error::Refused(&AUTH_UNAUTHORIZED))
    }
}
