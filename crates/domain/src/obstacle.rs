//! Obstacles: reasons why a user cannot sign in, or not as usual.

use crate::account_limits::HeldLimit;
use crate::challenge::SecondFactorPolicy;
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
    /// A limit refuses the password or the second factor from some clients.
    Limited(HeldLimit),
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
            Self::Limited(_) => Self::NAMES[6],
        }
    }

    /// True if no sign-in is possible. The other obstacles delay a sign-in, add a step to it, or concern some clients.
    #[must_use]
    pub const fn is_blocking(&self) -> bool {
        match self {
            Self::Banned { .. } | Self::NoWay | Self::NoFactor => true,
            Self::Unverified { by_mail, .. } => !*by_mail,
            Self::Deletion { .. } | Self::MustEnroll | Self::Limited(_) => false,
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
    /// Limits that hold for the account now.
    pub limits: &'a [HeldLimit],
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
        let limits = self.limits.iter().filter(|held| self.is_met(held)).map(|held| Obstacle::Limited(*held));
        found.into_iter().flatten().chain(limits).collect()
    }

    fn has_passkey(&self) -> bool {
        self.user.has_usable_passkey(self.offer.rp_id.as_ref())
    }

    fn has_way(&self) -> bool {
        // The password of a contested account opens nothing until its owner has verified the address.
        let has_password = self.user.has_password && (self.must_verify || !self.user.is_contested);
        self.offer.by_email || self.offer.admits(&User { has_password, ..self.user.clone() })
    }

    /// True if a sign-in of the account meets the limit.
    fn is_met(&self, held: &HeldLimit) -> bool {
        (held.is_of_passwords() && self.user.has_password)
            || (held.is_of_second_factors() && self.user.has_two_step())
    }
}

#[cfg(test)]
mod tests;
