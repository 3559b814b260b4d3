//! Configuration of a service at its start. Settings that an admin edits while it runs are in [`crate::settings`].

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

/// Configuration of a service at its start.
#[derive(Debug, Clone)]
pub struct ServiceConfig {
    /// The public face of the service.
    pub site: Site,
    /// `aud` of access tokens.
    pub audience: String,
    /// The algorithm that signs access tokens.
    pub algorithm: SigningAlgorithm,
    /// Lifetimes, by capability.
    pub lifetimes: Lifetimes,
    /// Attempts at a code.
    pub code_budget: CodeBudget,
    /// Parameters of password hashing.
    pub hashing: HashingConfig,
    /// Limits are enforced.
    pub limits_enabled: bool,
    /// The limits of policy.
    pub limits: LimitsConfig,
    /// The engine of searches.
    pub search_engine: SearchEngine,
    /// A mail transport is configured.
    pub has_mail_transport: bool,
    /// Owners get security notifications.
    pub notifies_owners: bool,
    /// The sender of mails.
    pub mail_from: Mailbox,
    /// Retries of a mail that does not go through.
    pub mail_retries: MailRetries,
    /// The anonymous key and the admin keys.
    pub access: AccessKeys,
}
