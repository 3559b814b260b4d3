//! Authentication of bearers of access tokens.

use std::sync::Arc;

use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_store::LiveSession;

use super::Sessions;
use crate::error::{Error, Result};
use crate::refusal::AUTH_UNAUTHORIZED;
use crate::tokens::VerifiedToken;
use crate::tokens::claims::Claims;
use crate::tokens::signing_keys::KeySet;

/// A caller with a good user token: what calls need that load nothing more of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The user.
    pub user_id: UserId,
    /// The session of the token.
    pub session_id: SessionId,
    /// Expiry of the token.
    pub token_expires_at: Timestamp,
}

/// Whom a good user token names. Its session was not looked up: only an operation that does so takes it, or
/// [`Sessions::confirm`], which makes a [`Caller`] of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedCaller(pub(crate) Caller);

impl Sessions {
    /// A good token of a session that lives. Sign-out, ban and deletion act on the very next call.
    pub async fn authenticate(&self, bearer: Option<&str>) -> Result<Caller> {
        let named = self.named_caller(bearer).await?;
        self.confirm(named).await
    }

    /// Whom a good token names. Whether its session lives is left to what the call does next, in the same trip to the
    /// store, or to [`Sessions::confirm`].
    pub async fn named_caller(&self, bearer: Option<&str>) -> Result<NamedCaller> {
        let token = self.good_token(bearer, self.kernel.now()).await?;
        let VerifiedToken { user_id, session_id, .. } = token;
        Ok(NamedCaller(Caller { user_id, session_id, token_expires_at: token.expires_at() }))
    }

    /// The caller, if the session lives; else [`AUTH_UNAUTHORIZED`].
    pub async fn confirm(&self, NamedCaller(caller): NamedCaller) -> Result<Caller> {
        let owner = self.kernel.store.find_session_owner(caller.session_id, self.kernel.now()).await?;
        if owner == Some(caller.user_id) { Ok(caller) } else { Err(Error::Refused(&AUTH_UNAUTHORIZED)) }
    }

    /// The same, with session and user.
    pub async fn current_session(&self, bearer: Option<&str>) -> Result<(LiveSession, Timestamp)> {
        let now = self.kernel.now();
        let token = self.good_token(bearer, now).await?;
        let live =
            self.kernel.store.find_live_session(token.session_id, now).await?.ok_or(&AUTH_UNAUTHORIZED)?;
        if live.user.id != token.user_id {
            return Err(Error::Refused(&AUTH_UNAUTHORIZED));
        }
        Ok((live, token.expires_at()))
    }

    /// A token that is good by itself; whether its session lives is the store's to say.
    pub(crate) async fn good_token(&self, bearer: Option<&str>, now: Timestamp) -> Result<VerifiedToken> {
        self.verified(bearer, |bearer, keys| self.shared.tokens.names.verify_once(bearer, keys, now)).await
    }

    /// The same, with all that it says.
    pub(crate) async fn good_claims(&self, bearer: Option<&str>, now: Timestamp) -> Result<Claims> {
        self.verified(bearer, |bearer, keys| self.shared.tokens.names.verify(bearer, keys, now)).await
    }

    async fn verified<T>(
        &self,
        bearer: Option<&str>,
        verify: impl Fn(&str, &KeySet) -> Option<T>,
    ) -> Result<T> {
        let bearer = bearer.ok_or(&AUTH_UNAUTHORIZED)?;
        let known = self.shared.tokens.keys();
        if let Some(good) = verify(bearer, &known) {
            return Ok(good);
        }
        // What has not the form of a token is none by any key.
        if bearer.split('.').count() != 3 {
            return Err(Error::Refused(&AUTH_UNAUTHORIZED));
        }
        // The key may have been rotated elsewhere a moment ago; this or another task takes it over.
        self.shared.sync().await?;
        let newest = self.shared.tokens.keys();
        if Arc::ptr_eq(&known, &newest) {
            return Err(Error::Refused(&AUTH_UNAUTHORIZED));
        }
        verify(bearer, &newest).ok_or(Error::Refused(&AUTH_UNAUTHORIZED))
    }
}
