//! Opening a session, or a challenge for a second factor: the rows for the store, and the tokens for the client.

use std::time::Duration;

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::challenge::{ChallengeId, ChallengeKind};
use latchkey_domain::client::{Client, ClientType, OpenedFor};
use latchkey_domain::ids::SessionId;
use latchkey_domain::page_session::PageToken;
use latchkey_domain::session::{
    AuthMethod, AuthMethods, Level, NewSession, NewSessionKind, Session, SessionKind,
};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::{RefreshToken, TokenHash};
use latchkey_domain::user::User;

use latchkey_store::{Entered, Entry, NewChallenge};

use super::Sessions;
use super::console::{ConsoleSignIn, ConsoleSignedIn};
use super::pages::{PageSignIn, PageSignedIn};
use crate::error::{Error, Result};
use crate::tokens::access_tokens::AccessToken;

/// An app session that was just opened or refreshed, with its tokens.
pub struct SignedIn {
    pub user: User,
    /// Decides whether the refresh token travels in the cookie or in the body.
    pub client_type: ClientType,
    pub access: AccessToken,
    pub refresh: RefreshToken,
    pub csrf_token: String,
    /// Time at which the session ends unless it is refreshed before. The refresh cookie expires at the same time.
    pub session_expires_at: Timestamp,
}

/// The client of a sign-in, and the session that it asks for.
#[derive(Debug, Clone)]
pub struct SignInClient {
    pub client: Client,
    pub opens: Opens,
}

/// The session that a sign-in asks for. Its challenge stores which of them, so that the answer opens no other.
#[derive(Debug, Clone)]
pub enum Opens {
    /// An app session.
    App(ClientType),
    /// A page session.
    Pages(PageSignIn),
    /// A console session.
    Console(ConsoleSignIn),
}

impl SignInClient {
    /// Returns the client for a session of the side that a challenge or session names. `None` if the client asks for the
    /// other kind of session. Without a side an app session is meant, with the client type of the request.
    pub(crate) fn for_side(&self, side: Option<OpenedFor>) -> Option<Self> {
        let opens = match (side, &self.opens) {
            (Some(OpenedFor::App(client_type)), Opens::App(_)) => Opens::App(client_type),
            (None, Opens::App(client_type)) => Opens::App(*client_type),
            (Some(OpenedFor::Pages), Opens::Pages(sign_in)) => Opens::Pages(sign_in.clone()),
            (Some(side), Opens::Console(sign_in)) if side == sign_in.side() => {
                Opens::Console(sign_in.clone())
            }
            _ => return None,
        };
        Some(Self { client: self.client.clone(), opens })
    }
}

/// A session that was just opened, with its tokens.
pub enum Opened {
    App(Box<SignedIn>),
    Pages(Box<PageSignedIn>),
    Console(Box<ConsoleSignedIn>),
}

impl Opened {
    /// Returns the app session; fails for another session, which a sign-in of an app cannot open.
    pub fn into_app(self) -> Result<SignedIn> {
        match self {
            Self::App(signed_in) => Ok(*signed_in),
            Self::Pages(_) | Self::Console(_) => {
                Err(Error::internal("a sign-in of an app opened another session"))
            }
        }
    }

    /// Returns the console session; fails for another session, which a sign-in to the console cannot open.
    pub(crate) fn into_console(self) -> Result<ConsoleSignedIn> {
        match self {
            Self::Console(signed_in) => Ok(*signed_in),
            Self::App(_) | Self::Pages(_) => {
                Err(Error::internal("a sign-in to the console opened another session"))
            }
        }
    }
}

/// The outcome of a sign-in with a correct first factor.
pub enum Entrance {
    /// A session was opened.
    SignedIn(Opened),
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

/// The token of a session to be stored, in plain text.
pub(crate) enum DraftToken {
    App(RefreshToken, ClientType),
    Pages(PageToken),
    Console(PageToken),
}

/// A session to be stored, with its token in plain text.
pub(crate) struct SessionDraft {
    pub(crate) session: NewSession,
    pub(crate) token: DraftToken,
}

/// A session or challenge to be stored, with the session's token and the challenge's id in plain text.
pub(crate) struct EntryDraft {
    pub(crate) entry: Entry,
    pub(crate) token: DraftToken,
    pub(crate) challenge: ChallengeId,
}

impl DraftToken {
    /// Returns the hashes by which the session is stored: of the family half and of the whole token.
    fn hashes(&self) -> (TokenHash, TokenHash) {
        match self {
            Self::App(token, _) => (token.family_hash(), token.hash()),
            Self::Pages(token) | Self::Console(token) => (token.hash(), token.hash()),
        }
    }
}

impl Sessions {
    /// Creates a session without a user. The store operation that opens it adds the user.
    pub(crate) fn draft_session(
        &self,
        methods: AuthMethods,
        level: Level,
        from: &SignInClient,
        now: Timestamp,
    ) -> Result<SessionDraft> {
        let SignInClient { client, opens } = from;
        let (kind, idle, absolute, token) = match opens {
            Opens::App(client_type) => {
                let (idle, absolute) = (self.lifetimes.refresh_idle, self.lifetimes.refresh_absolute);
                let token = RefreshToken::new(self.kernel.entropy.bytes(), self.kernel.entropy.bytes());
                (NewSessionKind::APP, idle, absolute, DraftToken::App(token, *client_type))
            }
            Opens::Pages(sign_in) => {
                let (pages, idle, absolute) = self.draft_page_session(sign_in, client, now);
                let token = PageToken::new(self.kernel.entropy.bytes());
                (NewSessionKind::Pages(pages), idle, absolute, DraftToken::Pages(token))
            }
            Opens::Console(ConsoleSignIn { browser, replaces, activation }) => {
                let (idle, absolute) = (self.lifetimes.console_idle, self.lifetimes.console_absolute);
                let of_browser = self.draft_session_of_browser((*browser, *replaces), client, now);
                let kind = match activation {
                    Some(_) => NewSessionKind::Activation(of_browser),
                    None => NewSessionKind::Console(of_browser),
                };
                let token = PageToken::new(self.kernel.entropy.bytes());
                (kind, idle, absolute, DraftToken::Console(token))
            }
        };
        let id = SessionId::new(now, self.kernel.id_bytes(now));
        let session = NewSession {
            kind,
            level,
            known_for: self.known_client_age(),
            new_device: self.kernel.notification(Some(client), None, now)?,
            ..NewSession::new(id, token.hashes(), methods, client.clone(), now, (idle, absolute))
        };
        Ok(SessionDraft { session, token })
    }

    /// Creates a session with one factor (level 1), and the challenge that the store writes instead if a second factor
    /// is needed.
    pub(crate) fn draft_entry(
        &self,
        method: AuthMethod,
        client: &SignInClient,
        now: Timestamp,
    ) -> Result<EntryDraft> {
        let mut draft = self.draft_entry_of(AuthMethods::of(method), Level::One, client, now)?;
        if matches!(method, AuthMethod::OneTimeCode | AuthMethod::Federated) {
            let mail = self.kernel.required_notification(Some(&client.client), None, now)?;
            draft.entry.session.account_cleared = mail;
        }
        Ok(draft)
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
    pub(crate) fn draft_entry_of(
        &self,
        methods: AuthMethods,
        level: Level,
        client: &SignInClient,
        now: Timestamp,
    ) -> Result<EntryDraft> {
        let SessionDraft { session, token } = self.draft_session(methods, level, client, now)?;
        let (id, challenge) = self.draft_challenge(client, now);
        let rules = self.entry_rules(&client.opens);
        Ok(EntryDraft { entry: Entry { session, challenge, rules }, token, challenge: id })
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
            opened_for: client.opens.word(),
            expires_at: now.plus(self.lifetimes.challenge),
            event: self.kernel.event(AuditKind::SignInChallenged, Actor::User, Some(&client.client), now),
        };
        (id, challenge)
    }

    /// Converts what the store has written, a session or a challenge, into the outcome for the client. A session gets
    /// its tokens.
    pub(crate) fn entered(&self, entered: Entered, draft: EntryDraft, now: Timestamp) -> Result<Entrance> {
        let EntryDraft { entry, token, challenge: id } = draft;
        Ok(match entered {
            Entered::Session(user) => {
                let draft = SessionDraft { session: entry.session, token };
                Entrance::SignedIn(self.opened(*user, draft, now)?)
            }
            Entered::Challenge(kinds) => {
                Entrance::Challenged(Challenge { id, kinds, expires_at: entry.challenge.expires_at })
            }
        })
    }

    /// Returns the session that the store opened from `draft`, with its tokens. An app session gets an access token.
    pub(crate) fn opened(&self, user: User, draft: SessionDraft, now: Timestamp) -> Result<Opened> {
        let session = draft.session.opened_for(user.id);
        Ok(match draft.token {
            DraftToken::App(token, client_type) => {
                Opened::App(Box::new(self.with_tokens(user, &session, (token, client_type), now)?))
            }
            DraftToken::Pages(token) => Opened::Pages(Box::new(PageSignedIn { user, session, token })),
            DraftToken::Console(token) => {
                Opened::Console(Box::new(PageSignedIn { user, session, token }.into()))
            }
        })
    }

    /// Issues an access token for a live session, and returns it with the refresh token and the CSRF token.
    pub(crate) fn with_tokens(
        &self,
        user: User,
        session: &Session,
        (refresh, client_type): (RefreshToken, ClientType),
        now: Timestamp,
    ) -> Result<SignedIn> {
        let access = self.issue_access_token(&user, session, now)?;
        let csrf_token = self.keys.csrf_token(&refresh.family_hash());
        let session_expires_at = session.expires_at();
        Ok(SignedIn { user, client_type, access, refresh, csrf_token, session_expires_at })
    }

    /// Issues an access token for a live session; `None` for a page session.
    pub(crate) fn app_access_token(
        &self,
        user: &User,
        session: &Session,
        now: Timestamp,
    ) -> Result<Option<AccessToken>> {
        (session.kind == SessionKind::App).then(|| self.issue_access_token(user, session, now)).transpose()
    }

    /// Issues an access token for a live session; fails for a page session, which never gets one.
    pub(super) fn issue_access_token(
        &self,
        user: &User,
        session: &Session,
        now: Timestamp,
    ) -> Result<AccessToken> {
        if session.kind != SessionKind::App {
            return Err(Error::internal("an access token was asked for a page session"));
        }
        let expires_at = now.plus(self.lifetimes.access_token).min(session.absolute_expires_at);
        let tokens = &self.shared.tokens;
        let claims = tokens.names.claims(user, session, now, expires_at, self.kernel.entropy.bytes());
        let token = tokens.keys().issue(&claims)?;
        // `exp` counts whole seconds, so the returned time is rounded in the same way.
        Ok(AccessToken { token, expires_at: Timestamp::from_millis(expires_at.as_seconds() * 1000) })
    }

    /// Returns the time for which a client address counts as known to an account after a sign-in from it;
    /// `None` if rate limits are switched off.
    pub(crate) fn known_client_age(&self) -> Option<Duration> {
        self.kernel.limits.is_enabled().then_some(self.limits.known_client)
    }
}
