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
use crate::service::Service;

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

impl Service {
    /// A good token of a session that lives. Sign-out, ban and deletion act on the very next call.
    pub async fn authenticate(&self, bearer: Option<&str>) -> Result<Caller> {
        let now = self.clock.now();
        let claims = self.good_claims(bearer, now).await?;
        let owner = self.store.find_session_owner(claims.sid, now).await?;
        if owner != Some(claims.sub) {
            return Err(Error::Unauthorized);
        }
        Ok(Caller { user_id: claims.sub, session_id: claims.sid, token_expires_at: expiry(&claims) })
    }

    /// The same, with session and user.
    pub async fn current_session(&self, bearer: Option<&str>) -> Result<(LiveSession, Timestamp)> {
        let now = self.clock.now();
        let claims = self.good_claims(bearer, now).await?;
        let live = self.store.find_live_session(claims.sid, now).await?.ok_or(Error::Unauthorized)?;
        if live.user.id != claims.sub {
            return Err(Error::Unauthorized);
        }
        Ok((live, expiry(&claims)))
    }

    /// Whether the bearer looks like a token of a user of this service: an admin call with one is forbidden rather
    /// than unauthorized.
    #[must_use]
    pub fn is_user_token(&self, bearer: &str) -> bool {
        self.names.verify(bearer, &self.signing.load(), self.clock.now()).is_some()
    }

    /// Whether a public call may be made: always, unless the operator demands the anonymous key. A token of this
    /// service, stale or not, shows as much: its bearer once signed in here.
    pub fn check_anon_key(&self, bearer: Option<&str>) -> Result<()> {
        if !self.config.require_anon_key {
            return Ok(());
        }
        let bearer = bearer.ok_or(Error::AnonKeyRequired)?;
        let is_anon = self.config.anon_key.is_some_and(|key| key == TokenHash::of(bearer.as_bytes()));
        if is_anon || self.names.verify(bearer, &self.signing.load(), Timestamp::default()).is_some() {
            Ok(())
        } else {
            Err(Error::Unauthorized)
        }
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
        let Some(key) = key else { return Err(Error::AdminUnauthorized) };
        if self.is_admin_key(key) {
            return Ok(());
        }
        if self.is_user_token(key) {
            return Err(Error::Forbidden);
        }
        let now = self.clock.now();
        self.store.take(&self.limits.admin(client), now).await??;
        let event = self.event(AuditKind::AdminRefused, Actor::Admin, Some(client), now);
        self.store.record_event(event).await?;
        Err(Error::AdminUnauthorized)
    }

    /// What a good token of this service says; whether its session lives is not asked.
    pub(crate) async fn good_claims(&self, bearer: Option<&str>, now: Timestamp) -> Result<Claims> {
        let bearer = bearer.ok_or(Error::Unauthorized)?;
        let known = self.signing.load_full();
        if let Some(claims) = self.names.verify(bearer, &known, now) {
            return Ok(claims);
        }
        // The key may have been rotated elsewhere a moment ago; this or another task takes it over.
        self.sync_shared().await?;
        let newest = self.signing.load_full();
        if Arc::ptr_eq(&known, &newest) {
            return Err(Error::Unauthorized);
        }
        self.names.verify(bearer, &newest, now).ok_or(Error::Unauthorized)
    }
}

fn expiry(claims: &Claims) -> Timestamp {
    Timestamp::from_millis(claims.exp.saturating_mul(1000))
}
