//! `/console/system`: the instances that run, the database with its size, newest migration and newest backup, the queues of mails and passwords,
//! and the check of readiness.

use axum::routing::get;
use latchkey_domain::instance::Instance;
use latchkey_domain::time::Timestamp;
use latchkey_pages::When;
use latchkey_pages::console::views::{Check, Database, Hashing, InstanceRow, System};
use latchkey_service::Service;

use super::page::Page;
use super::stop::Outcome;
use super::visit::ConsoleVisit;

pub(crate) const PAGE: Page = Page::of_reads("/console/system", || get(show));

async fn show(visit: ConsoleVisit) -> Outcome {
    let statistics = visit.service().admin.statistics(1).await?;
    let counts = statistics.counts;
    let oldest = counts.oldest_mail_at.map(Timestamp::from_millis);
    visit.page(&System {
        instances: instances(visit.service()).await?,
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
        hashing: Some(hashing(visit.service())),
        last_backup: visit.service().backups.newest().map(|newest| When(newest.created_at)),
        checks: Some(vec![readiness(visit.service()).await]),
        run_checks: None,
    })
}

async fn instances(service: &Service) -> latchkey_service::Result<Vec<InstanceRow>> {
    let this = service.instances.id();
    let row = |instance: Instance| InstanceRow {
        is_this: instance.id == this,
        id: instance.id.to_string(),
        version: instance.version,
        since: When(instance.started_at),
        seen: When(instance.seen_at),
    };
    Ok(service.instances.list().await?.into_iter().map(row).collect())
}

fn hashing(service: &Service) -> Hashing {
    let (waiting, most) = service.passwords.hash_queue();
    Hashing { waiting: waiting as u64, most: most as u64 }
}

/// Returns the outcome of the check behind `/health/ready`.
async fn readiness(service: &Service) -> Check {
    let outcome = service.readiness.check().await;
    let detail = match &outcome {
        Ok(()) => "The database is read and written.".to_owned(),
        Err(error) => error.to_string(),
    };
    Check { name: "database".to_owned(), is_good: outcome.is_ok(), detail }
}
