//! Test data for the token tests and for the benchmark `tokens`: a user and a session.

use std::time::Duration;

use latchkey_domain::client::{Client, ClientAddress};
use latchkey_domain::email::Email;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::session::{AuthMethod, AuthMethods, NewSession, Session};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::{AppMetadata, User};

/// Time of all test data: 2026-03-01 12:00 UTC, in milliseconds since the Unix epoch.
pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_772_366_400_000);

/// Builds a verified user with a password, and a session of that user that never ends.
pub(crate) fn user_and_session() -> (User, Session) {
    let user = User {
        id: UserId::new(NOW, [1; 10]),
        email: Email::parse("ada@example.org").unwrap(),
        email_verified: true,
        has_password: true,
        identities: Vec::new(),
        passkeys: Vec::new(),
        banned_at: None,
        two_step_at: None,
        deletes_at: None,
        is_pending: false,
        is_contested: false,
        metadata: AppMetadata::default(),
        created_at: NOW,
        updated_at: NOW,
        last_sign_in_at: None,
        profile: None,
    };
    let hash = TokenHash::of(b"token");
    let client = Client::new(ClientAddress::new([127, 0, 0, 1].into()), None);
    let methods = AuthMethods::of(AuthMethod::Password);
    let id = SessionId::new(NOW, [2; 10]);
    let never = (Duration::MAX, Duration::MAX);
    let session = NewSession::new(id, (hash, hash), methods, client, NOW, never).opened_for(user.id);
    (user, session)
}
