//! Attempts at codes of one account and purpose within an hour, across resends. The verdict on one code lives in
//! [`crate::codes`].

use std::time::Duration;

use crate::stored_time::is_from_ahead;
use crate::time::Timestamp;

/// How long attempts count, from the first one on.
pub const CODE_WINDOW: Duration = Duration::from_hours(1);

/// Attempts in a fixed window that begins with the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CodeWindow {
    /// How many.
    pub attempts: u32,
    /// When the first one was.
    pub since: Timestamp,
}

impl CodeWindow {
    /// Attempts that still count at `now`.
    #[must_use]
    pub fn attempts_at(self, now: Timestamp) -> u32 {
        let counts = now < self.ends_at() && !is_from_ahead(self.ends_at(), CODE_WINDOW, now);
        if counts { self.attempts } else { 0 }
    }

    /// The window after one more attempt.
    #[must_use]
    pub fn and_one_more(self, now: Timestamp) -> Self {
        match self.attempts_at(now) {
            0 => Self { attempts: 1, since: now },
            attempts => Self { attempts: attempts.saturating_add(1), since: self.since },
        }
    }

    /// When it counts no more.
    #[must_use]
    pub fn ends_at(self) -> Timestamp {
        self.since.plus(CODE_WINDOW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored_time::CLOCK_SKEW;

    #[test]
    fn the_window_is_fixed_from_its_first_attempt() {
        let first = CodeWindow::default().and_one_more(Timestamp::from_millis(5_000_000_000));
        let later = first.and_one_more(first.since.plus(CODE_WINDOW).minus(Duration::from_millis(1)));
        assert_eq!((later.attempts, later.since), (2, first.since));
        assert_eq!(later.attempts_at(first.ends_at()), 0);
        assert_eq!(later.and_one_more(first.ends_at()), CodeWindow { attempts: 1, since: first.ends_at() });
    }

    #[test]
    fn a_window_from_before_a_step_back_of_the_clock_counts_no_more() {
        let spent = CodeWindow { attempts: 10, since: Timestamp::from_millis(9_000_000_000) };
        assert_eq!(spent.attempts_at(spent.since.minus(CLOCK_SKEW)), 10);
        assert_eq!(spent.attempts_at(spent.since.minus(CODE_WINDOW)), 0);
    }
}
