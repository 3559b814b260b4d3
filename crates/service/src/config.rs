//! Configuration of a service at its start. Settings that an admin edits while it runs are in [`crate::settings`].

use latchkey_mail::Mailbox;
use latchkey_settings::{Group, Groups, Item, Reader, settings};

use crate::access::AccessKeys;
pub use crate::kernel::Site;
pub use crate::outbox::MailRetries;
use crate::passwords::HashingConfig;
use crate::search::SearchEngine;
pub use crate::tokens::SigningAlgorithm;
use crate::{access, accounts, mailbox, oauth, passwords, profiles, sessions, upkeep};

macro_rules! of_rooms {
    ($(#[$doc:meta])* $name:ident { $($room:ident: $group:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name {
            $(#[doc = concat!("[`", stringify!($group), "`].")] pub $room: $group,)*
        }

        impl Groups for $name {
            const GROUPS: &'static [&'static [Item]] = &[$(<$group>::ITEMS),*];

            fn read_all(reader: &mut Reader<'_>) -> Self {
                Self { $($room: Group::read(reader),)* }
            }
        }
    };
}

of_rooms! {
    /// Lifetimes, by capability.
    Lifetimes {
        sessions: sessions::Lifetimes,
        mailbox: mailbox::Lifetimes,
        passwords: passwords::Lifetimes,
        upkeep: upkeep::Lifetimes,
        oauth: oauth::Lifetimes,
    }
}

of_rooms! {
    /// Limits, by capability.
    LimitsConfig {
        all: LimitSwitch,
        passwords: passwords::Limits,
        accounts: accounts::Limits,
        mailbox: mailbox::Limits,
        sessions: sessions::Limits,
        profiles: profiles::Limits,
        oauth: oauth::Limits,
        access: access::Limits,
    }
}

settings! {
    /// The switch of all rate limits.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct LimitSwitch {
        /// Token buckets: a count at once, refilled evenly over the duration. A refusal is 429 with
        /// Retry-After and names the limit. IPv6 addresses count by their /64.
        /// Off is for load tests alone.
        "limits.enabled" => enabled: bool = true;
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
    /// Parameters of password hashing.
    pub hashing: HashingConfig,
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
