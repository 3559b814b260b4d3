//! Undo links. A mail reports a change of an account that an attacker may have made, and its link lets the owner of the
//! mailbox reverse the change for a limited time. The owner of the mailbox gains no power by it: before the change,
//! control of the mailbox permitted the same.

use std::time::Duration;

use crate::time::Timestamp;
use crate::words;

/// Period before the reversed change. Credentials added in it are removed too, because the attacker may have added
/// them.
pub const UNDONE_BEFORE: Duration = Duration::from_hours(24);

words! {
    /// Change of an account that an undo link reverses. The string is its name in the database and in the audit log.
    pub enum UndoableEvent {
        /// Two-step sign-in was turned on.
        TwoStepOn = "two_step_on",
        /// A passkey was added while two-step sign-in was off.
        PasskeyAdded = "passkey_added",
        /// The owner of the account changed the email address.
        EmailChanged = "email_changed",
        /// The owner deleted the account.
        DeletionScheduled = "deletion_scheduled",
    }
}

/// Facts that determine the effects of an undo link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndoFacts {
    /// Time of the change.
    pub happened_at: Timestamp,
    /// True if two-step sign-in was on before the change.
    pub had_two_step: bool,
    /// Time at which two-step sign-in was turned on; `None` if it is off.
    pub two_step_since: Option<Timestamp>,
}

impl UndoFacts {
    /// Returns the time since which factors and identities were added that the undo removes.
    #[must_use]
    pub fn removes_since(&self) -> Timestamp {
        self.happened_at.minus(UNDONE_BEFORE)
    }

    /// True if the undo link turns two-step sign-in off.
    #[must_use]
    pub fn turns_two_step_off(&self) -> bool {
        self.two_step_since.is_some_and(|since| since >= self.removes_since())
    }

    /// True if the undo link requires a second factor: two-step sign-in was on before the change, still is, and this
    /// undo does not turn it off. In all other cases the factor could be the attacker's.
    #[must_use]
    pub fn needs_second_factor(&self) -> bool {
        self.had_two_step && self.two_step_since.is_some() && !self.turns_two_step_off()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: i64) -> Timestamp {
        Timestamp::from_millis(hours * 3_600_000)
    }

    #[test]
    fn two_step_turned_on_by_the_event_goes_without_a_second_factor() {
        let facts = UndoFacts { happened_at: at(100), had_two_step: false, two_step_since: Some(at(100)) };
        assert!(facts.turns_two_step_off());
        assert!(!facts.needs_second_factor());
        assert_eq!(facts.removes_since(), at(76));
    }

    #[test]
    fn two_step_from_long_before_the_event_stays_and_is_asked_for() {
        let facts = UndoFacts { happened_at: at(100), had_two_step: true, two_step_since: Some(at(10)) };
        assert!(!facts.turns_two_step_off());
        assert!(facts.needs_second_factor());
        let off_meanwhile = UndoFacts { two_step_since: None, ..facts };
        assert!(!off_meanwhile.needs_second_factor());
    }

    #[test]
    fn two_step_of_the_day_before_or_turned_on_again_is_not_asked_for() {
        for since in [76, 99, 101] {
            let facts =
                UndoFacts { happened_at: at(100), had_two_step: true, two_step_since: Some(at(since)) };
            assert!(facts.turns_two_step_off() && !facts.needs_second_factor(), "{since}");
        }
    }
}
