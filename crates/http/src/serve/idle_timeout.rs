//! The idle timeout of connections. It closes connections of clients that never send a request, that only answer HTTP/2
//! pings, or that do not read their responses. The HTTP parser itself times out slow request heads and idle HTTP/1.1
//! connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of idle intervals after which a connection is closed, even if its graceful shutdown has not finished.
const MOST_IDLE: u32 = 6;

/// Counters of the requests of one connection: begun, and ended (answered or dropped).
#[derive(Debug, Default)]
pub(super) struct Activity {
    begun: AtomicU64,
    ended: AtomicU64,
}

/// Guard of a request in flight. Dropping it counts the request as ended.
#[derive(Debug)]
pub(super) struct InFlight(Arc<Activity>);

/// Outcome of the idle check of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The connection stays open.
    Keep,
    /// The connection accepts no more requests, and closes when its responses are read.
    ShutDown,
    /// The connection is closed at once.
    Close,
}

/// The idle timer of a connection, consulted once per interval.
#[derive(Debug, Default)]
pub(super) struct IdleTimeout {
    seen: u64,
    idle: u32,
}

impl Activity {
    /// Counts a request as begun. The returned guard ends it on drop.
    pub(super) fn begin(self: &Arc<Self>) -> InFlight {
        self.begun.fetch_add(1, Ordering::Relaxed);
        InFlight(Arc::clone(self))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}

impl IdleTimeout {
    /// Decides after an interval if the connection stays open. It is idle if no request was in flight during the whole
    /// interval.
    pub(super) fn judge(&mut self, activity: &Activity) -> Verdict {
        let ended = activity.ended.load(Ordering::Relaxed);
        let begun = activity.begun.load(Ordering::Relaxed);
        if begun > ended || begun > self.seen {
            (self.seen, self.idle) = (begun, 0);
            return Verdict::Keep;
        }
        self.idle += 1;
        match self.idle {
            _ if begun == 0 => Verdict::Close,
            1 => Verdict::ShutDown,
            MOST_IDLE.. => Verdict::Close,
            _ => Verdict::Keep,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict::{Close, Keep, ShutDown};
    use super::*;

    #[test]
    fn connection_without_a_request_is_closed_at_the_first_tick() {
        assert_eq!(IdleTimeout::default().judge(&Activity::default()), Verdict::Close);
    }

    #[test]
    fn request_in_flight_keeps_its_connection() {
        let (activity, mut idle) = (Arc::new(Activity::default()), IdleTimeout::default());
        let request = activity.begin();
        for _ in 0..20 {
            assert_eq!(idle.judge(&activity), Verdict::Keep);
        }
        drop(request);
        assert_eq!(idle.judge(&activity), Verdict::ShutDown);
    }

    #[test]
    fn idle_connection_is_shut_down_and_later_closed() {
        let (activity, mut idle) = (Arc::new(Activity::default()), IdleTimeout::default());
        drop(activity.begin());
        let verdicts: Vec<_> = (0..7).map(|_| idle.judge(&activity)).collect();
        assert_eq!(verdicts, [Keep, ShutDown, Keep, Keep, Keep, Keep, Close]);
        drop(activity.begin());
        assert_eq!(idle.judge(&activity), Keep);
    }
}
