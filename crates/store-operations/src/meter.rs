//! Metrics of the operations: their time, the faults of the storage, and the audit events that were committed.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::words;
use latchkey_metrics::{About, Collect, Counter, Family, Page, Site, Sites, Stopwatch};
use latchkey_store::StoreError;

const SECONDS: About = About {
    name: "store_seconds",
    help: "Time of storage operations, waits included, by method of the contract.",
};
const ERRORS: About = About { name: "store_errors", help: "Faults of the storage that ended an operation." };
const EVENTS: About = About { name: "audit_events", help: "Audit events that this instance wrote." };

words! {
    /// Kind of a fault of the storage.
    enum FaultKind {
        /// A unique key is taken.
        Conflict = "conflict",
        /// The storage is unreachable, read-only or overloaded.
        Unavailable = "unavailable",
        /// A stored value violates the rules of its type.
        Corrupt = "corrupt",
        /// Any other error of the database driver.
        Driver = "driver",
    }
}

/// Metrics of one open storage.
pub struct Meter {
    seconds: Sites,
    errors: Family<(FaultKind,), Counter>,
    events: Family<(AuditKind,), Counter>,
}

impl Default for Meter {
    fn default() -> Self {
        Self {
            seconds: Sites::new(SECONDS, "operation"),
            errors: Family::of_words(ERRORS, "kind", Counter::default),
            events: Family::of_words(EVENTS, "kind", Counter::default),
        }
    }
}

impl Meter {
    /// Records the end of an operation. The attribute `measured` calls it.
    pub(crate) fn finish(&self, site: &Site, watch: Stopwatch, error: Option<&StoreError>) {
        self.seconds.record(site, watch.elapsed());
        if let Some(error) = error {
            self.errors.of((kind_of(error),)).count();
        }
    }

    /// Counts committed audit events.
    pub(crate) fn count_events(&self, committed: &[(AuditKind, u64)]) {
        for (kind, number) in committed {
            self.events.of((*kind,)).add(*number);
        }
    }
}

impl Collect for Meter {
    fn collect(&self, page: &mut Page) {
        self.seconds.write(page);
        self.errors.write(page);
        self.events.write(page);
    }

    fn most_series(&self) -> usize {
        self.seconds.most_series() + self.errors.most_series() + self.events.most_series()
    }
}

const fn kind_of(error: &StoreError) -> FaultKind {
    match error {
        StoreError::Conflict(_) => FaultKind::Conflict,
        StoreError::Unavailable(_) => FaultKind::Unavailable,
        StoreError::Corrupt { .. } => FaultKind::Corrupt,
        StoreError::Driver(_) => FaultKind::Driver,
    }
}
