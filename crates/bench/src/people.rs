//! People in the databases of the benchmark. Each is derived from a number alone, so that a seeded database can be
//! reused.

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::client::{Client, ClientAddress};
use latchkey_domain::email::Email;
use latchkey_domain::ids::{EventId, ProfileId, SessionId, UserId};
use latchkey_domain::password::PasswordHash;
use latchkey_domain::profile::{Bio, Name, NewProfile, Profile, Username};
use latchkey_domain::session::{AuthMethod, AuthMethods, NewSession};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::RefreshToken;
use latchkey_domain::user::AppMetadata;
use latchkey_store::NewAccount;
use latchkey_store_sqlite::SeededAccount;
use rand::SeedableRng;
use rand::rngs::StdRng;
use sha2::{Digest, Sha256};

use crate::error::{BenchError, Result};
use crate::words::Words;

/// Password of all seeded people.
pub(crate) const PASSWORD: &str = "benchmark-of-latchkey-2026";
/// Password of people who sign up during the benchmark, valid under the password policy.
pub(crate) const NEW_PASSWORD: &str = "a-bench-in-the-park-2026";
/// Parameters of argon2: memory in KiB, and iterations. They are the defaults of the service.
pub(crate) const COST: (u32, u32) = (19_456, 2);
/// One person out of this many has not verified the address.
const UNVERIFIED_EVERY: u64 = 16;
/// Lifetime of seeded sessions, long enough to reuse the database for years.
const SESSION_LIFE: std::time::Duration = std::time::Duration::from_hours(3_650 * 24);

/// People of one database.
pub(crate) struct People {
    words: Words,
    password: PasswordHash,
    since: Timestamp,
    /// Number of people.
    pub(crate) count: u64,
    /// One person out of this many has a session.
    pub(crate) session_every: u64,
}

impl People {
    /// Population of `count` people. They signed up one after another, the last one at `until`.
    pub(crate) fn new(count: u64, sessions: u64, until: Timestamp) -> Result<Self> {
        let span = std::time::Duration::from_millis(count * 10);
        Ok(Self {
            words: Words::new(),
            password: hash(PASSWORD)?,
            since: Timestamp::from_millis(until.as_millis() - i64::try_from(span.as_millis()).unwrap_or(0)),
            count,
            session_every: (count / sessions.max(1)).max(1),
        })
    }

    /// Numbers of the people with a session.
    pub(crate) fn with_session(&self) -> impl Iterator<Item = u64> + use<> {
        (0..self.count).step_by(usize::try_from(self.session_every).unwrap_or(1))
    }

    /// All people, as records to seed a store with.
    pub(crate) fn all(&self) -> impl Iterator<Item = SeededAccount> + '_ {
        (0..self.count).filter_map(|number| self.one(number))
    }

    /// Time at which a person signed up.
    pub(crate) fn created_at(&self, number: u64) -> Timestamp {
        Timestamp::from_millis(self.since.as_millis() + i64::try_from(number).unwrap_or_default() * 10)
    }

    /// Id of a person's user.
    pub(crate) fn user_id(&self, number: u64) -> UserId {
        UserId::new(self.created_at(number), random(number, "user"))
    }

    fn one(&self, number: u64) -> Option<SeededAccount> {
        let now = self.created_at(number);
        let has_session = number.is_multiple_of(self.session_every);
        let client = Client::new(ClientAddress::new(std::net::Ipv4Addr::LOCALHOST.into()), Some("bench"));
        let account = NewAccount {
            id: self.user_id(number),
            email: Email::parse(&email(number)).ok()?,
            password: Some(self.password.clone()),
            email_verified: !number.is_multiple_of(UNVERIFIED_EVERY),
            metadata: AppMetadata::default(),
            profile: None,
            locale: None,
            browser: None,
            now,
            event: event(number, now),
        };
        let (name, bio) = self.words.of_person(&mut StdRng::seed_from_u64(number));
        let profile = NewProfile {
            id: ProfileId::new(now, random(number, "profile")),
            name: Name::parse(&name).ok()?,
            avatar_url: None,
        };
        let profile = Profile {
            username: Username::parse(&format!("user{number}")).ok(),
            bio: Bio::parse(&bio).ok(),
            ..profile.into_profile(account.id, now)
        };
        Some((account, profile, has_session.then(|| session(number, now, client))))
    }
}

/// Address of a person.
pub(crate) fn email(number: u64) -> String {
    format!("user{number}@bench.example.org")
}

/// Refresh token of a person's seeded session.
pub(crate) fn refresh_token(number: u64) -> RefreshToken {
    RefreshToken::new(digest(number, "family"), digest(number, "secret"))
}

fn session(number: u64, now: Timestamp, client: Client) -> NewSession {
    let refresh = refresh_token(number);
    let id = SessionId::new(now, random(number, "session"));
    let hashes = (refresh.family_hash(), refresh.hash());
    let methods = AuthMethods::of(AuthMethod::Password);
    NewSession::new(id, hashes, methods, client, now, (SESSION_LIFE, SESSION_LIFE))
}

fn event(number: u64, now: Timestamp) -> AuditEvent {
    AuditEvent {
        id: EventId::new(now, random(number, "event")),
        at: now,
        kind: AuditKind::SignedUp,
        actor: Actor::User,
        user_id: None,
        session_id: None,
        client: None,
        details: serde_json::Map::new(),
    }
}

fn hash(password: &str) -> Result<PasswordHash> {
    let (memory, passes) = COST;
    let (salt, mut output) = ([7; 16], [0; 32]);
    let params =
        Params::new(memory, passes, 1, Some(output.len())).map_err(|_| BenchError::other("argon2"))?;
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(password.as_bytes(), &salt, &mut output)
        .map_err(|_| BenchError::other("argon2 refused its input"))?;
    let (salt, output) = (STANDARD_NO_PAD.encode(salt), STANDARD_NO_PAD.encode(output));
    Ok(PasswordHash::from_phc(format!("$argon2id$v=19$m={memory},t={passes},p=1${salt}${output}")))
}

fn digest(number: u64, what: &str) -> [u8; 32] {
    Sha256::digest(format!("{what} {number}").as_bytes()).into()
}

fn random(number: u64, what: &str) -> [u8; 10] {
    let mut bytes = [0; 10];
    bytes.copy_from_slice(&digest(number, what)[..10]);
    bytes
}
