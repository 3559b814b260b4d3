//! Effects of email verification on an account. Codes are in [`crate::codes`], link tokens in [`crate::tokens`].
//!
//! The rules prevent account pre-hijacking: an attacker signs up with the victim's address, and keeps access to the
//! account after the victim verifies it.

use std::time::Duration;

use crate::codes::Purpose;

/// Lifetime of the sign-up cookie. The cookie shows that an account was signed up in this browser.
pub const SIGN_UP_COOKIE_LIFETIME: Duration = Duration::from_hours(24);

/// Way in which control of the mailbox was proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verification {
    /// A verification code was entered.
    Code(VerifiedFrom),
    /// A verification link was opened. This proves less than a code, because mail scanners open links too.
    Link(VerifiedFrom),
    /// A password was reset with a mailed code or link.
    Reset,
    /// A provider verified the address, and the identity signed in for the first time.
    Provider,
    /// A mailed code or link for sign-in was used.
    SignIn,
    /// An admin marked the address as verified.
    Vouched,
    /// The owner of the account, signed in, changed the address and entered a code mailed to the new one.
    NewAddress,
}

/// Relation of the client that verifies an address to the account of the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerifiedFrom {
    /// The client has a live session of the account, or the cookie of its sign-up.
    Inside,
    /// The client has neither a live session of the account nor the cookie of its sign-up.
    Outside,
}

/// Facts about an account that determine the effects of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct AccountFacts {
    /// True if any email address of the account was ever verified.
    pub was_ever_verified: bool,
    /// True if a sign-up created the account, and it was never verified and never had a session.
    pub is_pending: bool,
    /// True if no data in the account is known to be the mailbox owner's, because sign-ups had different passwords, or
    /// a provider created the account without verifying the address.
    pub is_contested: bool,
    /// True if the account has a password, an identity or a passkey, with which an attacker may have signed in.
    pub has_credentials: bool,
    /// True if the account has a password that is not known to come from the mailbox's owner.
    pub has_unproven_password: bool,
}

/// Effects of a verification. In all cases the address is verified afterwards and the account is not pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct VerificationEffects {
    /// True if outstanding codes and link tokens of all purposes are revoked.
    pub revokes_codes: bool,
    /// True if the account's password is removed.
    pub drops_password: bool,
    /// True if the password now counts as set by the mailbox's owner.
    pub proves_password: bool,
    /// True if the profile's public text is cleared ([`crate::profile::Profile::without_public_text`]).
    pub clears_public_text: bool,
    /// True if all identities are unlinked from the account.
    pub removes_identities: bool,
    /// True if all second factors and passkeys are removed and two-step sign-in is turned off.
    pub removes_factors: bool,
    /// True if all sessions of the account end.
    pub ends_sessions: bool,
    /// True if the devices that the account was used from are forgotten, and the next session counts as the first.
    pub forgets_devices: bool,
    /// True if the owner gets a mail about what was removed.
    pub is_notified: bool,
}

impl AccountFacts {
    /// True if an attacker may have access to the account. Only a password reset, a sign-in through a provider or a
    /// sign-in by mail then removes the attacker's credentials.
    #[must_use]
    pub const fn may_be_hijacked(self) -> bool {
        self.has_unproven_password || (!self.was_ever_verified && self.has_credentials)
    }

    /// True if a sign-in by mail also verifies the address of the account, with the effects of
    /// [`Verification::SignIn`]. If false, the sign-in changes nothing else in the account.
    #[must_use]
    pub const fn is_verified_by_sign_in(self, is_verified: bool) -> bool {
        !is_verified || self.may_be_hijacked()
    }

    /// True if a browser that opens a verification link must confirm first, because the verification would remove
    /// data. Pending accounts are verified without confirmation.
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
    /// Returns the effects of a verification on an account. The first verification removes everything that was added to
    /// the account before, unless the client belongs to the account ([`VerifiedFrom::Inside`]). A pending account never
    /// had a session, so it keeps its password, unless it is contested.
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
                drops_password: false, // the reset replaces it
                ends_sessions: true,
                // A pending account loses only its password, of which another mail tells.
                is_notified: account.may_be_hijacked() && !account.is_pending,
                ..Self::removing(account.may_be_hijacked())
            },
            Verification::Provider | Verification::SignIn => {
                Self { revokes_codes: true, ..Self::removing(account.may_be_hijacked()) }
            }
            // Only the caller can have signed in by the new address so far.
            Verification::NewAddress => {
                Self { revokes_codes: true, proves_password: true, ..Self::removing(false) }
            }
            Verification::Vouched => Self {
                proves_password: true,
                is_notified: false, // the mailbox was not proved
                ..Self::removing(account.is_contested)
            },
        }
    }

    const fn removing(is_removed: bool) -> Self {
        Self {
            revokes_codes: false,
            drops_password: is_removed,
            proves_password: false,
            clears_public_text: is_removed,
            removes_identities: is_removed,
            removes_factors: is_removed,
            ends_sessions: is_removed,
            forgets_devices: is_removed,
            is_notified: is_removed,
        }
    }
}

/// True if an email code may be sent to the owner of an account: for verification to unverified accounts only, for
/// reauthentication to verified ones only, and never to banned ones.
#[must_use]
pub const fn may_receive_code(purpose: Purpose, is_verified: bool, is_banned: bool) -> bool {
    match purpose {
        Purpose::VerifyEmail => !is_verified && !is_banned,
        Purpose::ResetPassword | Purpose::SignIn => !is_banned,
        Purpose::Reauthenticate => is_verified && !is_banned,
        // These codes are mailed at the beginning of a change of address, which has rules of its own.
        Purpose::EmailChangeNew | Purpose::EmailChangeCurrent => false,
    }
}

#[cfg(test)]
mod tests;
