//! Authentication of requests by access tokens and page sessions.

use std::sync::Arc;

use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_store::LiveSession;

use super::Sessions;
use super::credential::{Authentication, Credential};
use super::fresh::Presented;
use crate::error::{Error, Result};
use crate::refusal::AUTH_UNAUTHORIZED;
use crate::tokens::signing_keys::KeySet;

/// An authenticated caller. Contains only ids, so the user's row need not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    pub user_id: UserId,
    pub session_id: SessionId,
}

impl Caller {
    pub(super) const fn of(of: &Authentication) -> Self {
        Self { user_id: of.user_id, session_id: of.session_id }
    }
}

/// User and session in a valid credential. Whether the session is live is not checked yet: the operation that uses this
/// value checks it, or [`Sessions::confirm`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedCaller(pub(crate) Caller);

impl NamedCaller {
    /// Returns the user that the token names.
    #[must_use]
    pub const fn user_id(&self) -> UserId {
        self.0.user_id
    }
}

impl Sessions {
    /// Authenticates a caller: the access token must be valid and its session live. The database is read each time, so
    /// that sign-out, ban and deletion take effect at the next request. A page session was read when the request began.
    pub async fn authenticate(&self, credential: impl Into<Credential<'_>>) -> Result<Caller> {
        match credential.into() {
            Credential::Page(page) => Ok(page.caller()),
            bearer @ Credential::Bearer(_) => {
                let named = self.named_caller(bearer).await?;
                self.confirm(named).await
            }
        }
    }

    /// Verifies the credential alone. The caller of this function must check that the session is live, in its own store
    /// operation or by [`Sessions::confirm`].
    pub async fn named_caller(&self, credential: impl Into<Credential<'_>>) -> Result<NamedCaller> {
        let named = self.verify_credential(credential.into(), self.kernel.now()).await?;
        Ok(NamedCaller(Caller::of(&named)))
    }

    /// Checks that the session is live; fails with [`AUTH_UNAUTHORIZED`] otherwise.
    pub async fn confirm(&self, NamedCaller(caller): NamedCaller) -> Result<Caller> {
        let owner = self.kernel.store.find_session_owner(caller.session_id, self.kernel.now()).await?;
        if owner == Some(caller.user_id) { Ok(caller) } else { Err(Error::Refused(&AUTH_UNAUTHORIZED)) }
    }

    /// Authenticates a bearer like [`Self::authenticate`]; returns session and user, and the expiry of the token.
    pub async fn current_session(&self, bearer: Option<&str>) -> Result<(LiveSession, Timestamp)> {
        let Presented { by, live } = self.presented(bearer.into(), self.kernel.now()).await?;
        Ok((live, by.expires_at))
    }

    /// Verifies a credential: an access token by the cache of verified tokens. Does not check that the session is live.
    pub(crate) async fn verify_credential(
        &self,
        credential: Credential<'_>,
        now: Timestamp,
    ) -> Result<Authentication> {
        match credential {
            Credential::Page(page) => Ok(page.into()),
            Credential::Bearer(bearer) => {
                let names = &self.shared.tokens.names;
                Ok(self.verified(bearer, |bearer, keys| names.verify_once(bearer, keys, now)).await?.into())
            }
        }
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
