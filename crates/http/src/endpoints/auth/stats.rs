//! `GET /api/auth/stats`: counts of accounts, sessions and mails, and of the events of each day, for an admin.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::reason::Reason;
use latchkey_domain::statistics::{Counts, DayCounts, MOST_DAYS};
use latchkey_domain::time::Timestamp;
use latchkey_service::admin::Statistics;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::caller::AdminWith;
use crate::endpoint::{Access, Endpoint};
use crate::error::{ApiError, Result};
use crate::json::Json;
use crate::openapi::{fields, parameters};

/// Number of days without the parameter `days`.
const DEFAULT_DAYS: u32 = 30;

/// Statistics of the whole service.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Stats)]
pub struct StatsBody {
    #[schema(schema_with = fields::moment_counted)]
    as_of: Timestamp,
    users: UsersBody,
    active: ActiveBody,
    sessions: SessionsBody,
    /// Numbers of passwords by the scheme of their hash. `digest` are weak hashes of imported accounts that wait to be
    /// wrapped.
    passwords: BTreeMap<&'static str, u64>,
    factors: FactorCountsBody,
    /// Number of linked identities by the key of their provider.
    providers: BTreeMap<String, u64>,
    /// One entry for each day in UTC, oldest first, up to today.
    series: Vec<DayBody>,
    mails: MailsBody,
    database: DatabaseBody,
}

/// Numbers of accounts.
#[derive(Serialize, ToSchema)]
#[schema(as = StatsUsers)]
pub struct UsersBody {
    total: u64,
    /// Accounts in the state `verified`: those with a verified address that are neither banned nor in deletion.
    verified: u64,
    /// Accounts in the state `pending`: those whose sign-up waits for its verification.
    pending: u64,
    /// Accounts in the state `banned`.
    banned: u64,
    /// Accounts with a role in the console.
    operators: u64,
}

/// Numbers of accounts in use within the last 24 hours, 7 days and 30 days.
#[derive(Serialize, ToSchema)]
#[schema(as = StatsActive)]
pub struct ActiveBody {
    day: u64,
    week: u64,
    month: u64,
}

/// Numbers of sessions.
#[derive(Serialize, ToSchema)]
#[schema(as = StatsSessions)]
pub struct SessionsBody {
    /// Sessions that have neither ended nor expired.
    live: u64,
}

/// Numbers of accounts with further factors.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StatsFactors)]
pub struct FactorCountsBody {
    /// Accounts with two-step sign-in.
    two_step: u64,
    /// Accounts with a passkey.
    passkeys: u64,
}

/// Numbers of events of one day.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StatsDay)]
pub struct DayBody {
    #[schema(schema_with = fields::day)]
    day: String,
    sign_ups: u64,
    sign_ins: u64,
    /// Refused sign-ins.
    failures: u64,
    /// Passwords set by a reset.
    resets: u64,
}

/// Numbers of mails.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StatsMails)]
pub struct MailsBody {
    /// Mails that wait for delivery.
    queued: u64,
    /// Mails that failed for good.
    dead: u64,
    /// Age of the oldest mail that waits for delivery, at the time `asOf`; 0 if none waits.
    oldest_seconds: u64,
}

/// The database.
#[derive(Serialize, ToSchema)]
#[schema(as = StatsDatabase)]
pub struct DatabaseBody {
    #[schema(schema_with = fields::database_engine)]
    engine: String,
    /// Its size.
    bytes: u64,
    /// Number of its newest migration.
    migration: u64,
}

impl From<Statistics> for StatsBody {
    fn from(Statistics { counted_at, counts, days }: Statistics) -> Self {
        Self {
            as_of: counted_at,
            mails: MailsBody::of(&counts, counted_at),
            users: UsersBody {
                total: counts.users,
                verified: counts.verified,
                pending: counts.pending,
                banned: counts.banned,
                operators: counts.operators,
            },
            active: ActiveBody {
                day: counts.active_day,
                week: counts.active_week,
                month: counts.active_month,
            },
            sessions: SessionsBody { live: counts.live_sessions },
            passwords: counts.passwords_by_scheme(),
            factors: FactorCountsBody { two_step: counts.two_step, passkeys: counts.passkeys },
            providers: counts.providers,
            series: days.into_iter().map(DayBody::from).collect(),
            database: DatabaseBody {
                engine: counts.engine,
                bytes: counts.database_bytes,
                migration: counts.migration,
            },
        }
    }
}

impl MailsBody {
    fn of(counts: &Counts, counted_at: Timestamp) -> Self {
        let age = |oldest| counted_at.since(Timestamp::from_millis(oldest)).as_secs();
        let oldest_seconds = counts.oldest_mail_at.map(age).unwrap_or_default();
        Self { queued: counts.mails_queued, dead: counts.mails_dead, oldest_seconds }
    }
}

impl From<(Timestamp, DayCounts)> for DayBody {
    fn from((starts_at, counts): (Timestamp, DayCounts)) -> Self {
        let DayCounts { sign_ups, sign_ins, failures, resets } = counts;
        Self { day: starts_at.to_date_text(), sign_ups, sign_ins, failures, resets }
    }
}

pub const GET: Endpoint = Endpoint::get("/api/auth/stats", |method| on(method, get))
    .named("getStats", "Read the statistics")
    .about(
        "Numbers of accounts, sessions and mails, and of the events of each day. They are counted in the background \
         once a minute; `asOf` says when.",
    )
    .access(Access::Admin)
    .parameters(&[parameters::days])
    .responds::<StatsBody>("The statistics.");

pub async fn get(State(app): State<App>, admin: AdminWith) -> Result<Json<StatsBody>> {
    let days = read_days(admin.query.knowing(&["days"])?.optional("days")?.as_deref())?;
    Ok(Json(app.service.admin.statistics(days).await?.into()))
}

/// Parses the number of days, written in plain digits.
fn read_days(text: Option<&str>) -> Result<u32> {
    let Some(text) = text else { return Ok(DEFAULT_DAYS) };
    let days = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    days.filter(|days| (1..=MOST_DAYS).contains(days)).ok_or_else(|| {
        let problem = format!("must be a whole number from 1 to {MOST_DAYS}");
        ApiError::validation("days", &problem).reason(Reason::OutOfRange)
    })
}
