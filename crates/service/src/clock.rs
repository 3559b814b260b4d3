//! The trait `Clock`, the only source of time, and its implementation by the system clock.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use latchkey_domain::time::Timestamp;

/// A source of time. It is injected everywhere, so that tests can stop and move it.
pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;

    /// Returns the time of the monotonic clock since an arbitrary origin. Setting the system time does not change it.
    fn steady(&self) -> Duration;
}

/// The clock of the operating system: time of day and monotonic time.
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
