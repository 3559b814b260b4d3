//! View of one user.

use latchkey_domain::account_limits::HeldLimit;
use latchkey_domain::factors::FactorId;
use latchkey_domain::obstacle as domain;
use latchkey_domain::operator::Role;
use latchkey_domain::passkey::PasskeyId;
use latchkey_domain::session::SessionId;
use latchkey_domain::user::UserId;
use serde::Serialize;

use super::events::EventRow;
use super::mails::MailRow;
use super::parts::{AccountState, ClientShown};
use super::word;
use crate::frame::{Address, Form};
use crate::message::When;
use crate::view::views;
use crate::views::PasswordRules;

/// Everything about one user, with the acts that the role may do.
#[derive(Debug, Clone, Serialize)]
pub struct UserPage {
    pub id: UserId,
    pub email: String,
    pub name: Option<String>,
    #[serde(serialize_with = "word")]
    pub state: AccountState,
    /// True if a sign-in is possible. Where the address is not verified, it is one by mail.
    pub can_sign_in: bool,
    /// Reasons why the user cannot sign in, or not as usual, the weightiest first; empty if nothing is in the way.
    pub obstacles: Vec<Obstacle>,
    /// Role of an operator's account.
    pub operator: Option<OperatorMark>,
    pub created: When,
    pub last_sign_in: Option<When>,
    pub ways: Ways,
    pub sessions: Vec<UserSession>,
    /// Number of all live sessions.
    pub session_count: u64,
    /// URL of all sessions.
    pub all_sessions: String,
    pub profile: Option<PublicProfile>,
    /// Metadata as JSON, or the text that was typed and refused.
    pub metadata: String,
    /// Digest of the metadata in force.
    pub metadata_seen: String,
    /// The metadata in force, if somebody changed them since the form was shown.
    pub metadata_now: Option<String>,
    /// Mails of the last 30 days, newest first.
    pub mails: Vec<MailRow>,
    /// URL of all mails to the address, if there are more.
    pub all_mails: Option<String>,
    pub limits: Vec<LimitRow>,
    /// The last sign-ins and failed ones, newest first.
    pub sign_ins: Vec<EventRow>,
    /// URLs of all sign-ins, and of all failed ones.
    pub all_sign_ins: String,
    pub all_failures: String,
    pub events: Vec<EventRow>,
    /// URL of all events.
    pub all_events: String,
    pub acts: UserActs,
}

/// Mark of an operator's account.
#[derive(Debug, Clone, Serialize)]
pub struct OperatorMark {
    #[serde(serialize_with = "word")]
    pub role: Role,
    /// True if the reader may not change the account.
    pub is_protected: bool,
}

/// Reason why a user cannot sign in, or not as usual. Its sentence is in the table `obstacle`; that about an address which
/// is not verified is in the table `by_mail` if the user can sign in.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "key", rename_all = "snake_case")]
pub enum Obstacle {
    Banned {
        since: When,
    },
    /// The address is not verified, and no mail was sent in the last 30 days.
    Unverified {
        since: When,
    },
    /// The address is not verified; the last mail waits for its delivery.
    UnverifiedMailQueued {
        since: When,
        written: When,
    },
    /// The address is not verified; the last mail was accepted by the transport.
    UnverifiedMailed {
        since: When,
        mailed: When,
    },
    /// The address is not verified; the last mail failed for good.
    UnverifiedMailDead {
        since: When,
        failed: When,
    },
    Deletion {
        until: When,
    },
    /// No password, passkey or identity.
    NoWay,
    /// Guess limits refuse the password or the second factor from some networks.
    Limited {
        until: When,
    },
    /// Guess limits refuse the second factor from some networks, until a success.
    LimitedOpen,
    /// Limits close every way to everybody.
    LimitedAll {
        limit: String,
        until: When,
    },
    /// Like [`Self::LimitedAll`], until the limit is lifted.
    LimitedAllOpen {
        limit: String,
    },
    /// A limit refuses mails for sign-ins or their codes; some still work.
    LimitedMail {
        limit: String,
        until: When,
    },
    /// Two-step sign-in is on, and the user has no second factor left.
    NoFactor,
    /// The service requires a second factor, which the user sets up at the next sign-in.
    MustEnroll,
}

impl From<&domain::Obstacle> for Obstacle {
    fn from(obstacle: &domain::Obstacle) -> Self {
        match *obstacle {
            domain::Obstacle::Banned { since } => Self::Banned { since: When(since) },
            domain::Obstacle::NoWay => Self::NoWay,
            domain::Obstacle::Unverified { since, mail, .. } => unverified(When(since), mail),
            domain::Obstacle::NoFactor => Self::NoFactor,
            domain::Obstacle::Deletion { until } => Self::Deletion { until: When(until) },
            domain::Obstacle::MustEnroll => Self::MustEnroll,
            domain::Obstacle::Limited { ref held, is_closed } => limited(held, is_closed),
        }
    }
}

fn limited(held: &HeldLimit, is_closed: bool) -> Obstacle {
    let limit = limit_name(held);
    match held.until {
        Some(until) if is_closed => Obstacle::LimitedAll { limit, until: When(until) },
        None if is_closed => Obstacle::LimitedAllOpen { limit },
        Some(until) if held.purpose.is_some() => Obstacle::LimitedMail { limit, until: When(until) },
        Some(until) => Obstacle::Limited { until: When(until) },
        None => Obstacle::LimitedOpen,
    }
}

/// Returns the name of a limit, with the purpose of its mails or codes.
#[must_use]
pub fn limit_name(held: &HeldLimit) -> String {
    let purpose = held.purpose.map(|purpose| format!(" ({})", purpose.as_str().replace('_', " ")));
    format!("{}{}", held.limit, purpose.unwrap_or_default())
}

const fn unverified(since: When, mail: Option<domain::VerificationMail>) -> Obstacle {
    match mail {
        None => Obstacle::Unverified { since },
        Some(domain::VerificationMail::Queued { since: written }) => {
            Obstacle::UnverifiedMailQueued { since, written: When(written) }
        }
        Some(domain::VerificationMail::Sent { at }) => Obstacle::UnverifiedMailed { since, mailed: When(at) },
        Some(domain::VerificationMail::Dead { at }) => {
            Obstacle::UnverifiedMailDead { since, failed: When(at) }
        }
    }
}

/// Ways to sign in, and second factors.
#[derive(Debug, Clone, Serialize)]
pub struct Ways {
    pub has_password: bool,
    /// Time at which two-step sign-in was turned on.
    pub two_step: Option<When>,
    pub passkeys: Vec<FactorRow<PasskeyId>>,
    pub apps: Vec<FactorRow<FactorId>>,
    pub recovery_codes: u64,
    pub identities: Vec<IdentityRow>,
    /// Form that removes a passkey, by its id. Apps are removed with all second factors alone.
    pub remove: Option<Form>,
}

/// A passkey or an authenticator app.
#[derive(Debug, Clone, Serialize)]
pub struct FactorRow<Id: Serialize> {
    pub id: Id,
    pub name: String,
    pub added: When,
    pub used: Option<When>,
}

/// A linked identity.
#[derive(Debug, Clone, Serialize)]
pub struct IdentityRow {
    /// Name of the provider.
    pub provider: String,
    /// Email address at the provider.
    pub email: Option<String>,
    /// Form that unlinks it.
    pub unlink: Option<Form>,
}

/// A live session of the user.
#[derive(Debug, Clone, Serialize)]
pub struct UserSession {
    pub id: SessionId,
    /// Name that the user gave it.
    pub name: Option<String>,
    pub client: ClientShown,
    /// True for a page session.
    pub is_pages: bool,
    pub opened: When,
    pub last_seen: When,
    /// Form that ends it.
    pub end: Option<Form>,
}

/// The profile: what everybody sees, and what only the owner does.
#[derive(Debug, Clone, Serialize)]
pub struct PublicProfile {
    pub username: Option<String>,
    pub bio: Option<String>,
    pub avatar: Option<Avatar>,
    /// Custom fields as JSON, public.
    pub custom: Option<String>,
    /// Metadata that only the owner can read, as JSON.
    pub private: Option<String>,
}

/// Address of a picture, which the console never loads.
#[derive(Debug, Clone, Serialize)]
pub struct Avatar {
    /// Host, shown before the link.
    pub host: String,
    /// The link; `None` unless it is http or https.
    pub href: Option<Address>,
}

/// A limit that holds for the user now.
#[derive(Debug, Clone, Serialize)]
pub struct LimitRow {
    /// Name of the limit, as in error messages, with what it is for.
    pub name: String,
    /// Its end; `None` if it holds until a success.
    pub until: Option<When>,
}

/// Acts on the user that the role of the operator may do; `None` also where an act has no effect.
#[derive(Debug, Clone, Default, Serialize)]
pub struct UserActs {
    pub end_sessions: Option<Form>,
    pub send_verification: Option<Form>,
    pub send_reset: Option<Form>,
    pub lift_limits: Option<Form>,
    pub ban: Option<Form>,
    pub unban: Option<Form>,
    pub keep: Option<Form>,
    pub remove_profile_text: Option<Form>,
    pub mark_verified: Option<Form>,
    pub change_address: Option<ChangeAddress>,
    pub set_password: Option<SetPassword>,
    pub save_metadata: Option<Form>,
    pub remove_factors: Option<Form>,
    pub delete: Option<Form>,
}

#[derive(Debug, Clone, Serialize)]
pub struct ChangeAddress {
    pub form: Form,
    /// The typed address, if it was refused.
    pub email: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct SetPassword {
    pub form: Form,
    pub rules: PasswordRules,
}

views! {
    UserPage "console/user.html"
}
