//! The refresh of a session: a new access token and the successor of the refresh token. All code that uses the setting
//! `auth.refresh_grace` is in this file.

use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::challenge::SecondFactorPolicy;
use latchkey_domain::client::{Client, ClientAddress, ClientType};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::RefreshToken;
use latchkey_store::{PresentedRefreshToken, RefreshOutcome, RefreshSession};

use serde_json::Value;

use super::{Sessions, SignedIn};
use crate::error::{Error, Result};
use crate::refusal::{AUTH_UNAUTHORIZED, INVALID_CSRF_TOKEN};

/// A refresh token as a client presents it.
pub struct PresentedToken {
    /// The refresh token: from the cookie of a web client, from the body of other clients.
    pub token: RefreshToken,
    pub client_type: ClientType,
    /// The header `X-CSRF-Token`, which web clients must send.
    pub csrf_token: Option<String>,
}

impl Sessions {
    /// Replaces a refresh token by its successor. If the token was replaced before and its successor was never used,
    /// the response was probably lost. The same successor is then returned again within the grace period, and a new one
    /// after it. If the successor was used, the refresh is refused; after the grace period the session ends too.
    /// [`latchkey_domain::refresh`] has all cases. If the operator requires two-step sign-in, a session of level 1 (one
    /// factor) ends instead of being refreshed.
    pub async fn refresh(&self, presented: PresentedToken, client: Client) -> Result<SignedIn> {
        self.kernel.metrics.refresh(self.rotate_token(presented, client).await)
    }

    async fn rotate_token(&self, presented: PresentedToken, client: Client) -> Result<SignedIn> {
        let now = self.kernel.now();
        self.kernel.limits.take_here(
            "refresh, per address",
            self.limits.refresh_address,
            client.address,
            now,
        )?;
        let accepted = self.accept(&presented, now).await?;

        let (token, client_type) = (presented.token, presented.client_type);
        let successor = token.successor(self.kernel.entropy.bytes());
        let sealed_successor =
            self.keys.seal_successor(&*self.kernel.entropy, &token, &successor).map_err(Error::internal)?;
        let refresh = RefreshSession {
            presented: accepted,
            successor: successor.hash(),
            sealed_successor,
            idle_expires_at: now.plus(self.lifetimes.refresh_idle),
            reuse_event: self.kernel.event(AuditKind::RefreshReused, Actor::User, Some(&client), now),
            mail: self.kernel.notification(Some(&client), None, now)?,
            level_two_required: self.level_two_required(&client, now),
            client,
            now,
        };
        match self.kernel.store.refresh_session(refresh).await? {
            RefreshOutcome::Rotated(live) => {
                self.with_tokens(live.user, &live.session, (successor, client_type), now)
            }
            RefreshOutcome::SameSuccessor { sealed, live } => {
                let same = self.keys.open_successor(&token, &sealed).map_err(Error::internal)?;
                self.with_tokens(live.user, &live.session, (same, client_type), now)
            }
            RefreshOutcome::Revoked => {
                tracing::warn!("refresh token reuse: the session was ended");
                self.kernel.mails.wake_for_notification();
                Err(Error::Refused(&AUTH_UNAUTHORIZED))
            }
            RefreshOutcome::Refused | RefreshOutcome::LevelTooLow => Err(Error::Refused(&AUTH_UNAUTHORIZED)),
        }
    }

    /// Returns the audit event to write if a refresh or reauthentication ends a session of level 1 (one factor); `None`
    /// unless the operator requires two-step sign-in.
    pub(crate) fn level_two_required(&self, client: &Client, now: Timestamp) -> Option<AuditEvent> {
        let is_required = self.kernel.settings.load().values.second_factor == SecondFactorPolicy::Required;
        is_required.then(|| {
            let mut event = self.kernel.event(AuditKind::SignedOut, Actor::System, Some(client), now);
            event.details.insert("reason".to_owned(), Value::from("two-step sign-in is required"));
            event
        })
    }

    /// Returns the CSRF token of a session. Its refresh token must be the current one, or a replaced one for which
    /// [`Self::refresh`] gives a successor. Every call counts against the rate limit, even without a token.
    pub async fn csrf_token(
        &self,
        presented: Option<RefreshToken>,
        address: ClientAddress,
    ) -> Result<String> {
        let now = self.kernel.now();
        self.kernel.limits.take_here(
            "CSRF token of the cookie, per address",
            self.limits.csrf_address,
            address,
            now,
        )?;
        let token = presented.ok_or(&AUTH_UNAUTHORIZED)?;
        if self.is_good(self.presented_token(&token), now).await? {
            Ok(self.keys.csrf_token(&token.family_hash()))
        } else {
            Err(Error::Refused(&AUTH_UNAUTHORIZED))
        }
    }

    /// Checks the CSRF token of a web client, and returns the refresh token for the store. With a wrong CSRF token the
    /// error is 403 if the refresh token is valid, and 401 otherwise.
    pub(super) async fn accept(
        &self,
        PresentedToken { token, client_type, csrf_token }: &PresentedToken,
        now: Timestamp,
    ) -> Result<PresentedRefreshToken> {
        let presented = self.presented_token(token);
        let is_csrf_token = |csrf_token: &String| self.keys.is_csrf_token(&presented.family, csrf_token);
        if !client_type.is_web() || csrf_token.as_ref().is_some_and(is_csrf_token) {
            Ok(presented)
        } else if self.is_good(presented, now).await? {
            Err(Error::Refused(&INVALID_CSRF_TOKEN))
        } else {
            Err(Error::Refused(&AUTH_UNAUTHORIZED))
        }
    }

    /// Returns `true` if a refresh with this token would succeed, with a new or the same successor.
    async fn is_good(&self, presented: PresentedRefreshToken, now: Timestamp) -> Result<bool> {
        Ok(self.kernel.store.is_refresh_token_good(presented, now).await?)
    }

    /// Returns the hashes of a refresh token and the grace period, with which the store finds the session and
    /// decides on the token.
    pub(crate) fn presented_token(&self, token: &RefreshToken) -> PresentedRefreshToken {
        PresentedRefreshToken {
            family: token.family_hash(),
            hash: token.hash(),
            grace: self.lifetimes.refresh_grace,
        }
    }
}
