//! Accounts, mails and sessions made from a number, for the tests of single engines.
#![allow(clippy::missing_panics_doc, reason = "what is made here is always valid")]

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::challenge::{FactorRules, SecondFactorPolicy};
use latchkey_domain::client::{Client, ClientAddress, ClientType, OpenedFor};
use latchkey_domain::codes::{CodeBudget, CodeMac};
use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::ids::{EventId, MailId, ProfileId, SessionId, UserId};
use latchkey_domain::limits::LimitKey;
use latchkey_domain::passkey::RpId;
use latchkey_domain::password::PasswordHash;
use latchkey_domain::profile::{Name, NewProfile};
use latchkey_domain::session::{AuthMethod, AuthMethods, NewSession};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::AppMetadata;
use serde_json::Map;

use latchkey_store::{
    CodeLane, Entry, NewAccount, NewChallenge, NewCode, NewEmailCode, NewMail, PresentedRefreshToken,
    RefreshSession,
};

/// Time at a number of seconds after the start.
#[must_use]
pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_772_366_400_000 + seconds * 1000)
}

/// Returns the bytes that stand for the random part of all ids derived from `number`.
fn random(number: u64) -> [u8; 10] {
    let mut random = [0; 10];
    random[2..].copy_from_slice(&number.to_be_bytes());
    random
}

/// Returns the id of account `number`.
#[must_use]
pub fn user_id(number: u64) -> UserId {
    UserId::new(at(0), random(number))
}

/// Returns the email address of account `number`.
#[must_use]
pub fn email(number: u64) -> Email {
    Email::parse(&format!("user{number}@example.org")).unwrap()
}

/// Returns the lookup key of the email address of account `number`.
#[must_use]
pub fn key(number: u64) -> EmailKey {
    email(number).key().clone()
}

/// Makes account `number`: with password and profile, without a session.
#[must_use]
pub fn account(number: u64) -> NewAccount {
    NewAccount {
        id: user_id(number),
        email: email(number),
        password: Some(PasswordHash::from_phc("$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$c2VjcmV0".to_owned())),
        email_verified: true,
        metadata: AppMetadata::default(),
        profile: Some(NewProfile {
            id: ProfileId::new(at(0), random(number)),
            name: Name::parse(&format!("User {number}")).unwrap(),
            avatar_url: None,
        }),
        locale: None,
        browser: None,
        now: at(0),
        event: event(number),
    }
}

/// Makes the audit event of the sign-up of account `number`.
#[must_use]
pub fn event(number: u64) -> AuditEvent {
    AuditEvent {
        id: EventId::new(at(0), random(number)),
        at: at(0),
        kind: AuditKind::SignedUp,
        actor: Actor::User,
        user_id: None,
        session_id: None,
        client: None,
        details: Map::new(),
    }
}

/// Makes a mail whose id is derived from `number`.
#[must_use]
pub fn mail(number: u64) -> NewMail {
    NewMail { id: MailId::new(at(0), random(number)), sealed: vec![7; 100] }
}

/// Returns the hash of a token derived from `number`.
#[must_use]
pub fn token(number: u64) -> TokenHash {
    TokenHash::of(&number.to_be_bytes())
}

/// Client of all requests.
#[must_use]
pub fn client() -> Client {
    Client::new(ClientAddress::new(IpAddr::V4(Ipv4Addr::LOCALHOST)), None)
}

/// Makes a code, valid for ten minutes, that stands for `number`. It is requested and entered by a client
/// that the account does not know.
#[must_use]
pub fn code(number: u8) -> NewEmailCode {
    NewEmailCode::Code(NewCode {
        mac: CodeMac::from_bytes([number; 32]),
        long_mac: CodeMac::from_bytes([!number; 32]),
        long_sealed: vec![0; 80],
        lane: LANE,
        expires_at: at(600),
    })
}

/// Clients that no account knows, as data for the counters of wrong codes.
pub const LANE: CodeLane = CodeLane {
    client: LimitKey::from_bytes([0; 16]),
    budget: CodeBudget { per_code: 5, per_hour: 10, per_day: 30 },
};

/// Returns the random part of a session's id, from which another id is made.
fn random_of(id: SessionId) -> [u8; 10] {
    let mut random = [0; 10];
    random.copy_from_slice(&id.as_uuid().as_bytes()[6..]);
    random
}

/// Sign-in that opens this session or writes a challenge. The challenge's id is the hash of the session's id. Second
/// factors are optional.
#[must_use]
pub fn entry(session: NewSession) -> Entry {
    let challenge = NewChallenge {
        hash: TokenHash::of(session.id.as_uuid().as_bytes()),
        opened_for: OpenedFor::App(ClientType::Web),
        expires_at: session.created_at.plus(Duration::from_mins(10)),
        event: AuditEvent {
            id: EventId::new(session.created_at, random_of(session.id)),
            at: session.created_at,
            kind: AuditKind::SignInChallenged,
            actor: Actor::User,
            user_id: None,
            session_id: None,
            client: None,
            details: serde_json::Map::new(),
        },
    };
    Entry { session, challenge, rules: rules(SecondFactorPolicy::Optional) }
}

/// Rules for second factors with this policy. Passkeys of `example.org` are usable.
#[must_use]
pub fn rules(policy: SecondFactorPolicy) -> FactorRules {
    FactorRules { policy, rp_id: Some(RpId::new("example.org")) }
}

/// Makes session `number`. Its token family has the hash `token(number)`, its first refresh token the hash
/// `token(number + 1000)`.
#[must_use]
pub fn session(number: u64) -> NewSession {
    let id = SessionId::new(at(0), random(number));
    let hashes = (token(number), token(number + 1_000));
    let lifetimes = (Duration::from_secs(1_000_000), Duration::from_secs(2_000_000));
    NewSession::new(id, hashes, AuthMethods::of(AuthMethod::Password), client(), at(0), lifetimes)
}

/// Makes the refresh token of a session as a client presents it. After its replacement it works for 30
/// seconds.
#[must_use]
pub fn presented(session: &NewSession, hash: TokenHash) -> PresentedRefreshToken {
    PresentedRefreshToken { family: session.family, hash, grace: Duration::from_secs(30) }
}

/// Makes a refresh of a session, whose new token has the hash `token(5)`. No mail is written.
#[must_use]
pub fn refresh(presented: PresentedRefreshToken, reuse_event: AuditEvent, now: Timestamp) -> RefreshSession {
    RefreshSession {
        presented,
        successor: token(5),
        sealed_successor: vec![1; 80],
        idle_expires_at: at(1_000_000),
        client: client(),
        reuse_event,
        mail: None,
        level_two_required: None,
        now,
    }
}
