//! Sessions: their data and authentication methods. Refresh token rotation is in [`crate::refresh`].

use std::time::Duration;

use crate::client::Client;
use crate::factors::FactorName;
use crate::id::id;
use crate::identity::IdentityId;
use crate::new_mail::NewMail;
use crate::page_session::NewPageSession;
use crate::passkey::PasskeyId;
use crate::shape::{Shape, Shaped};
use crate::text::{InvalidText, bounded_text, own_name};
use crate::time::Timestamp;
use crate::tokens::TokenHash;
use crate::user::UserId;
use crate::words;

id! {
    /// Id of a session: `sid` of access tokens.
    SessionId, "The id of the session: `sid` of access tokens."
}

/// Maximum number of live sessions of an account. If one more is opened, the least recently refreshed one ends.
pub const MAX_LIVE_SESSIONS: u32 = 100;

bounded_text!(
    /// Name that the user gave a session: 1 to 64 characters, none of them a control character, without blanks around it.
    SessionName, InvalidText, own_name
);

impl Shaped for SessionName {
    const SENT: Shape = Shape {
        example: "Laptop at home",
        ..FactorName::SENT.about("Name of the session, as its user calls it.")
    };
}

words! {
    /// Kind of a session, by where its tokens are used.
    pub enum SessionKind {
        /// Session of an app, which gets access tokens and refresh tokens.
        App = "app",
        /// Page session ([`crate::page_session`]).
        Pages = "pages",
        /// Session of an operator in the console. Like a page session it has an opaque token and belongs to a browser.
        Console = "console",
    }
}

words! {
    /// Authentication method of a session, the value of the `amr` claim (a value of RFC 8176 where one exists).
    pub enum AuthMethod {
        /// The user entered a password.
        Password = "pwd",
        /// The user entered a one-time code: a mailed code or link token, or a TOTP code.
        OneTimeCode = "otp",
        /// An external identity provider authenticated the user.
        Federated = "fed",
        /// The user signed in with a passkey that may be synced.
        SyncedPasskey = "swk",
        /// The user signed in with a passkey that cannot leave its authenticator.
        HardwarePasskey = "hwk",
        /// The user entered a recovery code.
        RecoveryCode = "rcv",
        /// The user showed two factors: a passkey, or a first and a second factor. Accompanies [`Level::Two`].
        MultiFactor = "mfa",
    }
}

impl AuthMethod {
    /// Returns the method of a passkey, by its backup eligibility.
    #[must_use]
    pub const fn of_passkey(is_backup_eligible: bool) -> Self {
        if is_backup_eligible { Self::SyncedPasskey } else { Self::HardwarePasskey }
    }
}

/// Authentication methods of a sign-in, the first factor first, without duplicates: the `amr` claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthMethods {
    first: AuthMethod,
    further: Vec<AuthMethod>,
}

impl AuthMethods {
    /// Creates the list for a sign-in by one method.
    #[must_use]
    pub const fn of(method: AuthMethod) -> Self {
        Self { first: method, further: Vec::new() }
    }

    /// Adds a method, unless the list contains it.
    #[must_use]
    pub fn with(mut self, method: AuthMethod) -> Self {
        if self.iter().all(|there| there != method) {
            self.further.push(method);
        }
        self
    }

    /// Returns the method of the first factor.
    #[must_use]
    pub const fn first(&self) -> AuthMethod {
        self.first
    }

    /// Returns the authentication level: two if the methods include [`AuthMethod::MultiFactor`].
    #[must_use]
    pub fn level(&self) -> Level {
        if self.iter().any(|method| method == AuthMethod::MultiFactor) { Level::Two } else { Level::One }
    }

    /// Iterates over the methods in order, the first factor first.
    pub fn iter(&self) -> impl Iterator<Item = AuthMethod> + '_ {
        std::iter::once(self.first).chain(self.further.iter().copied())
    }

    /// Returns the values of the `amr` claim, in order.
    #[must_use]
    pub fn to_claim(&self) -> Vec<String> {
        self.iter().map(|method| method.as_str().to_owned()).collect()
    }

    /// Returns the form in the database: the claim's values, separated by spaces.
    #[must_use]
    pub fn to_stored(&self) -> String {
        self.to_claim().join(" ")
    }

    /// Parses the form in the database; `None` for an empty list or an unknown value.
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        let mut methods = text.split(' ').map(AuthMethod::parse);
        let first = Self::of(methods.next()??);
        methods.try_fold(first, |methods, method| Some(methods.with(method?)))
    }
}

/// Authentication level of a session or token: the `aal` claim, absent at level 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The user showed only a first factor.
    One,
    /// The user showed a passkey, or a first and a second factor.
    Two,
}

impl Level {
    /// Returns the number of the level, as in the `aal` claim and in the database.
    #[must_use]
    pub const fn as_number(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }

    /// Parses the number of a level; `None` if unknown.
    #[must_use]
    pub const fn from_number(number: i64) -> Option<Self> {
        match number {
            1 => Some(Self::One),
            2 => Some(Self::Two),
            _ => None,
        }
    }
}

/// Kind of a session to be opened, with what sessions of this kind alone have.
#[derive(Debug, Clone)]
pub enum NewSessionKind {
    /// Session of an app.
    App {
        /// Page session that the app session is opened from; `None` for a sign-in of the app itself.
        opened_from: Option<SessionId>,
    },
    /// Page session.
    Pages(NewPageSession),
    /// Console session of an account whose grant is active. It is not opened for another account.
    Console(NewPageSession),
    /// Console session in which the account activates its grant. It opens nothing before that.
    Activation(NewPageSession),
}

/// A session to be opened. The store adds the user id.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Id of the session: `sid` of access tokens.
    pub id: SessionId,
    /// Kind of the session.
    pub kind: NewSessionKind,
    /// Hash of the family half, which all refresh tokens of the session share. Of a page session: hash of its token.
    pub family: TokenHash,
    /// Hash of the first refresh token. Of a page session: hash of its token.
    pub refresh: TokenHash,
    /// Time at which the session is opened.
    pub created_at: Timestamp,
    /// Time of the sign-in: `auth_time` of access tokens. It is earlier than `created_at` if the session is opened from a
    /// page session.
    pub authenticated_at: Timestamp,
    /// Idle expiry: end of the session unless it is refreshed.
    pub idle_expires_at: Timestamp,
    /// Absolute expiry: end of the session even if it is refreshed.
    pub absolute_expires_at: Timestamp,
    /// Authentication methods of the sign-in.
    pub methods: AuthMethods,
    /// Authentication level of the sign-in.
    pub level: Level,
    /// Identity with which the user signed in, if any. The session ends when the identity is unlinked.
    pub identity: Option<IdentityId>,
    /// Passkey used in the sign-in, if any. The session ends when the passkey is removed.
    pub passkey: Option<PasskeyId>,
    /// Client that opens the session.
    pub client: Client,
    /// Time for which the client network is stored as known to the account; `None` if it is not stored.
    pub known_for: Option<Duration>,
    /// Mail of kind `NewDevice`, written if the session opens on a device or in a network from which the account was not
    /// used within 90 days (module `seen_device`); `None` if security notifications are off.
    pub new_device: Option<NewMail>,
    /// Mail of kind `AccountCleared`, written if the sign-in is the first proof of the mailbox and removes data of the
    /// account; `None` for sign-ins that prove no mailbox.
    pub account_cleared: Option<NewMail>,
}

impl NewSessionKind {
    /// Session of an app that signed the user in itself.
    pub const APP: Self = Self::App { opened_from: None };

    /// Returns the kind alone.
    #[must_use]
    pub const fn word(&self) -> SessionKind {
        match self {
            Self::App { .. } => SessionKind::App,
            Self::Pages(_) => SessionKind::Pages,
            Self::Console(_) | Self::Activation(_) => SessionKind::Console,
        }
    }

    /// Returns what a page session or console session has beside other sessions; `None` for an app session.
    #[must_use]
    pub const fn pages(&self) -> Option<&NewPageSession> {
        match self {
            Self::App { .. } => None,
            Self::Pages(pages) | Self::Console(pages) | Self::Activation(pages) => Some(pages),
        }
    }
}

impl NewSession {
    /// Creates a session opened by these methods, and with their level, that expires after these durations: idle and
    /// absolute.
    #[must_use]
    pub fn new(
        id: SessionId,
        (family, refresh): (TokenHash, TokenHash),
        methods: AuthMethods,
        client: Client,
        created_at: Timestamp,
        (idle, absolute): (Duration, Duration),
    ) -> Self {
        Self {
            id,
            kind: NewSessionKind::APP,
            family,
            refresh,
            created_at,
            authenticated_at: created_at,
            idle_expires_at: created_at.plus(idle),
            absolute_expires_at: created_at.plus(absolute),
            level: methods.level(),
            methods,
            identity: None,
            passkey: None,
            client,
            known_for: None,
            new_device: None,
            account_cleared: None,
        }
    }

    /// Returns the session that is opened for this user.
    #[must_use]
    pub fn opened_for(self, user_id: UserId) -> Session {
        Session {
            id: self.id,
            user_id,
            created_at: self.created_at,
            last_seen_at: self.created_at,
            idle_expires_at: self.idle_expires_at,
            absolute_expires_at: self.absolute_expires_at,
            methods: self.methods,
            level: self.level,
            authenticated_at: self.authenticated_at,
            client: self.client,
            name: None,
            kind: self.kind.word(),
        }
    }
}

/// A stored session of a user, without its refresh tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Id of the session: `sid` of access tokens.
    pub id: SessionId,
    /// Id of the session's user.
    pub user_id: UserId,
    /// Time at which the session was opened.
    pub created_at: Timestamp,
    /// Time of the last refresh; the time of opening before the first one. Of a page session: of its last use, at most
    /// [`crate::page_session::USE_PRECISION`] too early.
    pub last_seen_at: Timestamp,
    /// Idle expiry: end of the session unless it is refreshed.
    pub idle_expires_at: Timestamp,
    /// Absolute expiry: end of the session even if it is refreshed.
    pub absolute_expires_at: Timestamp,
    /// Authentication methods of the sign-in that opened the session.
    pub methods: AuthMethods,
    /// Authentication level of the sign-in that opened the session. Reauthentication raises the level of an access
    /// token, not of the session; that of a page session it does raise.
    pub level: Level,
    /// Time of the sign-in that opened the session: `auth_time` of access tokens. Of a page session: of the last
    /// reauthentication, if there was one.
    pub authenticated_at: Timestamp,
    /// Client that last refreshed the session; before the first refresh, the one that opened it. Of a page session: the
    /// one that last used it.
    pub client: Client,
    /// Name that the user gave the session; `None` without one.
    pub name: Option<SessionName>,
    /// Kind of the session.
    pub kind: SessionKind,
}

impl Session {
    /// Returns the name under which the session is shown to its user: the one that the user gave it, else "This site"
    /// for a page session and "Operator console" for a console session. `None` for an app session without a name.
    #[must_use]
    pub fn shown_name(&self) -> Option<&str> {
        let own = self.name.as_ref().map(SessionName::as_str);
        own.or(match self.kind {
            SessionKind::App => None,
            SessionKind::Pages => Some("This site"),
            SessionKind::Console => Some("Operator console"),
        })
    }

    /// Returns the earlier of idle and absolute expiry.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        self.idle_expires_at.min(self.absolute_expires_at)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn methods_are_a_list_without_repeats() {
        let methods = AuthMethods::of(AuthMethod::OneTimeCode)
            .with(AuthMethod::OneTimeCode)
            .with(AuthMethod::MultiFactor);
        assert_eq!(methods.to_stored(), "otp mfa");
        assert_eq!(AuthMethods::from_stored("otp mfa").unwrap(), methods);
    }

    #[test]
    fn unknown_methods_are_refused() {
        for text in ["", "pwd ", "sms", "pwd  otp"] {
            assert_eq!(AuthMethods::from_stored(text), None, "{text:?}");
        }
    }
}
