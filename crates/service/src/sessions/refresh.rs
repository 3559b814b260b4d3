//! refreshSession: a new access token and the next refresh token.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::{Client, ClientAddress};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::RefreshToken;
use latchkey_store::{RefreshOutcome, RefreshSession};

use super::{Sessions, SignedIn};
use crate::error::{Error, Result};
use crate::refusal::{AUTH_UNAUTHORIZED, INVALID_CSRF_TOKEN};

/// A refresh token and its channel.
pub enum Presented {
    /// In the body, by a client that keeps it itself.
    Body(RefreshToken),
    /// In the cookie, with what came in `X-CSRF-Token`.
    Cookie {
        /// The token.
        token: RefreshToken,
        /// The header.
        csrf_token: Option<String>,
    },
}

impl Sessions {
    /// Rotates a refresh token. The one before yields the same successor for a short grace and a new one later, as long
    /// as the successor was not used; any other replay after the grace ends the session.
    pub async fn refresh(&self, presented: Presented, client: Client) -> Result<SignedIn> {
        let now = self.kernel.now();
        self.kernel.limits.take_here(
            "refresh, per address",
            self.limits.refresh_address,
            client.address,
            now,
        )?;
        let token = self.accept_channel(presented, now).await?;

        let successor = token.successor(self.kernel.entropy.bytes());
        let sealed_successor =
            self.keys.seal_successor(&*self.kernel.entropy, &token, &successor).map_err(Error::internal)?;
        let refresh = RefreshSession {
            family: token.family_hash(),
            presented: token.hash(),
            successor: successor.hash(),
            sealed_successor,
            grace: self.lifetimes.refresh_grace,
            idle_expires_at: now.plus(self.lifetimes.refresh_idle),
            reuse_event: self.kernel.event(AuditKind::RefreshReused, Actor::User, Some(&client), now),
            mail: self.kernel.notification(Some(&client), None, now)?,
            client,
            now,
        };
        match self.kernel.store.refresh_session(refresh).await? {
            RefreshOutcome::Rotated(live) => self.with_tokens(live.user, &live.session, successor, now),
            RefreshOutcome::SameSuccessor { sealed, live } => {
                let same = self.keys.open_successor(&token, &sealed).map_err(Error::internal)?;
                self.with_tokens(live.user, &live.session, same, now)
            }
            RefreshOutcome::Revoked => {
                tracing::warn!("refresh token reuse: the session was ended");
                self.kernel.mails.wake_for_notification();
                Err(Error::Refused(&AUTH_UNAUTHORIZED))
            }
            RefreshOutcome::Refused => Err(Error::Refused(&AUTH_UNAUTHORIZED)),
        }
    }

    /// The CSRF token of a refresh token that is good: the current one, or the one before. Every call counts against the
    /// limit, with a token or without.
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
        let family = token.family_hash();
        let grace = self.lifetimes.refresh_grace;
        if self.kernel.store.is_refresh_token_good(family, token.hash(), grace, now).await? {
            Ok(self.keys.csrf_token(&family))
        } else {
            Err(Error::Refused(&AUTH_UNAUTHORIZED))
        }
    }

    /// A cookie needs its CSRF token. Only a good cookie is told that the token is wrong; a bad one is just bad.
    pub(crate) async fn accept_channel(&self, presented: Presented, now: Timestamp) -> Result<RefreshToken> {
        match presented {
            Presented::Body(token) => Ok(token),
            Presented::Cookie { token, csrf_token } => {
                let family = token.family_hash();
                if csrf_token.is_some_and(|csrf_token| self.keys.is_csrf_token(&family, &csrf_token)) {
                    return Ok(token);
                }
                let grace = self.lifetimes.refresh_grace;
                let is_good =
                    self.kernel.store.is_refresh_token_good(family, token.hash(), grace, now).await?;
                Err(if is_good {
                    Error::Refused(&INVALID_CSRF_TOKEN)
                } else {
                    Error::Refused(&AUTH_UNAUTHORIZED)
                })
            }
        }
    }
}
