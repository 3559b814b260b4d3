//! Operators: accounts with a grant, which may sign in to the console. Roles, the acts that each role permits, and the
//! rules that protect the accounts of operators.

use std::time::Duration;

use crate::time::Timestamp;
use crate::user::{User, UserId};
use crate::words;

mod act;
mod address;
mod party;

pub use act::Act;
pub use address::{AddressGrant, AddressGrantId};
pub use party::{ActingOperator, Party};

/// Maximum age of the proof of a factor for the acts that need a recent one ([`Act::needs_recent_factor`]).
pub const RECENT_FACTOR: Duration = Duration::from_mins(10);

/// Lifetime of an activation link.
pub const ACTIVATION_LIFETIME: Duration = Duration::from_mins(30);

words! {
    /// Role of an operator. A later role may do all that an earlier one may.
    pub enum Role {
        /// Reads.
        Viewer = "viewer",
        /// Answers users: ends sessions, sends mails again, bans.
        Support = "support",
        /// Changes and deletes accounts.
        Admin = "admin",
        /// Manages operators, settings, keys and providers.
        Owner = "owner",
    }
}

impl Role {
    /// True if an operator with this role may do the act.
    #[must_use]
    pub fn may(self, act: Act) -> bool {
        self >= act.least_role()
    }

    /// True if an operator with this role may give another account the role `target`. Only owners manage roles; no other
    /// operator could raise anybody to its own role or above it.
    #[must_use]
    pub fn may_grant(self, target: Self) -> bool {
        self.may(Act::ManageOperators) && (self == Self::Owner || target < self)
    }
}

/// Grant of an account: its role, and whether it is active. A grant sleeps until its activation link is used, and again
/// when the account loses its second factors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Role of the operator.
    pub role: Role,
    /// Operator who gave the role; `None` for the command line.
    pub granted_by: Option<UserId>,
    /// Time at which the role was given.
    pub granted_at: Timestamp,
    /// Time of the activation; `None` while the grant sleeps.
    pub activated_at: Option<Timestamp>,
    /// Expiry of the unused activation link; `None` if there is none.
    pub activation_expires_at: Option<Timestamp>,
}

/// An operator: an account with its grant.
#[derive(Debug, Clone, PartialEq)]
pub struct Operator {
    /// User of the account.
    pub user: User,
    /// Grant of the account.
    pub grant: Grant,
}

impl Operator {
    /// Returns what the rules about the last owner depend on.
    #[must_use]
    pub fn standing(&self) -> Standing {
        let user = &self.user;
        let can_enter = self.grant.activated_at.is_some() && may_be_operator(user).is_ok();
        Standing { user_id: user.id, role: self.grant.role, can_enter }
    }

    /// Returns whether the operator may enter the console, and if not, why.
    #[must_use]
    pub const fn state(&self) -> OperatorState {
        match may_be_operator(&self.user) {
            Err(Ineligible::Banned) => OperatorState::Banned,
            Err(Ineligible::InDeletion) => OperatorState::Deletion,
            Err(Ineligible::Unverified) => OperatorState::Unverified,
            Ok(()) if self.grant.activated_at.is_some() => OperatorState::Active,
            Ok(()) => OperatorState::Asleep,
        }
    }
}

words! {
    /// State of an operator.
    pub enum OperatorState {
        /// The grant is active.
        Active = "active",
        /// The grant waits for its activation, or fell asleep when factors were removed.
        Asleep = "asleep",
        /// The account is banned.
        Banned = "banned",
        /// The owner of the account deleted it.
        Deletion = "deletion",
        /// The address of the account is not verified.
        Unverified = "unverified",
    }
}

/// A grant for an address, and the account that has the address by now.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitingGrant {
    /// The grant.
    pub of: AddressGrant,
    /// The account, which gets the grant when its owner signs in by the activation link. A sign-up that was never verified
    /// is none.
    pub account: Option<User>,
}

/// Reason why an account cannot be an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Ineligible {
    /// The email address is not verified.
    #[error("the email address of the account is not verified")]
    Unverified,
    /// The account is banned.
    #[error("the account is banned")]
    Banned,
    /// The owner of the account deleted it.
    #[error("the account is in deletion")]
    InDeletion,
}

/// Decides whether an account can get a grant, and use it.
///
/// # Errors
/// The account is not verified, is banned, or is in deletion.
pub const fn may_be_operator(user: &User) -> Result<(), Ineligible> {
    if !user.email_verified {
        return Err(Ineligible::Unverified);
    }
    if user.is_banned() {
        return Err(Ineligible::Banned);
    }
    if user.is_in_deletion() { Err(Ineligible::InDeletion) } else { Ok(()) }
}

/// What the rules about the last owner depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// User of the account.
    pub user_id: UserId,
    /// Role of the operator.
    pub role: Role,
    /// True if the grant is active, and the account may use it.
    pub can_enter: bool,
}

/// Party that changes an account, as far as it matters for the accounts of operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// Accounts of operators are not changed at all: for admin keys, and for operators below owner.
    Operators,
    /// Accounts of operators are changed, but the last owner stays: for owners, for the command line, and for the account
    /// itself.
    LastOwner,
}

/// Effect of a change on the accounts concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The accounts stay what they are: operators keep their role and can still enter.
    Change,
    /// The accounts lose their role or can no longer enter: by ban, deletion, revocation, a lower role, an unverified address,
    /// or the loss of factors.
    Loss,
}

impl Effect {
    /// Returns the effect of grants that fall asleep. The command line may put even the last owner to sleep.
    #[must_use]
    pub const fn of_sleep(even_last_owner: bool) -> Self {
        if even_last_owner { Self::Change } else { Self::Loss }
    }
}

/// Reason why an account of an operator is not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperatorRefusal {
    /// An account concerned is an operator's.
    Protected,
    /// No owner would remain.
    LastOwner,
}

impl Protection {
    /// Decides whether accounts may be changed, given all operators.
    ///
    /// # Errors
    /// An account is protected, or the last owner would be lost. An owner who can enter is the last one unless another
    /// such owner remains; an owner who cannot enter is the last one unless any owner remains.
    pub fn judge(
        self,
        effect: Effect,
        accounts: &[UserId],
        operators: &[Standing],
    ) -> Result<(), OperatorRefusal> {
        let (concerned, others): (Vec<Standing>, Vec<Standing>) =
            operators.iter().partition(|operator| accounts.contains(&operator.user_id));
        if self == Self::Operators && !concerned.is_empty() {
            return Err(OperatorRefusal::Protected);
        }
        let replaces = |owner: &Standing, other: &Standing| {
            other.role == Role::Owner && (other.can_enter || !owner.can_enter)
        };
        let is_last = |owner: &Standing| {
            owner.role == Role::Owner && !others.iter().any(|other| replaces(owner, other))
        };
        if effect == Effect::Loss && concerned.iter().any(is_last) {
            return Err(OperatorRefusal::LastOwner);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
