//! Effects of email verification on an account. Codes and link tokens are in [`crate::codes`] and
//! [`crate::tokens`].
//!
//! The rules defend against account pre-hijacking: an attacker signs up with somebody else's address and
//! keeps access until the owner verifies it.

use std::time::Duration;

use crate::codes::Purpose;

/// Lifetime of the cookie that binds a browser to the account that it signed up.
pub const SIGN_UP_COOKIE_LIFETIME: Duration = Duration::from_hours(24);

/// Means by which control of the mailbox was proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verification {
    /// A verification code that was entered.
    Code(VerifiedFrom),
    /// A verification link. Mail scanners open links, too.
    Link(VerifiedFrom),
    /// A password reset.
    Reset,
    /// An identity provider that verified the address, at the first sign-in with the identity.
    Provider,
    /// An admin who vouches for the address.
    Vouched,
}

/// Relation of the verifying client to the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerifiedFrom {
    /// A live session of the account, or the browser that signed it up.
    Inside,
    /// Any other client.
    Outside,
}

/// Facts about an account that decide on the effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct AccountFacts {
    /// Any email address of the account was ever verified.
    pub was_ever_verified: bool,
    /// Never verified, and never had a session.
    pub is_pending: bool,
    /// Pending, with several sign-ups: none of its data is known to be the owner's.
    pub is_contested: bool,
    /// Has a password or an identity, so an attacker may have had access.
    pub has_credentials: bool,
    /// Has a password that is not known to come from the mailbox's owner.
    pub has_unproven_password: bool,
}

/// Effects of a verification, besides a verified address and an account that is no longer pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct VerificationEffects {
    /// Revokes outstanding codes and link tokens of all purposes.
    pub revokes_codes: bool,
    /// Removes the password.
    pub drops_password: bool,
    /// Marks the password as the owner's.
    pub proves_password: bool,
    /// Clears the public text of the profile ([`crate::profile::Profile::without_public_text`]).
    pub clears_public_text: bool,
    /// Unlinks all identities.
    pub removes_identities: bool,
    /// Revokes all sessions.
    pub ends_sessions: bool,
}

impl AccountFacts {
    /// True if an attacker may have access until the owner resets the password or signs in through a
    /// provider.
    #[must_use]
    pub const fn may_be_hijacked(self) -> bool {
        self.has_unproven_password || (!self.was_ever_verified && self.has_credentials)
    }

    /// True if the page of a verification link asks for confirmation because data would be removed. A pending
    /// account is verified at once.
    #[must_use]
    pub const fn needs_confirmation(self, from: VerifiedFrom) -> bool {
        !self.is_pending && matches!(from, VerifiedFrom::Outside) && self.loses_by_verification(from)
    }

    const fn loses_by_verification(self, from: VerifiedFrom) -> bool {
        let is_first = !self.was_ever_verified && self.has_credentials && !self.is_pending;
        self.is_contested || (is_first && matches!(from, VerifiedFrom::Outside))
    }
}

impl VerificationEffects {
    /// Effects on an account. The first verification removes everything that was added before, unless it
    /// comes from inside the account. A pending account was never entered and keeps its password, unless it
    /// is contested.
    #[must_use]
    pub const fn of(verification: Verification, account: AccountFacts) -> Self {
        match verification {
            Verification::Code(from) | Verification::Link(from) => Self {
                revokes_codes: !account.was_ever_verified && !account.is_pending,
                proves_password: matches!(verification, Verification::Code(_))
                    || matches!(from, VerifiedFrom::Inside),
                ..Self::removing(account.loses_by_verification(from))
            },
            Verification::Reset => Self {
                revokes_codes: true,
                drops_password: false, // it is replaced
                ends_sessions: true,
                ..Self::removing(account.may_be_hijacked())
            },
            Verification::Provider => {
                Self { revokes_codes: true, ..Self::removing(account.may_be_hijacked()) }
            }
            Verification::Vouched => Self { proves_password: true, ..Self::removing(account.is_contested) },
        }
    }

    const fn removing(is_removed: bool) -> Self {
        Self {
            revokes_codes: false,
            drops_password: is_removed,
            proves_password: false,
            clears_public_text: is_removed,
            removes_identities: is_removed,
            ends_sessions: is_removed,
        }
    }
}

/// True if an email code may be sent: verification only for unverified accounts, nothing for banned ones.
#[must_use]
pub const fn may_receive_code(purpose: Purpose, is_verified: bool, is_banned: bool) -> bool {
    match purpose {
        Purpose::VerifyEmail => !is_verified && !is_banned,
        Purpose::ResetPassword => !is_banned,
    }
}

#[cfg(test)]
mod tests;
