//! Connections that cost a slot and bring nothing: a peer that never says its protocol, an HTTP/2 connection that only
//! answers pings, a client that asks for much and does not read it. What the parser itself sees (a slow head, an idle
//! HTTP/1.1 connection) is its matter.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Quiet looks after which a connection is cut, although it was asked to end.
const LAST_LOOK: u32 = 6;

/// The requests of one connection: how many began, and how many of them were answered or dropped.
#[derive(Debug, Default)]
pub(super) struct Activity {
    begun: AtomicU64,
    ended: AtomicU64,
}

/// A request in flight, until it is dropped.
#[derive(Debug)]
pub(super) struct InFlight(Arc<Activity>);

/// What is to be done with a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing.
    Keep,
    /// It takes no more requests, and ends when its answers are read.
    AskToEnd,
    /// It ends now.
    Cut,
}

/// Looks at a connection from time to time.
#[derive(Debug, Default)]
pub(super) struct Patience {
    seen: u64,
    quiet: u32,
}

impl Activity {
    /// A request begins.
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

impl Patience {
    /// Judges what happened since the last look. A connection is quiet where no request was in flight at all.
    pub(super) fn judge(&mut self, activity: &Activity) -> Verdict {
        let ended = activity.ended.load(Ordering::Relaxed);
        let begun = activity.begun.load(Ordering::Relaxed);
        if begun > ended || begun > self.seen {
            (self.seen, self.quiet) = (begun, 0);
            return Verdict::Keep;
        }
        self.quiet += 1;
        match self.quiet {
            _ if begun == 0 => Verdict::Cut,
            1 => Verdict::AskToEnd,
            LAST_LOOK.. => Verdict::Cut,
            _ => Verdict::Keep,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict::{AskToEnd, Cut, Keep};
    use super::*;

    #[test]
    fn who_never_asks_is_cut_at_the_first_look() {
        assert_eq!(Patience::default().judge(&Activity::default()), Verdict::Cut);
    }

    #[test]
    fn a_request_in_flight_keeps_its_connection() {
        let (activity, mut patience) = (Arc::new(Activity::default()), Patience::default());
        let request = activity.begin();
        for _ in 0..20 {
            assert_eq!(patience.judge(&activity), Verdict::Keep);
        }
        drop(request);
        assert_eq!(patience.judge(&activity), Verdict::AskToEnd);
    }

    #[test]
    fn a_quiet_connection_is_asked_to_end_and_later_cut() {
        let (activity, mut patience) = (Arc::new(Activity::default()), Patience::default());
        drop(activity.begin());
        let verdicts: Vec<_> = (0..7).map(|_| patience.judge(&activity)).collect();
        assert_eq!(verdicts, [Keep, AskToEnd, Keep, Keep, Keep, Keep, Cut]);
        drop(activity.begin());
        assert_eq!(patience.judge(&activity), Keep);
    }
}
