//! Sign-out, and listing and ending one's own sessions.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::ids::SessionId;
use latchkey_domain::session::{Session, SessionName};
use latchkey_store::EndedSession;

use super::Sessions;
use super::authenticate::Caller;
use super::refresh::PresentedToken;
use crate::error::{Error, Result};
use crate::refusal::{AUTH_UNAUTHORIZED, SESSION_NOT_FOUND};

/// The credential that determines which session to sign out.
pub enum SignOut<'a> {
    /// The access token of the request.
    Bearer(&'a str),
    Refresh(PresentedToken),
    /// The request has no credential.
    Nothing,
}

impl Sessions {
    /// Ends the session that the credential selects. An ended session, an expired token or no credential is not an
    /// error. A valid refresh cookie without its CSRF token is refused.
    pub async fn sign_out(&self, what: SignOut<'_>, client: &Client) -> Result<()> {
        let now = self.kernel.now();
        let ended = match what {
            SignOut::Nothing => return Ok(()),
            SignOut::Bearer(bearer) => match self.authenticate(Some(bearer)).await {
                Ok(caller) => EndedSession::Own(caller.user_id, caller.session_id),
                Err(Error::Refused(&AUTH_UNAUTHORIZED)) => return Ok(()),
                Err(error) => return Err(error),
            },
            SignOut::Refresh(presented) => match self.accept(&presented, now).await {
                Ok(presented) => EndedSession::OfRefreshToken(presented),
                Err(Error::Refused(&AUTH_UNAUTHORIZED)) => return Ok(()),
                Err(error) => return Err(error),
            },
        };
        let event = self.kernel.event(AuditKind::SignedOut, Actor::User, Some(client), now);
        self.kernel.store.end_sessions(ended, event, now).await?;
        Ok(())
    }

    /// Lists the caller's live sessions.
    pub async fn list(&self, caller: Caller) -> Result<Vec<Session>> {
        Ok(self.kernel.store.list_sessions(caller.user_id, self.kernel.now()).await?)
    }

    /// Sets the name of one of the caller's live sessions; `None` removes it.
    pub async fn rename(&self, caller: Caller, id: SessionId, name: Option<SessionName>) -> Result<Session> {
        let renamed = self.kernel.store.rename_session(caller.user_id, id, name, self.kernel.now()).await?;
        renamed.ok_or(Error::Refused(&SESSION_NOT_FOUND))
    }

    pub async fn end(&self, caller: Caller, id: SessionId, client: &Client) -> Result<()> {
        let now = self.kernel.now();
        let event = self.kernel.event(AuditKind::SignedOut, Actor::User, Some(client), now);
        let ended = self.kernel.store.end_sessions(EndedSession::Own(caller.user_id, id), event, now).await?;
        if ended == 0 { Err(Error::Refused(&SESSION_NOT_FOUND)) } else { Ok(()) }
    }

    /// Ends all sessions of the caller except that of the request; returns the number of ended sessions.
    pub async fn end_others(&self, caller: Caller, client: &Client) -> Result<u64> {
        let now = self.kernel.now();
        let event = self.kernel.event(AuditKind::SignedOut, Actor::User, Some(client), now);
        let others = EndedSession::OthersOf(caller.user_id, caller.session_id);
        Ok(self.kernel.store.end_sessions(others, event, now).await?)
    }
}
