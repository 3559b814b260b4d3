//! `/console`: the numbers of the service, the last 30 days, and what changed last.

use std::time::Duration;

use axum::routing::get;
use latchkey_domain::statistics::DayCounts;
use latchkey_domain::user_list::{UserFilter, UserSort, UserState};
use latchkey_pages::When;
use latchkey_pages::console::views::{Day, Numbers, Overview, Warning};
use latchkey_service::admin::{ListUsers, Statistics, UserPosition};

use super::events::{self, People};
use super::page::Page;
use super::stop::{Outcome, Stop};
use super::visit::ConsoleVisit;

const PATH: &str = "/console";
/// Number of days of the chart.
const DAYS: u32 = 30;
/// Number of the last changes.
const CHANGES: u32 = 10;
const DAY: Duration = Duration::from_hours(24);
const WEEK: Duration = Duration::from_hours(7 * 24);

pub(crate) const PAGE: Page = Page::of_reads(PATH, || get(show));

async fn show(visit: ConsoleVisit) -> Outcome {
    let view = view(&visit).await?;
    visit.page(&view)
}

async fn view(visit: &ConsoleVisit) -> Result<Overview, Stop> {
    let statistics = visit.service().admin.statistics(DAYS).await?;
    let changes = visit.service().admin.last_changes(CHANGES).await?;
    Ok(Overview {
        numbers: Numbers {
            accounts: count(visit, UserFilter::default()).await?,
            verified: count(visit, UserFilter { state: Some(UserState::Verified), ..UserFilter::default() })
                .await?,
            new_day: count(visit, created_within(visit, DAY)).await?,
            new_week: count(visit, created_within(visit, WEEK)).await?,
            ..numbers(&statistics)
        },
        age: visit.now.since(statistics.counted_at).as_secs(),
        days: statistics.days.iter().map(|(day, counts)| of_day(When(*day), counts)).collect(),
        warnings: visit.console.warnings().iter().map(|warning| shown(warning)).collect(),
        changes: events::rows(visit.service(), changes, People::Named).await?,
    })
}

/// Returns a warning of `config check`, which names its remedy itself.
fn shown(warning: &str) -> Warning {
    Warning { is_error: false, text: warning.to_owned(), remedy: None }
}

fn numbers(Statistics { counts, days, .. }: &Statistics) -> Numbers {
    let today = days.last().map(|(_, counts)| *counts).unwrap_or_default();
    Numbers {
        sign_ins: today.sign_ins,
        failures: today.failures,
        sessions: counts.live_sessions,
        mails_waiting: counts.mails_queued,
        mails_dead: counts.mails_dead,
        ..Numbers::default()
    }
}

/// Returns the filter of accounts that were created within a time up to now. The statistics know whole days in UTC alone.
fn created_within(visit: &ConsoleVisit, time: Duration) -> UserFilter {
    UserFilter { created_after: Some(visit.now.minus(time)), ..UserFilter::default() }
}

/// Counts accounts as they are now, all by the same way: the statistics are up to a minute old.
async fn count(visit: &ConsoleVisit, filter: UserFilter) -> Result<u64, Stop> {
    let list =
        ListUsers { filter, order: UserSort::Created.order(), position: UserPosition::Offset(0), limit: 1 };
    Ok(visit.service().admin.list_users(&list).await?.total)
}

fn of_day(day: When, counts: &DayCounts) -> Day {
    Day { day, sign_ups: counts.sign_ups, sign_ins: counts.sign_ins, failures: counts.failures }
}
