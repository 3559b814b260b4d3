//! Contract for page sessions, beside that of [`crate::Sessions`], which holds for all sessions.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::client::Client;
use latchkey_domain::identity::IdentityId;
use latchkey_domain::ids::{PasskeyId, SessionId, UserId};
use latchkey_domain::locale::Locale;
use latchkey_domain::seen_device::SeenDevice;
use latchkey_domain::session::{AuthMethods, Level};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;

use crate::entry::{Entered, Entry};
use crate::error::StoreResult;
use crate::sessions::LiveSession;

/// A use of a page session, to be stored.
#[derive(Debug, Clone)]
pub struct PageSessionUse {
    /// Id of the session.
    pub id: SessionId,
    /// User of the session.
    pub user_id: UserId,
    /// Time of the use.
    pub at: Timestamp,
    /// New idle expiry of the session.
    pub idle_expires_at: Timestamp,
    /// Client that uses the session.
    pub client: Client,
    /// The client's device and network, if they are to be remembered.
    pub seen: Option<SeenDevice>,
}

/// A live page session as a browser presents it.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPageSession {
    /// The session with its user.
    pub live: LiveSession,
    /// Language of the user; `None` if the account has none.
    pub locale: Option<Locale>,
}

/// Reauthentication of a page session. It changes the session itself, so the session gets a new token.
#[derive(Debug, Clone)]
pub struct PageSessionStepUp {
    /// Hash of the new token.
    pub token: TokenHash,
    /// Authentication methods of the sign-in and of the reauthentication.
    pub methods: AuthMethods,
    /// New level.
    pub level: Level,
    /// Time of the reauthentication, the new time of sign-in.
    pub at: Timestamp,
}

/// A code by which an app gets a session of its own from a page session.
#[derive(Debug, Clone)]
pub struct NewPageCode {
    /// Hash of the code.
    pub code: TokenHash,
    /// PKCE code challenge of the app (RFC 7636).
    pub code_challenge: TokenHash,
    /// Id of the page session.
    pub session_id: SessionId,
    /// Redirect target that the code is sent to.
    pub redirect_to: String,
    /// Time at which the code is issued.
    pub created_at: Timestamp,
    /// Expiry of the code.
    pub expires_at: Timestamp,
}

/// A live code with its live page session.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPageCode {
    /// The page session, with its user.
    pub page: LiveSession,
    /// Identity with which the user signed in on the pages, if any.
    pub identity: Option<IdentityId>,
    /// Passkey that was shown on the pages, if any.
    pub passkey: Option<PasskeyId>,
    /// Redirect target that the code was sent to.
    pub redirect_to: String,
}

/// Exchange of a code for an app session.
#[derive(Debug, Clone)]
pub struct OpenFromPage {
    /// Id of the page session's user.
    pub user_id: UserId,
    /// Id of the page session.
    pub page: SessionId,
    /// Hash of the presented code.
    pub code: TokenHash,
    /// PKCE code challenge computed from the presented verifier.
    pub code_challenge: TokenHash,
    /// App session to open, with the sign-in of the page session.
    pub entry: Entry,
    /// Audit event of the sign-in. The store fills in user id and session id.
    pub event: AuditEvent,
    /// Audit event of a refused exchange. The store fills in the user id.
    pub refused: AuditEvent,
}

/// Outcome of [`PageSessions::open_from_page`].
#[derive(Debug, Clone, PartialEq)]
pub enum OpenedFromPage {
    /// The app session was opened. The code is used up.
    Entered(Entered),
    /// The code was used or has expired, the verifier is wrong, or the page session has ended or lacks the second factor
    /// that is now required. The code is used up.
    Refused,
}

/// Page sessions.
#[async_trait]
pub trait PageSessions {
    /// Finds the page session of a token that is live at `now`, with its user. `None` as well if it was opened in a
    /// browser with another secret than the one whose hash is `browser`.
    async fn find_page_session(
        &self,
        token: TokenHash,
        browser: TokenHash,
        now: Timestamp,
    ) -> StoreResult<Option<FoundPageSession>>;

    /// Stores a use of a live page session, unless a later one is stored, and the device of the client.
    async fn store_page_session_use(&self, used: PageSessionUse) -> StoreResult<()>;

    /// Stores a code for an app. Returns false if the page session is not live.
    async fn save_page_code(&self, code: NewPageCode) -> StoreResult<bool>;

    /// Finds a code that is live at `now`, and whose page session is. Does not use it up.
    async fn find_page_code(&self, code: TokenHash, now: Timestamp) -> StoreResult<Option<FoundPageCode>>;

    /// Uses up a code, and opens the app session if the verifier is right and the page session is live. Of concurrent
    /// callers only one gets a session.
    async fn open_from_page(&self, open: OpenFromPage) -> StoreResult<OpenedFromPage>;
}
