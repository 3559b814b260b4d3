//! Opening a session, or a challenge for a second factor: the rows for the store, and the tokens for the client.

use std::time::Duration;

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::challenge::{ChallengeId, ChallengeKind};
use latchkey_domain::client::{Client, ClientType};
use latchkey_domain::ids::SessionId;
use latchkey_domain::session::{AuthMethod, AuthMethods, Level, NewSession, Session};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::RefreshToken;
use latchkey_domain::user::User;

use latchkey_store::{Entered, Entry, NewChallenge};

use super::Sessions;
use crate::error::Result;
use crate::tokens::access_tokens::AccessToken;

/// A session that was just opened or refreshed, with its tokens.
pub struct SignedIn {
    pub user: User,
    pub access: AccessToken,
    pub refresh: RefreshToken,
    pub csrf_token: String,
    /// Time at which the session ends unless it is refreshed before. The refresh cookie expires at the same time.
    pub session_expires_at: Timestamp,
}

/// The client of a sign-in, with its client type.
#[derive(Debug, Clone)]
pub struct SignInClient {
    pub client: Client,
    /// Client type of the request. It decides whether the refresh token travels in the cookie or in the body. A
    /// challenge stores it for the answer.
    pub client_type: ClientType,
}

/// The outcome of a sign-in with a correct first factor.
pub enum Entrance {
    /// A session was opened.
    SignedIn(Box<SignedIn>),
    /// No session was opened yet. The challenge asks for a second factor first.
    Challenged(Challenge),
}

/// A challenge that was just opened. It asks for a second factor.
pub struct Challenge {
    pub id: ChallengeId,
    /// Kinds of answers that the challenge accepts, strongest first.
    pub kinds: Vec<ChallengeKind>,
    pub expires_at: Timestamp,
}

/// A session to be stored, with its refresh token in plain text.
pub(crate) struct SessionDraft {
    pub(crate) session: NewSession,
    pub(crate) refresh: RefreshToken,
}

/// A session or challenge to be stored, with the refresh token and the challenge's id in plain text.
pub(crate) struct EntryDraft {
    pub(crate) entry: Entry,
    pub(crate) refresh: RefreshToken,
    pub(crate) challenge: ChallengeId,
}

impl Sessions {
    /// Creates a session without a user. The store operation that opens it adds the user.
    pub(crate) fn draft_session(
        &self,
        methods: AuthMethods,
        level: Level,
        client: &Client,
        now: Timestamp,
    ) -> Result<SessionDraft> {
        let refresh = RefreshToken::new(self.kernel.entropy.bytes(), self.kernel.entropy.bytes());
        let id = SessionId::new(now, self.kernel.id_bytes(now));
        let hashes = (refresh.family_hash(), refresh.hash());
        let lifetimes = (self.lifetimes.refresh_idle, self.lifetimes.refresh_absolute);
        let session = NewSession {
            level,
            known_for: self.known_client_age(),
            new_device: self.kernel.notification(Some(client), None, now)?,
            ..NewSession::new(id, hashes, methods, client.clone(), now, lifetimes)
        };
        Ok(SessionDraft { session, refresh })
    }

    /// Creates a session with one factor (level 1), and the challenge that the store writes instead if a second factor
    /// is needed.
    pub(crate) fn draft_entry(
        &self,
        method: AuthMethod,
        client: &SignInClient,
        now: Timestamp,
    ) -> Result<EntryDraft> {
        self.draft_entry_of(AuthMethods::of(method), Level::One, client, now)
    }

    /// Creates a session with a passkey (level 2), and a challenge. The store writes the challenge instead of
    /// the session only if the owner has deleted the account and must agree to restore it.
    pub(crate) fn draft_passkey_entry(
        &self,
        passkey: AuthMethod,
        client: &SignInClient,
        now: Timestamp,
    ) -> Result<EntryDraft> {
        let methods = AuthMethods::of(passkey).with(AuthMethod::MultiFactor);
        self.draft_entry_of(methods, Level::Two, client, now)
    }

    /// Creates a session with these authentication methods, and the challenge that the store writes instead
    /// if a second factor is needed.
    pub(super) fn draft_entry_of(
        &self,
        methods: AuthMethods,
        level: Level,
        client: &SignInClient,
        now: Timestamp,
    ) -> Result<EntryDraft> {
        let SessionDraft { session, refresh } = self.draft_session(methods, level, &client.client, now)?;
        let (id, challenge) = self.draft_challenge(client, now);
        let rules = self.factor_rules();
        Ok(EntryDraft { entry: Entry { session, challenge, rules }, refresh, challenge: id })
    }

    /// Creates the id of a challenge for the client, and the challenge to be stored, which contains only the
    /// hash of the id.
    pub(crate) fn draft_challenge(
        &self,
        client: &SignInClient,
        now: Timestamp,
    ) -> (ChallengeId, NewChallenge) {
        let id = ChallengeId::new(self.kernel.entropy.bytes());
        let challenge = NewChallenge {
            hash: id.hash(),
            client_type: client.client_type,
            expires_at: now.plus(self.lifetimes.challenge),
            event: self.kernel.event(AuditKind::SignInChallenged, Actor::User, Some(&client.client), now),
        };
        (id, challenge)
    }

    /// Converts what the store has written, a session or a challenge, into the outcome for the client. A session gets
    /// its tokens.
    pub(crate) fn entered(&self, entered: Entered, draft: EntryDraft, now: Timestamp) -> Result<Entrance> {
        let EntryDraft { entry, refresh, challenge: id } = draft;
        Ok(match entered {
            Entered::Session(user) => {
                let draft = SessionDraft { session: entry.session, refresh };
                Entrance::SignedIn(Box::new(self.signed_in(*user, draft, now)?))
            }
            Entered::Challenge(kinds) => {
                Entrance::Challenged(Challenge { id, kinds, expires_at: entry.challenge.expires_at })
            }
        })
    }

    /// Issues an access token for the session that the store opened from `draft`, and returns all its tokens.
    pub(crate) fn signed_in(&self, user: User, draft: SessionDraft, now: Timestamp) -> Result<SignedIn> {
        let session = draft.session.opened_for(user.id);
        self.with_tokens(user, &session, draft.refresh, now)
    }

    /// Issues an access token for a live session, and returns it with the refresh token and the CSRF token.
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

    /// Issues an access token for a live session.
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
        // `exp` counts whole seconds, so the returned time is rounded in the same way.
        Ok(AccessToken { token, expires_at: Timestamp::from_millis(expires_at.as_seconds() * 1000) })
    }

    /// Returns the time for which a client address counts as known to an account after a sign-in from it;
    /// `None` if rate limits are switched off.
    pub(crate) fn known_client_age(&self) -> Option<Duration> {
        self.kernel.limits.is_enabled().then_some(self.limits.known_client)
    }
}
