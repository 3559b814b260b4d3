//! Obstacles: reasons why a user cannot sign in, or not as usual.

use crate::account_limits::HeldLimit;
use crate::challenge::SecondFactorPolicy;
use crate::code_window::Lane;
use crate::sign_in_offer::SignInOffer;
use crate::time::Timestamp;
use crate::user::User;

/// A reason why a user cannot sign in, or not as usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// The account is banned.
    Banned {
        /// Time of the ban.
        since: Timestamp,
    },
    /// The account has no password, no usable passkey and no linked identity of a provider in force, and sign-in by mail
    /// is off. A password reset by mail gives it a password.
    NoWay,
    /// The address is not verified, and the service requires it.
    Unverified {
        /// Time since which the account has this address.
        since: Timestamp,
        /// Fate of the last mail by which the address can be verified; `None` if none is stored.
        mail: Option<VerificationMail>,
        /// True if sign-in by mail is on, which verifies the address.
        by_mail: bool,
    },
    /// Two-step sign-in is on, and the account has no second factor that it could show.
    NoFactor,
    /// The owner deleted the account. A sign-in restores it.
    Deletion {
        /// Time from which the account is deleted for good.
        until: Timestamp,
    },
    /// The service requires two-step sign-in, and the account does not have it: the next sign-in leads to the enrolment
    /// of a second factor.
    MustEnroll,
    /// A limit refuses a step of a sign-in.
    Limited {
        /// The limit.
        held: HeldLimit,
        /// True if the limits of the account leave no way open to any client.
        is_closed: bool,
    },
}

impl Obstacle {
    /// Names of all obstacles in the API, the weightiest first.
    pub const NAMES: [&str; 7] =
        ["banned", "no_way", "unverified", "no_factor", "deletion", "must_enroll", "limited"];

    /// Returns the name in the API.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Banned { .. } => Self::NAMES[0],
            Self::NoWay => Self::NAMES[1],
            Self::Unverified { .. } => Self::NAMES[2],
            Self::NoFactor => Self::NAMES[3],
            Self::Deletion { .. } => Self::NAMES[4],
            Self::MustEnroll => Self::NAMES[5],
            Self::Limited { .. } => Self::NAMES[6],
        }
    }

    /// True if no sign-in is possible. The other obstacles delay a sign-in, add a step to it, or concern some clients.
    #[must_use]
    pub const fn is_blocking(&self) -> bool {
        match self {
            Self::Banned { .. } | Self::NoWay | Self::NoFactor => true,
            Self::Unverified { by_mail, .. } => !*by_mail,
            Self::Limited { is_closed, .. } => *is_closed,
            Self::Deletion { .. } | Self::MustEnroll => false,
        }
    }
}

/// Fate of the last mail by which an address can be verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerificationMail {
    /// The mail waits for its delivery, possibly after failed attempts.
    Queued {
        /// Time at which it was written.
        since: Timestamp,
    },
    /// The mail server accepted the mail.
    Sent {
        /// Time of the delivery.
        at: Timestamp,
    },
    /// The mail was given up.
    Dead {
        /// Time of the last attempt.
        at: Timestamp,
    },
}

/// What is known about an account and the service's rules for sign-ins.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct SignInFacts<'a> {
    /// User of the account.
    pub user: &'a User,
    /// True if the account must be verified before it signs in.
    pub must_verify: bool,
    /// Methods of sign-in that the service offers.
    pub offer: &'a SignInOffer,
    /// Policy for second factors.
    pub policy: SecondFactorPolicy,
    /// True if the account has an authenticator app or an unused recovery code.
    pub has_code_factor: bool,
    /// Time since which the account has its address.
    pub address_since: Timestamp,
    /// Fate of the last mail by which the address can be verified.
    pub last_mail: Option<VerificationMail>,
    /// Limits that hold for the account now. None spares known clients if the account has none.
    pub limits: &'a [HeldLimit],
    /// True if the account was mailed a code for a sign-in that has not expired: limits of mails do not close it.
    pub has_live_code: bool,
    /// True if mails for sign-ins have a link too, which no limit of codes refuses.
    pub by_link: bool,
}

impl SignInFacts<'_> {
    /// Returns the obstacles of the account, those that block every sign-in first; empty if it can sign in.
    #[must_use]
    pub fn obstacles(&self) -> Vec<Obstacle> {
        let user = self.user;
        let is_unverified = self.must_verify && !user.email_verified;
        let has_factor = self.has_code_factor || self.has_passkey();
        let is_required = self.policy == SecondFactorPolicy::Required;
        let found = [
            user.banned_at.map(|since| Obstacle::Banned { since }),
            (!self.has_way()).then_some(Obstacle::NoWay),
            is_unverified.then_some(Obstacle::Unverified {
                since: self.address_since,
                mail: self.last_mail,
                by_mail: self.offer.by_email,
            }),
            (user.has_two_step() && !has_factor).then_some(Obstacle::NoFactor),
            user.deletes_at.map(|until| Obstacle::Deletion { until }),
            (is_required && !user.has_two_step() && !self.has_passkey()).then_some(Obstacle::MustEnroll),
        ];
        let ways = self.ways();
        let is_closed = ways.are_closed(self);
        let met = self.limits.iter().filter(|held| ways.meet(held, is_closed));
        // A limit that refuses some networks alone closes nothing, even if others leave no way open.
        let closes = |held: &HeldLimit| is_closed && Lane::ALL.iter().any(|lane| held.refuses(*lane));
        let limits = met.map(|held| Obstacle::Limited { held: *held, is_closed: closes(held) });
        let mut all: Vec<_> = found.into_iter().flatten().chain(limits).collect();
        all.sort_by_key(|obstacle| !obstacle.is_blocking()); // keeps the order among those that block
        all
    }

    fn has_passkey(&self) -> bool {
        self.user.has_usable_passkey(self.offer.rp_id.as_ref())
    }

    fn has_way(&self) -> bool {
        let has_password = self.has_open_password();
        self.offer.by_email || self.offer.admits(&User { has_password, ..self.user.clone() })
    }

    /// True if the password opens the account. That of a contested account opens nothing until its owner has verified the
    /// address.
    const fn has_open_password(&self) -> bool {
        self.user.has_password && (self.must_verify || !self.user.is_contested)
    }
}

mod ways;

#[cfg(test)]
mod tests;
