//! `/console/system`: the database and its size, the newest migration, and the mails that wait.

use axum::routing::get;
use latchkey_domain::time::Timestamp;
use latchkey_pages::When;
use latchkey_pages::console::views::{Database, System};

use super::page::Page;
use super::stop::Outcome;
use super::visit::ConsoleVisit;

pub(crate) const PAGE: Page = Page::new("/console/system", || get(show));

async fn show(visit: ConsoleVisit) -> Outcome {
    let statistics = visit.service().admin.statistics(1).await?;
    let counts = statistics.counts;
    let oldest = counts.oldest_mail_at.map(Timestamp::from_millis);
    visit.page(&System {
        instances: Vec::new(),
        database: Database {
            engine: match counts.engine.as_str() {
                "sqlite" => "SQLite".to_owned(),
                "postgresql" => "PostgreSQL".to_owned(),
                _ => counts.engine,
            },
            bytes: counts.database_bytes,
            migration: counts.migration,
        },
        counted: When(statistics.counted_at),
        outbox_lag: oldest.map_or(0, |oldest| statistics.counted_at.since(oldest).as_secs()),
        hashing: None,
        last_backup: None,
        checks: None,
        run_checks: None,
    })
}
