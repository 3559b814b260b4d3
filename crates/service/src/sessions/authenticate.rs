//! Authentication of requests by access tokens.

use std::sync::Arc;

use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_store::LiveSession;

use super::Sessions;
use super::fresh::Presented;
use crate::error::{Error, Result};
use crate::refusal::AUTH_UNAUTHORIZED;
use crate::tokens::VerifiedToken;
use crate::tokens::signing_keys::KeySet;

/// An authenticated caller. Contains only ids, so the user's row need not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    pub user_id: UserId,
    pub session_id: SessionId,
    /// The `exp` of the access token.
    pub token_expires_at: Timestamp,
}

impl Caller {
    pub(super) fn of(token: &VerifiedToken) -> Self {
        Self { user_id: token.user_id, session_id: token.session_id, token_expires_at: token.expires_at() }
    }
}

/// User and session in a valid access token. Whether the session is live is not checked yet: the operation that uses
/// this value checks it, or [`Sessions::confirm`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedCaller(pub(crate) Caller);

impl Sessions {
    /// Authenticates a bearer: the token must be valid and its session live. The database is read each time, so that
    /// sign-out, ban and deletion take effect at the next request.
    pub async fn authenticate(&self, bearer: Option<&str>) -> Result<Caller> {
        let named = self.named_caller(bearer).await?;
        self.confirm(named).await
    }

    /// Verifies the token alone. The caller of this function must check that the session is live, in its own store
    /// operation or by [`Sessions::confirm`].
    pub async fn named_caller(&self, bearer: Option<&str>) -> Result<NamedCaller> {
        let token = self.good_token(bearer, self.kernel.now()).await?;
        Ok(NamedCaller(Caller::of(&token)))
    }

    /// Checks that the session is live; fails with [`AUTH_UNAUTHORIZED`] otherwise.
    pub async fn confirm(&self, NamedCaller(caller): NamedCaller) -> Result<Caller> {
        let owner = self.kernel.store.find_session_owner(caller.session_id, self.kernel.now()).await?;
        if owner == Some(caller.user_id) { Ok(caller) } else { Err(Error::Refused(&AUTH_UNAUTHORIZED)) }
    }

    /// Authenticates a bearer like [`Self::authenticate`]; returns session and user, and the expiry of the token.
    pub async fn current_session(&self, bearer: Option<&str>) -> Result<(LiveSession, Timestamp)> {
        let Presented { token, live } = self.presented(bearer, self.kernel.now()).await?;
        Ok((live, token.expires_at()))
    }

    /// Verifies an access token, using the cache of verified tokens. Does not check that the session is live.
    pub(crate) async fn good_token(&self, bearer: Option<&str>, now: Timestamp) -> Result<VerifiedToken> {
        self.verified(bearer, |bearer, keys| self.shared.tokens.names.verify_once(bearer, keys, now)).await
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
        // A text that does not have three parts is no JWT, so reloading the keys would not help.
        if bearer.split('.').count() != 3 {
            return Err(Error::Refused(&AUTH_UNAUTHORIZED));
        }
        // Another instance may just have rotated the signing key, so the keys are reloaded once.
        self.shared.sync().await?;
        let newest = self.shared.tokens.keys();
        if Arc::ptr_eq(&known, &newest) {
            return Err(Error::Refused(&AUTH_UNAUTHORIZED));
        }
        verify(bearer, &newest).ok_or(Error::Refused(&AUTH_UNAUTHORIZED))
    }
}
