//! Durations for metrics, by the monotonic clock. They decide nothing, so the clock is not injected.

use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "a measured duration decides nothing")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
