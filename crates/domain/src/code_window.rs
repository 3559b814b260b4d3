//! Counters of wrong attempts at six-digit codes, per account and purpose, and separately for two groups of clients
//! ([`Lane`]). A resent code does not reset them. The decision on a single attempt is in [`crate::codes`].

use std::time::Duration;

use crate::codes::CodeBudget;
use crate::stored_time::is_implausible;
use crate::time::Timestamp;

/// Length of the window in which [`CodeBudget::per_hour`](crate::codes::CodeBudget::per_hour) limits wrong attempts.
pub const CODE_WINDOW: Duration = Duration::from_hours(1);
/// Length of the window in which [`CodeBudget::per_day`](crate::codes::CodeBudget::per_day) limits wrong attempts.
pub const CODE_DAY: Duration = Duration::from_hours(24);

/// A group of clients with its own counters of wrong codes, for each account. Strangers therefore cannot use up the
/// attempts of the clients from which the owner signs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Clients in networks from which the account signed in lately.
    Known,
    /// Clients in all other networks.
    Other,
}

impl Lane {
    /// Both groups of clients.
    pub const ALL: [Self; 2] = [Self::Known, Self::Other];

    /// Returns [`Self::Known`] for a client that is known to the account, otherwise [`Self::Other`].
    #[must_use]
    pub const fn of(is_known_client: bool) -> Self {
        if is_known_client { Self::Known } else { Self::Other }
    }

    /// Returns the number that represents the group in the database.
    #[must_use]
    pub const fn as_number(self) -> i64 {
        match self {
            Self::Known => 0,
            Self::Other => 1,
        }
    }

    /// Parses the number that represents a group in the database; `None` if unknown.
    #[must_use]
    pub fn from_stored(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|lane| lane.as_number() == number)
    }
}

/// Counter of attempts in a fixed window. The window starts with the first attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CodeWindow {
    /// Number of attempts in the window.
    pub attempts: u32,
    /// Start of the window: time of its first attempt.
    pub since: Timestamp,
}

impl CodeWindow {
    /// Returns the number of attempts if the window of this length includes `now`, otherwise 0.
    #[must_use]
    pub fn attempts_at(self, length: Duration, now: Timestamp) -> u32 {
        let ends_at = self.since.plus(length);
        let counts = now < ends_at && !is_implausible(ends_at, length, now);
        if counts { self.attempts } else { 0 }
    }

    /// Returns the counter after one more attempt. If the window has ended, a new one starts.
    #[must_use]
    pub fn incremented(self, length: Duration, now: Timestamp) -> Self {
        match self.attempts_at(length, now) {
            0 => Self { attempts: 1, since: now },
            attempts => Self { attempts: attempts.saturating_add(1), since: self.since },
        }
    }
}

/// Counters of wrong attempts by one group of clients ([`Lane`]), at the codes of an account and purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LaneAttempts {
    /// Counter for the limit per hour.
    pub hour: CodeWindow,
    /// Counter for the limit per day.
    pub day: CodeWindow,
}

impl LaneAttempts {
    /// Returns both counters after one more wrong attempt.
    #[must_use]
    pub fn incremented(self, now: Timestamp) -> Self {
        Self { hour: self.hour.incremented(CODE_WINDOW, now), day: self.day.incremented(CODE_DAY, now) }
    }

    /// True if these clients have reached the limit of wrong attempts per day. New codes for them then have sixteen
    /// characters.
    #[must_use]
    pub fn is_daily_budget_used(self, budget: CodeBudget, now: Timestamp) -> bool {
        self.day.attempts_at(CODE_DAY, now) >= budget.per_day
    }

    /// True if six-digit codes from these clients are refused, because they have reached the limit of wrong attempts
    /// per hour or day.
    #[must_use]
    pub fn is_used_up(self, budget: CodeBudget, now: Timestamp) -> bool {
        self.hour.attempts_at(CODE_WINDOW, now) >= budget.per_hour || self.is_daily_budget_used(budget, now)
    }

    /// Returns the end of the later of the two windows. The counters can be deleted then.
    #[must_use]
    pub fn ends_at(self) -> Timestamp {
        self.hour.since.plus(CODE_WINDOW).max(self.day.since.plus(CODE_DAY))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::stored_time::CLOCK_SKEW;

    const BUDGET: CodeBudget = CodeBudget { per_code: 5, per_hour: 10, per_day: 30 };
    const MOMENT: Duration = Duration::from_millis(1);

    fn wrong(mut made: LaneAttempts, times: u32, now: Timestamp) -> LaneAttempts {
        for _ in 0..times {
            made = made.incremented(now);
        }
        made
    }

    #[test]
    fn a_window_is_fixed_from_its_first_attempt() {
        for length in [CODE_WINDOW, CODE_DAY] {
            let first = CodeWindow::default().incremented(length, Timestamp::from_millis(5_000_000_000));
            let end = first.since.plus(length);
            let later = first.incremented(length, end.minus(MOMENT));
            assert_eq!((later.attempts, later.since), (2, first.since));
            assert_eq!(later.attempts_at(length, end), 0);
            assert_eq!(later.incremented(length, end), CodeWindow { attempts: 1, since: end });
        }
    }

    #[test]
    fn a_window_from_before_a_step_back_of_the_clock_counts_no_more() {
        for length in [CODE_WINDOW, CODE_DAY] {
            let spent = CodeWindow { attempts: 10, since: Timestamp::from_millis(9_000_000_000) };
            assert_eq!(spent.attempts_at(length, spent.since.minus(CLOCK_SKEW)), 10);
            assert_eq!(spent.attempts_at(length, spent.since.minus(length)), 0);
        }
    }

    #[test]
    fn a_lane_is_used_up_for_the_hour_and_then_for_the_day() {
        let mut now = Timestamp::from_millis(9_000_000_000);
        let mut made = LaneAttempts::default();
        for hour in 1..=3 {
            made = wrong(made, 9, now);
            assert!(!made.is_used_up(BUDGET, now), "hour {hour}");
            made = wrong(made, 1, now);
            assert!(made.is_used_up(BUDGET, now), "hour {hour}");
            assert_eq!(made.is_daily_budget_used(BUDGET, now), hour == 3);
            now = now.plus(CODE_WINDOW);
        }
        assert!(made.is_used_up(BUDGET, now), "the number of the day holds beyond the hour");
        let end = made.day.since.plus(CODE_DAY);
        assert!(made.is_daily_budget_used(BUDGET, end.minus(MOMENT)));
        assert!(!made.is_used_up(BUDGET, end));
    }

    #[test]
    fn attempts_are_kept_until_neither_window_counts() {
        let start = Timestamp::from_millis(9_000_000_000);
        let late = start.plus(CODE_DAY).minus(MOMENT);
        let made = wrong(wrong(LaneAttempts::default(), 1, start), 1, late);
        assert_eq!(made.ends_at(), late.plus(CODE_WINDOW));
        assert_eq!(wrong(LaneAttempts::default(), 1, start).ends_at(), start.plus(CODE_DAY));
    }

    #[test]
    fn lanes_are_kept_by_number() {
        for lane in Lane::ALL {
            assert_eq!(Lane::from_stored(lane.as_number()).unwrap(), lane);
        }
        assert_eq!(Lane::from_stored(2), None);
    }
}
