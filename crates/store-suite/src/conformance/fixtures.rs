//! Fixtures of the cases: a store with generated ids and explicit times. There is no clock and no randomness, so
//! failures are reproducible, except in races. Helpers for store calls are in `acts`.

use std::net::{IpAddr, Ipv4Addr};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::client::{Client, ClientAddress};
use latchkey_domain::codes::{CodeBudget, CodeMac};
use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::guess_limits::known_client;
use latchkey_domain::ids::{EventId, KeyId, LeaseId, MailId, ProfileId, SessionId, UserId};
use latchkey_domain::limits::{LimitKey, Rate, Take};
use latchkey_domain::password::PasswordHash;
use latchkey_domain::profile::{AvatarUrl, Name, NewProfile};
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::AppMetadata;
use serde_json::{Map, Value};

use latchkey_store::{CodeLane, NewAccount, NewMail, Store};

use super::numbered;

/// A minute in seconds.
pub(super) const MINUTE: i64 = 60;
/// An hour in seconds.
pub(super) const HOUR: i64 = 60 * MINUTE;
/// A day in seconds.
pub(super) const DAY: i64 = 24 * HOUR;
/// Grace period of replaced refresh tokens.
pub(super) const GRACE: Duration = Duration::from_millis(GRACE_MS.unsigned_abs());
/// Grace period of replaced refresh tokens, in milliseconds.
pub(super) const GRACE_MS: i64 = 30_000;
/// Numbers of wrong attempts that are allowed per code, per hour and per day.
pub(super) const BUDGET: CodeBudget = CodeBudget { per_code: 5, per_hour: 10, per_day: 30 };
/// Stand-in for the encrypted content of a mail that contains a long code.
pub(super) const LONG: &[u8] = b"a long code";
/// Number of the host from which accounts sign in.
pub(super) const HOME: u8 = 1;
/// Number of a host from which no account signs in.
pub(super) const STRANGER: u8 = 200;
/// Number of concurrent tasks in a race.
pub(super) const RACERS: usize = 20;

/// Store under test, with a source of unique ids.
#[derive(Clone)]
pub(super) struct World {
    store: Arc<dyn Store>,
    serial: Arc<AtomicU64>,
}

/// Allows to call the store's methods on the fixture.
impl Deref for World {
    type Target = dyn Store;

    fn deref(&self) -> &Self::Target {
        self.store.as_ref()
    }
}

/// Time at this many seconds after the start.
pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_772_366_400_000 + seconds * 1000)
}

/// Address `name`@example.org.
pub(super) fn email(name: &str) -> Email {
    Email::parse(&format!("{name}@example.org")).unwrap()
}

/// Lookup key of the address `name`@example.org.
pub(super) fn key(name: &str) -> EmailKey {
    email(name).key().clone()
}

/// Hash of a password with the default salt.
pub(super) fn password(text: &str) -> PasswordHash {
    salted("c2FsdA", text)
}

/// Hash of a password with this salt. Hashes with the same salt can be compared.
pub(super) fn salted(salt: &str, text: &str) -> PasswordHash {
    PasswordHash::from_phc(format!("$argon2id$v=19$m=19456,t=2,p=1${salt}${text}"))
}

/// Returns a MAC that stands for the code with this number.
pub(super) fn mac(code: u8) -> CodeMac {
    CodeMac::from_bytes([code; 32])
}

/// Returns a MAC that stands for the long code, which is mailed instead of a six-digit code after too many
/// wrong attempts.
pub(super) fn long(six_digits: CodeMac) -> CodeMac {
    CodeMac::from_bytes(six_digits.as_bytes().map(|byte| !byte))
}

/// Makes the data by which wrong codes for this address are counted, for a client at 192.0.2.`host`.
pub(super) fn lane(email: &EmailKey, host: u8) -> CodeLane {
    CodeLane { client: known_client(email, client(host).address), budget: BUDGET }
}

/// Client at 192.0.2.`host`.
pub(super) fn client(host: u8) -> Client {
    Client::new(ClientAddress::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, host))), Some("Browser/1.0"))
}

/// Makes a request for one token of a token bucket that holds `burst` tokens and refills in a minute.
pub(super) fn take(limit: &'static str, burst: u32) -> Take {
    let rate = Rate { burst, window: Duration::from_mins(1) };
    Take { key: LimitKey::new(limit, &["subject"]), rate, limit }
}

/// The map of a JSON object.
pub(super) fn object(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { panic!("no object: {value}") };
    map
}

macro_rules! ids {
    ($($method:ident -> $id:ident,)*) => {
        impl World {
            $(
                /// Makes a new id.
                pub(super) fn $method(&self, now: Timestamp) -> $id {
                    self.id(now, $id::new)
                }
            )*
        }
    };
}

ids! {
    user_id -> UserId,
    profile_id -> ProfileId,
    session_id -> SessionId,
    mail_id -> MailId,
    event_id -> EventId,
    lease_id -> LeaseId,
    key_id -> KeyId,
}

impl World {
    /// Makes a fixture with a new, empty store.
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, serial: Arc::new(AtomicU64::new(1)) }
    }

    /// Makes a new id of any type: `world.id(now, NoteId::new)`. Ids made for the same millisecond are
    /// ascending.
    pub(super) fn id<T>(&self, now: Timestamp, new: fn(Timestamp, [u8; 10]) -> T) -> T {
        let mut random = [0; 10];
        random[2..].copy_from_slice(&self.serial().to_be_bytes());
        new(now, random)
    }

    fn serial(&self) -> u64 {
        self.serial.fetch_add(1, Ordering::Relaxed)
    }

    /// Hash of a unique token.
    pub(super) fn token(&self) -> TokenHash {
        TokenHash::of(&self.serial().to_be_bytes())
    }

    /// Makes an audit event. Its user and session are `None`; the store fills them in.
    pub(super) fn event(&self, kind: AuditKind, now: Timestamp) -> AuditEvent {
        AuditEvent {
            id: self.event_id(now),
            at: now,
            kind,
            actor: Actor::User,
            user_id: None,
            session_id: None,
            client: Some(client(HOME)),
            details: Map::new(),
        }
    }

    /// Makes a session with an idle timeout of 30 days and a lifetime of 90 days.
    pub(super) fn session(&self, now: Timestamp) -> NewSession {
        NewSession {
            id: self.session_id(now),
            family: self.token(),
            refresh: self.token(),
            created_at: now,
            authenticated_at: now,
            idle_expires_at: now.plus(days(30)),
            absolute_expires_at: now.plus(days(90)),
            client: client(HOME),
            known_for: Some(days(30)),
            ..numbered::session(0)
        }
    }

    /// Makes a mail. Its id stands in for the encrypted content.
    pub(super) fn mail(&self, now: Timestamp) -> NewMail {
        let id = self.mail_id(now);
        NewMail { id, sealed: id.to_string().into_bytes() }
    }

    /// Makes a verified account with the password `secret` and a profile with this name, without a session.
    pub(super) fn account(&self, name: &str, now: Timestamp) -> NewAccount {
        NewAccount {
            id: self.user_id(now),
            email: email(name),
            password: Some(password("secret")),
            email_verified: true,
            metadata: AppMetadata::default(),
            profile: Some(self.profile(name, now)),
            locale: None,
            browser: None,
            now,
            event: self.event(AuditKind::SignedUp, now),
        }
    }

    /// Profile with only a name.
    pub(super) fn profile(&self, name: &str, now: Timestamp) -> NewProfile {
        NewProfile { id: self.profile_id(now), name: Name::parse(name).unwrap(), avatar_url: None }
    }
}

/// Duration in days.
pub(super) fn days(count: u64) -> Duration {
    Duration::from_secs(count * 24 * 60 * 60)
}

/// Profile with a picture.
pub(super) fn with_avatar(profile: NewProfile, avatar_url: &AvatarUrl) -> NewProfile {
    NewProfile { avatar_url: Some(avatar_url.clone()), ..profile }
}
