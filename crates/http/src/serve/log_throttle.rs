//! Throttled log lines, so that a flood of requests does not flood the log.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Minimum time between two log lines.
const PAUSE: Duration = Duration::from_mins(1);

/// Limits a log line to one a minute, and counts the events in between.
#[derive(Debug, Default)]
pub(super) struct LogThrottle(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: Option<Instant>,
    unsaid: u64,
}

impl LogThrottle {
    /// Counts an event. Returns the number of events since the last log line if another line is due, else `None`.
    pub(super) fn count(&self, now: Instant) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.unsaid += 1;
        if state.last.is_some_and(|last| now.saturating_duration_since(last) < PAUSE) {
            return None;
        }
        state.last = Some(now);
        Some(std::mem::take(&mut state.unsaid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_event_is_told_and_the_others_are_summed_up_a_minute_later() {
        let (throttle, start) = (LogThrottle::default(), Instant::now());

        let told: Vec<_> = [0, 1, 59, 60, 61].map(|s| throttle.count(start + Duration::from_secs(s))).into();

        assert_eq!(told, [Some(1), None, None, Some(3), None]);
    }
}
