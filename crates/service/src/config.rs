//! What the service is told once, at its start. Settings that an admin edits while it runs are in [`crate::settings`].

use latchkey_domain::codes::CodeBudget;
use latchkey_mail::Mailbox;

use crate::access::AccessKeys;
pub use crate::kernel::Site;
pub use crate::outbox::MailRetries;
use crate::passwords::HashingConfig;
use crate::search::SearchEngine;
pub use crate::tokens::SigningAlgorithm;

macro_rules! of_rooms {
    ($(#[$doc:meta])* $name:ident { $($room:ident: $part:ident,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name {
            $(#[doc = concat!("Those of [`crate::", stringify!($room), "`].")] pub $room: crate::$room::$part,)*
        }
    };
}

of_rooms! {
    /// The lifetimes of all rooms.
    Lifetimes {
        sessions: Lifetimes,
        mailbox: Lifetimes,
        passwords: Lifetimes,
        oauth: Lifetimes,
        upkeep: Lifetimes,
    }
}

of_rooms! {
    /// The limits of all rooms.
    LimitsConfig {
        sessions: Limits,
        mailbox: Limits,
        passwords: Limits,
        accounts: Limits,
        profiles: Limits,
        oauth: Limits,
        access: Limits,
    }
}

/// What the service is told once, at its start.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone)]
pub struct ServiceConfig {
    /// The public face of the service.
    pub site: Site,
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
    /// Limits are enforced.
    pub limits_enabled: bool,
    /// The limits of policy.
    pub limits: LimitsConfig,
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
    /// The anonymous key and the admin keys.
    pub access: AccessKeys,
}
