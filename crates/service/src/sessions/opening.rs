//! Opening a session: its draft for the store, and its tokens for the client.

use std::time::Duration;

use latchkey_domain::client::Client;
use latchkey_domain::ids::SessionId;
use latchkey_domain::session::{AuthMethod, NewSession, Session};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::RefreshToken;
use latchkey_domain::user::User;
use latchkey_store::RefreshCookie;

use super::Sessions;
use crate::error::Result;
use crate::tokens::access_tokens::AccessToken;

/// A session that was just opened or refreshed, with its tokens.
pub struct SignedIn {
    /// The user.
    pub user: User,
    /// The access token.
    pub access: AccessToken,
    /// The refresh token.
    pub refresh: RefreshToken,
    /// The CSRF token of the session.
    pub csrf_token: String,
    /// End of the session without another refresh: the lifetime of the refresh cookie.
    pub session_expires_at: Timestamp,
}

/// A session about to be opened, and the token that will belong to it.
pub(crate) struct SessionDraft {
    pub(crate) session: NewSession,
    pub(crate) refresh: RefreshToken,
}

impl Sessions {
    /// A session for whoever the store will find.
    pub(crate) fn draft_session(&self, method: AuthMethod, client: &Client, now: Timestamp) -> SessionDraft {
        let refresh = RefreshToken::new(self.kernel.entropy.bytes(), self.kernel.entropy.bytes());
        let session = NewSession {
            id: SessionId::new(now, self.kernel.id_bytes(now)),
            family: refresh.family_hash(),
            refresh: refresh.hash(),
            created_at: now,
            idle_expires_at: now.plus(self.lifetimes.refresh_idle),
            absolute_expires_at: now.plus(self.lifetimes.refresh_absolute),
            method,
            identity: None,
            client: client.clone(),
            known_for: self.known_client_age(),
        };
        SessionDraft { session, refresh }
    }

    /// The tokens of a session that was opened from its draft.
    pub(crate) fn signed_in(&self, user: User, draft: SessionDraft, now: Timestamp) -> Result<SignedIn> {
        let SessionDraft { session: new, refresh } = draft;
        let session = Session {
            id: new.id,
            user_id: user.id,
            created_at: new.created_at,
            last_seen_at: new.created_at,
            idle_expires_at: new.idle_expires_at,
            absolute_expires_at: new.absolute_expires_at,
            method: new.method,
            client: new.client,
        };
        self.with_tokens(user, &session, refresh, now)
    }

    /// The tokens of a living session.
    pub(crate) fn with_tokens(
        &self,
        user: User,
        session: &Session,
        refresh: RefreshToken,
        now: Timestamp,
    ) -> Result<SignedIn> {
        let access = self.issue_access_token(&user, session, now)?;
        let csrf_token = self.keys.csrf_token(&refresh.family_hash());
        Ok(SignedIn { user, access, refresh, csrf_token, session_expires_at: session.expires_at() })
    }

    /// A new access token of a living session.
    pub(crate) fn issue_access_token(
        &self,
        user: &User,
        session: &Session,
        now: Timestamp,
    ) -> Result<AccessToken> {
        let expires_at = now.plus(self.lifetimes.access_token).min(session.absolute_expires_at);
        let tokens = &self.shared.tokens;
        let claims = tokens.names.claims(user, session, now, expires_at, self.kernel.entropy.bytes());
        let token = tokens.keys().signing()?.sign(&claims)?;
        // What the token says: whole seconds.
        Ok(AccessToken { token, expires_at: Timestamp::from_millis(expires_at.as_seconds() * 1000) })
    }

    /// Time that a client stays known to an account; `None` if limits are off.
    pub(crate) fn known_client_age(&self) -> Option<Duration> {
        self.kernel.limits.is_enabled().then_some(self.limits.known_client)
    }

    /// The terms on which the refresh cookie of a browser names its session.
    pub(crate) fn refresh_cookie(&self, token: &RefreshToken) -> RefreshCookie {
        RefreshCookie {
            family: token.family_hash(),
            presented: token.hash(),
            grace: self.lifetimes.refresh_grace,
        }
    }
}
