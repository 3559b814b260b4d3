//! Views of the whole: the overview, and the system.

use serde::Serialize;

use super::events::EventRow;
use crate::frame::Form;
use crate::message::When;
use crate::view::views;

/// The overview: numbers, chart, warnings, and what changed last.
#[derive(Debug, Clone, Serialize)]
pub struct Overview {
    pub numbers: Numbers,
    /// Age in seconds of the numbers of sign-ins, sessions and mails. Accounts are counted for the page.
    pub age: u64,
    /// The last 30 days in UTC, the oldest first.
    pub days: Vec<Day>,
    pub warnings: Vec<Warning>,
    pub changes: Vec<EventRow>,
}

/// Numbers of the service.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Numbers {
    pub accounts: u64,
    pub verified: u64,
    /// Accounts created in the last 24 hours, and in the last 7 days.
    pub new_day: u64,
    pub new_week: u64,
    /// Sign-ins and failed ones of today, in UTC.
    pub sign_ins: u64,
    pub failures: u64,
    /// Live sessions.
    pub sessions: u64,
    pub mails_waiting: u64,
    pub mails_dead: u64,
}

/// Numbers of a day.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Day {
    /// Begin of the day.
    pub day: When,
    pub sign_ups: u64,
    pub sign_ins: u64,
    pub failures: u64,
}

/// A warning of `config check`, with its remedy.
#[derive(Debug, Clone, Serialize)]
pub struct Warning {
    /// True if something does not work.
    pub is_error: bool,
    pub text: String,
    pub remedy: Option<String>,
}

/// The system: instances, database, workers, and the check of readiness.
#[derive(Debug, Clone, Serialize)]
pub struct System {
    /// Instances that were seen lately; empty if the service does not know them.
    pub instances: Vec<InstanceRow>,
    pub database: Database,
    /// Time at which database and mails were counted.
    pub counted: When,
    /// Age in seconds of the oldest mail that is due; 0 if none waits.
    pub outbox_lag: u64,
    /// Passwords that wait for a thread; `None` if they are not counted.
    pub hashing: Option<Hashing>,
    /// Last backup that the service knows of.
    pub last_backup: Option<When>,
    /// Results of the checks; `None` before they run. Without results and form, the page does not show checks.
    pub checks: Option<Vec<Check>>,
    /// Form that runs the checks now.
    pub run_checks: Option<Form>,
}

/// The queue of passwords that wait for a thread.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Hashing {
    pub waiting: u64,
    /// The most that may wait.
    pub most: u64,
}

/// An instance that was seen lately.
#[derive(Debug, Clone, Serialize)]
pub struct InstanceRow {
    pub id: String,
    pub version: String,
    pub since: When,
    pub seen: When,
    /// True for the instance that shows the page.
    pub is_this: bool,
}

#[derive(Debug, Clone, Serialize)]
pub struct Database {
    /// Engine with its version, such as `PostgreSQL 17.2`.
    pub engine: String,
    pub bytes: u64,
    /// Number of the last migration.
    pub migration: u64,
}

/// A check of the service, with its result.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    pub name: String,
    pub is_good: bool,
    /// What was found, with the remedy.
    pub detail: String,
}

views! {
    Overview "console/overview.html"
    System "console/system.html"
}
