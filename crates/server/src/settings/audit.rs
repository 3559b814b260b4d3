//! Section `audit`.

use std::time::Duration;

use super::reader::Reader;

/// Section `audit`.
#[derive(Debug)]
pub struct AuditSettings {
    /// How long events are kept.
    pub retention: Duration,
}

impl AuditSettings {
    pub(super) fn read(reader: &Reader<'_>) -> Self {
        Self { retention: reader.duration("audit.retention") }
    }
}
