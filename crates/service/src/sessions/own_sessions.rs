//! Own sessions: signOut, list, end.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::ids::SessionId;
use latchkey_domain::session::Session;
use latchkey_store::EndedSession;

use super::Sessions;
use super::authenticate::Caller;
use super::refresh::Presented;
use crate::error::{Error, Result};
use crate::refusal::{AUTH_UNAUTHORIZED, SESSION_NOT_FOUND};

/// The session that a sign-out ends.
pub enum SignOut<'a> {
    /// The session of a bearer.
    Bearer(&'a str),
    /// The session of a refresh token.
    Refresh(Presented),
    /// Nothing was sent.
    Nothing,
}

impl Sessions {
    /// Ends the session on the server. A session that is over already, a stale token, or none is no error; a good
    /// cookie without its CSRF token is.
    pub async fn sign_out(&self, what: SignOut<'_>, client: &Client) -> Result<()> {
        let now = self.kernel.now();
        let ended = match what {
            SignOut::Nothing => return Ok(()),
            SignOut::Bearer(bearer) => match self.authenticate(Some(bearer)).await {
                Ok(caller) => EndedSession::Own(caller.user_id, caller.session_id),
                Err(Error::Refused(&AUTH_UNAUTHORIZED)) => return Ok(()),
                Err(error) => return Err(error),
            },
            SignOut::Refresh(presented) => match self.accept_channel(presented, now).await {
                Ok(token) => EndedSession::OfRefreshToken {
                    family: token.family_hash(),
                    presented: token.hash(),
                    grace: self.lifetimes.refresh_grace,
                },
                Err(Error::Refused(&AUTH_UNAUTHORIZED)) => return Ok(()),
                Err(error) => return Err(error),
            },
        };
        let event = self.kernel.event(AuditKind::SignedOut, Actor::User, Some(client), now);
        self.kernel.store.end_sessions(ended, event, now).await?;
        Ok(())
    }

    /// The living sessions of the caller.
    pub async fn list(&self, caller: Caller) -> Result<Vec<Session>> {
        Ok(self.kernel.store.list_sessions(caller.user_id, self.kernel.now()).await?)
    }

    /// Ends one session of the caller.
    pub async fn end(&self, caller: Caller, id: SessionId, client: &Client) -> Result<()> {
        let now = self.kernel.now();
        let event = self.kernel.event(AuditKind::SignedOut, Actor::User, Some(client), now);
        let ended = self.kernel.store.end_sessions(EndedSession::Own(caller.user_id, id), event, now).await?;
        if ended == 0 { Err(Error::Refused(&SESSION_NOT_FOUND)) } else { Ok(()) }
    }

    /// Ends all sessions of the caller but the one that calls; answers how many.
    pub async fn end_others(&self, caller: Caller, client: &Client) -> Result<u64> {
        let now = self.kernel.now();
        let event = self.kernel.event(AuditKind::SignedOut, Actor::User, Some(client), now);
        let others = EndedSession::OthersOf(caller.user_id, caller.session_id);
        Ok(self.kernel.store.end_sessions(others, event, now).await?)
    }
}
