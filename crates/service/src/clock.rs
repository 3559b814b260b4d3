//! The one source of time.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use latchkey_domain::time::Timestamp;

/// Tells the time. Injected everywhere, so that tests can hold and move it.
pub trait Clock: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Timestamp;

    /// The monotonic clock, from an origin of its own: it never steps, whatever is done to the time of day.
    fn steady(&self) -> Duration;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> Timestamp {
        let since_epoch =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }

    #[allow(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn steady(&self) -> Duration {
        static ORIGIN: OnceLock<Instant> = OnceLock::new();
        ORIGIN.get_or_init(Instant::now).elapsed()
    }
}
