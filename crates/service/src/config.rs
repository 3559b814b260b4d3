//! What the service is told once, at its start. Settings that an admin edits while it runs are in [`crate::settings`].

use std::time::Duration;

use latchkey_domain::codes::CodeBudget;
use latchkey_domain::limits::{FailurePolicy, Rate};
use latchkey_domain::mail_schedule::MailSchedule;
use latchkey_domain::tokens::TokenHash;
use latchkey_mail::Mailbox;
use url::Url;

use crate::passwords::HashingConfig;
use crate::search::SearchEngine;

/// The algorithm that signs access tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SigningAlgorithm {
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
}

impl SigningAlgorithm {
    /// The `alg` of JOSE headers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }

    /// Reads the `alg` of JOSE headers.
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        [Self::Es256, Self::EdDsa].into_iter().find(|algorithm| algorithm.as_str() == text)
    }
}

/// How long things last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// An access token.
    pub access_token: Duration,
    /// A session without a refresh.
    pub refresh_idle: Duration,
    /// A session in any case.
    pub refresh_absolute: Duration,
    /// A replaced refresh token still yields its successor.
    pub refresh_grace: Duration,
    /// A mailed code.
    pub code: Duration,
    /// A verification link.
    pub verify_link: Duration,
    /// A reset link.
    pub reset_link: Duration,
    /// A reset token that came of an exchange.
    pub exchanged_reset: Duration,
    /// A pending account and the hash of a sign-up, from the last sign-up for the address.
    pub pending: Duration,
    /// The state of an OAuth flow, until the browser must be back.
    pub oauth_state: Duration,
    /// The code that an app exchanges after an OAuth flow.
    pub oauth_code: Duration,
    /// A signing key signs; `None`: until it is rotated by command.
    pub signing_key: Option<Duration>,
    /// An audit event.
    pub audit_event: Duration,
}

impl Default for Lifetimes {
    fn default() -> Self {
        const MINUTE: u64 = 60;
        const DAY: u64 = 24 * 60 * MINUTE;
        Self {
            access_token: Duration::from_secs(15 * MINUTE),
            refresh_idle: Duration::from_secs(30 * DAY),
            refresh_absolute: Duration::from_secs(90 * DAY),
            refresh_grace: Duration::from_secs(30),
            code: Duration::from_secs(10 * MINUTE),
            verify_link: Duration::from_secs(DAY),
            reset_link: Duration::from_secs(30 * MINUTE),
            exchanged_reset: Duration::from_secs(15 * MINUTE),
            pending: Duration::from_secs(30 * DAY),
            oauth_state: Duration::from_secs(10 * MINUTE),
            oauth_code: Duration::from_secs(MINUTE),
            signing_key: Some(Duration::from_secs(90 * DAY)),
            audit_event: Duration::from_secs(400 * DAY),
        }
    }
}

/// The rate limits of policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitsConfig {
    /// Whether they are kept at all.
    pub enabled: bool,
    /// Failures of one account from one client.
    pub sign_in_pair: FailurePolicy,
    /// Failures of one account from everywhere.
    pub sign_in_account: FailurePolicy,
    /// How long a client stays known to an account.
    pub known_client: Duration,
    /// Password checks of one client.
    pub sign_in_address: Rate,
    /// Sign-ups of one client.
    pub sign_up_address: Rate,
    /// Mails of one purpose to one recipient, in the short run.
    pub mail_recipient_pause: Rate,
    /// Mails of one purpose to one recipient, in the long run.
    pub mail_recipient: Rate,
    /// Mails caused by one client.
    pub mail_address: Rate,
    /// Codes and links tried by one client.
    pub verification_address: Rate,
    /// Refreshes of one client.
    pub refresh_address: Rate,
    /// Searches and public profiles for one client.
    pub public_read_address: Rate,
    /// CSRF tokens of the cookie for one client.
    pub csrf_address: Rate,
    /// Sign-ins through providers that one client begins or ends.
    pub oauth_address: Rate,
    /// Refused admin keys of one client.
    pub admin_address: Rate,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        const fn rate(burst: u32, seconds: u64) -> Rate {
            Rate { burst, window: Duration::from_secs(seconds) }
        }
        const fn failures(threshold: u32, seconds: u64) -> FailurePolicy {
            FailurePolicy {
                threshold,
                window: Duration::from_secs(seconds),
                first_delay: Duration::from_secs(30),
                longest_delay: Duration::from_mins(15),
            }
        }
        Self {
            enabled: true,
            sign_in_pair: failures(10, 900),
            sign_in_account: failures(100, 3600),
            known_client: Duration::from_hours(720),
            sign_in_address: rate(30, 300),
            sign_up_address: rate(20, 3600),
            mail_recipient_pause: rate(1, 60),
            mail_recipient: rate(5, 3600),
            mail_address: rate(20, 3600),
            verification_address: rate(30, 900),
            refresh_address: rate(300, 300),
            public_read_address: rate(600, 60),
            csrf_address: rate(600, 60),
            oauth_address: rate(300, 300),
            admin_address: rate(10, 900),
        }
    }
}

/// How the outbox treats a mail that does not go through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailRetries {
    /// The wait after the first failure; doubles with each further one.
    pub first: Duration,
    /// The longest wait.
    pub longest: Duration,
    /// After so many tries it is dead.
    pub attempts: u32,
    /// How long a worker holds the mails that it claimed: after a crash they wait as long. A mail that takes longer than
    /// three quarters of it is tried again.
    pub lease: Duration,
}

impl MailRetries {
    /// The waits of a mail.
    #[must_use]
    pub const fn schedule(&self) -> MailSchedule {
        MailSchedule { first: self.first, longest: self.longest, lease: self.lease }
    }
}

impl Default for MailRetries {
    fn default() -> Self {
        let MailSchedule { first, longest, lease } = MailSchedule::default();
        Self { first, longest, attempts: 30, lease }
    }
}

/// What the service is told once, at its start.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone)]
pub struct ServiceConfig {
    /// The origin under which clients reach it, without a trailing slash; also `iss` of access tokens.
    pub public_url: Url,
    /// Its name in mails and in the password rule.
    pub service_name: String,
    /// `aud` of access tokens.
    pub audience: String,
    /// What signs access tokens.
    pub algorithm: SigningAlgorithm,
    /// How long things last.
    pub lifetimes: Lifetimes,
    /// How often a code may be tried.
    pub code_budget: CodeBudget,
    /// How passwords are hashed.
    pub hashing: HashingConfig,
    /// Rate limits.
    pub limits: LimitsConfig,
    /// Whether a sign-up makes a profile.
    pub create_profile_on_sign_up: bool,
    /// What answers searches.
    pub search_engine: SearchEngine,
    /// Whether mails can go out at all.
    pub has_mail_transport: bool,
    /// Whether owners get mails about what is done with their accounts.
    pub notifies_owners: bool,
    /// The sender of mails.
    pub mail_from: Mailbox,
    /// How the outbox treats a mail that does not go through.
    pub mail_retries: MailRetries,
    /// Prefix of the browser redirect parameters, `service` by default.
    pub redirect_param_prefix: String,
    /// SHA-256 of the admin keys that are good now, two at the most.
    pub admin_keys: Vec<TokenHash>,
    /// The key of public calls, where one is set.
    pub anon_key: Option<TokenHash>,
    /// Whether public calls must carry it.
    pub require_anon_key: bool,
}

impl ServiceConfig {
    /// The public URL without a trailing slash.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.public_url.as_str().trim_end_matches('/')
    }
}
