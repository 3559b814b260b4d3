//! The exposition of the service's metrics, its storage and its hashing threads included. It reads no database.

use latchkey_metrics::{About, Collect, Page};

use super::Service;

const USERS: About = About { name: "users", help: "Accounts by state, counted every minute." };
const SESSIONS: About = About { name: "sessions_live", help: "Live sessions, counted every minute." };
const PENDING: About =
    About { name: "outbox_pending", help: "Mails that wait for delivery, counted every minute." };
const OLDEST: About = About {
    name: "outbox_oldest_seconds",
    help: "Age of the oldest mail that waits for delivery; 0 if none waits.",
};
const PROFILES: About =
    About { name: "search_profiles", help: "Profiles in the search index of this instance." };
const BEHIND: About = About {
    name: "search_behind_seconds",
    help: "Time since the search index had every change of the profiles.",
};
const KEY_AGE: About =
    About { name: "signing_key_age_seconds", help: "Age of the key that signs access tokens." };
const BACKUP_AGE: About = About { name: "backup_age_seconds", help: "Age of the newest backup." };
const BACKUP_INTERVAL: About =
    About { name: "backup_interval_seconds", help: "Interval of the backups that the service makes itself." };

/// Queue of the mails. Other queues get words of their own.
const MAIL: &str = "mail";
/// Number of the gauges that this file writes.
const GAUGES: usize = 11;

impl Collect for Service {
    fn collect(&self, page: &mut Page) {
        self.kernel.metrics.write(page);
        self.passwords.hasher.metrics().collect(page);
        self.write_counts(page);
        self.write_ages(page);
        self.kernel.store.collect(page);
    }

    fn most_series(&self) -> usize {
        self.kernel.metrics.most_series()
            + self.passwords.hasher.metrics().most_series()
            + GAUGES
            + self.kernel.store.most_series()
    }
}

impl Service {
    fn write_counts(&self, page: &mut Page) {
        let Some(counts) = self.kernel.metrics.counts() else { return };
        let active = counts.users.saturating_sub(counts.pending).saturating_sub(counts.banned);
        let users = [("active", active), ("pending", counts.pending), ("banned", counts.banned)];
        page.gauges(USERS, "state", users);
        page.gauge(SESSIONS, counts.live_sessions);
        page.gauges(PENDING, "queue", [(MAIL, counts.mails_queued)]);
        let now = self.now().as_millis();
        let oldest = counts.oldest_mail_at.map_or(0, |at| now.saturating_sub(at).max(0) / 1000);
        page.gauges(OLDEST, "queue", [(MAIL, oldest)]);
    }

    fn write_ages(&self, page: &mut Page) {
        let now = self.now();
        if let Ok(key) = self.shared.tokens.keys().signing() {
            page.gauge(KEY_AGE, now.since(key.created_at()).as_secs());
        }
        if let Some(age) = self.backups.age() {
            page.gauge(BACKUP_AGE, age.as_secs());
        }
        if let Some(interval) = self.backups.interval() {
            page.gauge(BACKUP_INTERVAL, interval.as_secs());
        }
        if let Some((profiles, behind)) = self.search.index_state() {
            page.gauge(PROFILES, profiles);
            page.gauge(BEHIND, behind.as_secs_f64());
        }
    }
}
