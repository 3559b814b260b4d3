//! Clocks of the benchmark. They are not injected, because the benchmark measures the real machine.

use std::time::Instant;

use latchkey_domain::time::Timestamp;

/// Time of the monotonic clock.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures the machine's time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Time of the wall clock.
#[expect(clippy::disallowed_methods, reason = "seeded sessions begin now")]
pub(crate) fn wall_clock() -> Timestamp {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}

#[expect(clippy::disallowed_methods, reason = "the benchmark's own thread has nothing else to do")]
pub(crate) fn pause(length: std::time::Duration) {
    std::thread::sleep(length);
}
