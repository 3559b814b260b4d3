//! Who may prove a mailbox, and what the proof does to the account. How it is proven (codes, links) lives in
//! [`crate::codes`] and [`crate::tokens`].

use std::time::Duration;

use crate::codes::Purpose;

/// The time for which a browser is known to have signed up.
pub const SIGN_UP_REMEMBERED: Duration = Duration::from_hours(24);

/// How a mailbox was proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// By a verification code that was typed.
    Code(Side),
    /// By a verification link. Mail scanners open links too.
    Link(Side),
    /// By a password reset.
    Reset,
    /// By an identity provider that says it proved the address, at the first sign-in with that identity.
    Provider,
    /// By an admin, who vouches for the address.
    Vouched,
}

/// The side of an account from which its mailbox is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// A live session of that very account, or the browser that signed up.
    Inside,
    /// Anybody else.
    Outside,
}

/// An account as far as a proof of its mailbox is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Standing {
    /// Any mailbox of it was ever proven.
    pub was_ever_verified: bool,
    /// It never had a session and is not verified.
    pub is_pending: bool,
    /// Nothing in it is known to be its owner's.
    pub is_contested: bool,
    /// It has a password or an identity: somebody can have been inside.
    pub has_a_way_in: bool,
    /// It has a password that is not known to come from the mailbox's owner.
    pub has_unproven_password: bool,
}

/// What a proof does to the account, besides making its address proven and the account no longer pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct ProofEffects {
    /// Outstanding codes and tokens of all purposes go.
    pub ends_challenges: bool,
    /// The password given so far goes.
    pub drops_password: bool,
    /// The password given so far is its owner's.
    pub proves_password: bool,
    /// The profile's public text goes ([`crate::profile::Profile::without_public_text`]).
    pub clears_public_text: bool,
    /// Linked identities go.
    pub removes_identities: bool,
    /// Sessions opened so far end.
    pub ends_sessions: bool,
}

impl Standing {
    /// Whether somebody else may be inside until the owner comes by reset or through a provider.
    #[must_use]
    pub const fn may_be_squatted(self) -> bool {
        self.has_unproven_password || (!self.was_ever_verified && self.has_a_way_in)
    }

    /// Whether a verification link that is opened from this side asks before it verifies: something would go. A pending
    /// account is verified at once.
    #[must_use]
    pub const fn asks_before(self, side: Side) -> bool {
        !self.is_pending && matches!(side, Side::Outside) && self.loses_by_verification(side)
    }

    const fn loses_by_verification(self, side: Side) -> bool {
        let is_first = !self.was_ever_verified && self.has_a_way_in && !self.is_pending;
        self.is_contested || (is_first && matches!(side, Side::Outside))
    }
}

impl ProofEffects {
    /// The effects on an account. Nobody may wait inside an account until its owner proves the mailbox: the first proof
    /// leaves nothing that was put there before, unless it comes from inside the account itself. A pending account was
    /// never entered and keeps its password, unless it is contested.
    #[must_use]
    pub const fn of(proof: Proof, account: Standing) -> Self {
        match proof {
            Proof::Code(side) | Proof::Link(side) => Self {
                ends_challenges: !account.was_ever_verified && !account.is_pending,
                proves_password: matches!(proof, Proof::Code(_)) || matches!(side, Side::Inside),
                ..Self::removing(account.loses_by_verification(side))
            },
            Proof::Reset => Self {
                ends_challenges: true,
                drops_password: false, // it is replaced
                ends_sessions: true,
                ..Self::removing(account.may_be_squatted())
            },
            Proof::Provider => Self { ends_challenges: true, ..Self::removing(account.may_be_squatted()) },
            Proof::Vouched => Self { proves_password: true, ..Self::removing(account.is_contested) },
        }
    }

    const fn removing(is_removed: bool) -> Self {
        Self {
            ends_challenges: false,
            drops_password: is_removed,
            proves_password: false,
            clears_public_text: is_removed,
            removes_identities: is_removed,
            ends_sessions: is_removed,
        }
    }
}

/// Whether an account may have a challenge: verification is for unverified accounts, neither is for banned ones.
#[must_use]
pub const fn may_be_challenged(purpose: Purpose, is_verified: bool, is_banned: bool) -> bool {
    match purpose {
        Purpose::VerifyEmail => !is_verified && !is_banned,
        Purpose::ResetPassword => !is_banned,
    }
}

#[cfg(test)]
mod tests;
