//! Arguments of `latchkey audit`.

use std::net::IpAddr;

use clap::Args;
use latchkey_domain::audit::{ActorKind, AuditKind};
use latchkey_domain::time::Timestamp;

use super::{Output, UserRef};

/// Arguments of `latchkey audit`. An event is printed if it meets every condition.
#[derive(Debug, Args)]
pub struct AuditArgs {
    /// Only events about this account: its email address or id.
    #[arg(long)]
    pub user: Option<UserRef>,
    /// Only events of this kind, such as `sign_in_failed`; docs/openapi.json lists them.
    #[arg(long, value_parser = kind)]
    pub kind: Option<AuditKind>,
    /// Only events that this actor caused: user, admin, operator or system.
    #[arg(long, value_parser = actor)]
    pub actor: Option<ActorKind>,
    /// Only events that this operator caused: email address or id of the account.
    #[arg(long)]
    pub operator: Option<UserRef>,
    /// Only events of this IP address.
    #[arg(long, value_name = "IP")]
    pub address: Option<IpAddr>,
    /// Only events at or after this time, in RFC 3339, or this day in UTC.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub since: Option<Timestamp>,
    /// Only events before this time, in RFC 3339, or this day in UTC.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub until: Option<Timestamp>,
    /// Number of events to print, the newest ones. [default: 50, with --jsonl all]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
    /// Print JSON lines: one event a line, as the admin API returns it.
    #[arg(long, conflicts_with = "json")]
    pub jsonl: bool,
    #[command(flatten)]
    pub output: Output,
}

fn kind(text: &str) -> Result<AuditKind, &'static str> {
    AuditKind::parse(text).ok_or("wanted the name of an event, such as sign_in_failed")
}

fn actor(text: &str) -> Result<ActorKind, &'static str> {
    ActorKind::parse(text).ok_or("wanted user, admin, operator or system")
}

pub(super) fn time(text: &str) -> Result<Timestamp, &'static str> {
    Timestamp::parse(text).ok_or("wanted a day such as 2026-03-01, or a time such as 2026-03-01T12:00:00Z")
}
