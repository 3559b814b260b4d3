//! Change of an account's email address by its owner, who enters codes mailed to the new address and, if needed, to the
//! current one.

use crate::codes::Purpose;
use crate::email::Email;
use crate::id::id;
use crate::session::SessionId;
use crate::time::Timestamp;
use crate::words;

id! {
    /// Id of a change of address. The mailed codes are valid for this change only.
    EmailChangeId, "The id of the change. The codes of its mails are good with it alone."
}

words! {
    /// One of the two addresses of a change, which a mailed code proves. The string is its name in the API.
    pub enum Side {
        /// The new address.
        New = "new",
        /// The current address of the account.
        Current = "current",
    }
}

impl Side {
    /// Returns the purpose of the codes that are mailed to this address.
    #[must_use]
    pub const fn purpose(self) -> Purpose {
        match self {
            Self::New => Purpose::EmailChangeNew,
            Self::Current => Purpose::EmailChangeCurrent,
        }
    }
}

/// A change of address that is not completed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmailChange {
    /// Id of the change.
    pub id: EmailChangeId,
    /// Session that began the change and alone may confirm it; `None` if an earlier release wrote the change.
    pub session_id: Option<SessionId>,
    /// New address, as typed.
    pub new_email: Email,
    /// True if the change must prove the current address too.
    pub needs_current: bool,
    /// True if a right code for the new address was entered.
    pub is_new_proven: bool,
    /// True if a right code for the current address was entered.
    pub is_current_proven: bool,
    /// Expiry of the change and its codes, exclusive.
    pub expires_at: Timestamp,
}

impl EmailChange {
    /// Returns the addresses that are proven.
    #[must_use]
    pub fn proven(&self) -> Vec<Side> {
        self.sides(true)
    }

    /// Returns the addresses that must be proven but are not yet.
    #[must_use]
    pub fn needs(&self) -> Vec<Side> {
        self.sides(false)
    }

    /// Marks an address as proven.
    pub const fn prove(&mut self, side: Side) {
        match side {
            Side::New => self.is_new_proven = true,
            Side::Current => self.is_current_proven = true,
        }
    }

    fn sides(&self, is_proven: bool) -> Vec<Side> {
        let is_one = |side: &Side| match side {
            Side::New => self.is_new_proven == is_proven,
            Side::Current => self.needs_current && self.is_current_proven == is_proven,
        };
        Side::ALL.iter().copied().filter(is_one).collect()
    }
}

/// True if a change must prove the current address too. An unverified address proves nothing. With two-step sign-in on,
/// the second factor that was shown to begin the change is enough, because the user may no longer have the current
/// mailbox.
#[must_use]
pub const fn needs_current_address(is_verified: bool, has_two_step: bool) -> bool {
    is_verified && !has_two_step
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(needs_current: bool) -> EmailChange {
        EmailChange {
            id: EmailChangeId::new(Timestamp::from_millis(1), [1; 10]),
            session_id: None,
            new_email: Email::from_stored("ada@new.example").unwrap(),
            needs_current,
            is_new_proven: false,
            is_current_proven: false,
            expires_at: Timestamp::from_millis(2),
        }
    }

    #[test]
    fn both_sides_are_needed_until_each_is_proven() {
        let mut change = change(true);
        assert_eq!((change.needs(), change.proven()), (vec![Side::New, Side::Current], vec![]));
        change.prove(Side::Current);
        assert_eq!((change.needs(), change.proven()), (vec![Side::New], vec![Side::Current]));
        change.prove(Side::New);
        assert_eq!((change.needs(), change.proven()), (vec![], vec![Side::New, Side::Current]));
    }

    #[test]
    fn current_address_is_needed_where_it_is_verified_and_no_second_factor_stands_for_it() {
        assert!(needs_current_address(true, false));
        assert!(!needs_current_address(false, false) && !needs_current_address(true, true));
        let mut alone = change(false);
        assert_eq!(alone.needs(), [Side::New]);
        alone.prove(Side::New);
        assert_eq!((alone.needs(), alone.proven()), (vec![], vec![Side::New]));
    }
}
