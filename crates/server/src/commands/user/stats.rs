//! Command `latchkey user stats`.

use std::fmt::Display;

use latchkey_http::endpoints::auth::stats::StatsBody;
use latchkey_service::admin::Statistics;
use serde_json::json;

use crate::cli::Output;
use crate::commands::count::count;
use crate::commands::{CommandError, json};
use crate::wiring::Assembly;

/// Scheme of hashes that wait to be wrapped.
const BARE: &str = "digest";

pub(super) async fn run(assembly: &Assembly, days: u32, output: Output) -> Result<(), CommandError> {
    // Nothing counts while no service runs.
    assembly.service.upkeep.count_statistics_if_due().await?;
    let statistics = assembly.service.admin.statistics(days).await?;
    if output.json {
        return Ok(json::print(&json!(StatsBody::from(statistics)))?);
    }
    print(&statistics);
    Ok(())
}

fn print(Statistics { counted_at, counts, days }: &Statistics) {
    let passwords = counts.passwords_by_scheme();
    let waiting = passwords.get(BARE).map(|bare| {
        let verb = if *bare == 1 { "waits" } else { "wait" };
        format!(" ({} {verb} to be wrapped)", count(bare, "bare digest"))
    });
    println!("Counted    {}", counted_at.to_minute_text());
    println!(
        "Accounts   {}: {} verified, {} pending, {} banned, {}",
        counts.users,
        counts.verified,
        counts.pending,
        counts.banned,
        count(counts.operators, "operator")
    );
    println!(
        "Active     {} within a day, {} within 7, {} within 30",
        counts.active_day, counts.active_week, counts.active_month
    );
    println!("Sessions   {}", counts.live_sessions);
    println!("Passwords  {}{}", listed(&passwords), waiting.unwrap_or_default());
    println!("Factors    {} two-step, {}", counts.two_step, count(counts.passkeys, "passkey"));
    println!("Providers  {}", listed(&counts.providers));
    println!("Mails      {} queued, {} dead", counts.mails_queued, counts.mails_dead);
    println!("Database   {}, {} bytes, migration {}", counts.engine, counts.database_bytes, counts.migration);
    println!();
    println!("{:<12}{:>9}{:>10}{:>10}{:>8}", "DAY", "SIGN-UPS", "SIGN-INS", "FAILURES", "RESETS");
    for (starts_at, of_day) in days {
        println!(
            "{:<12}{:>9}{:>10}{:>10}{:>8}",
            starts_at.to_date_text(),
            of_day.sign_ups,
            of_day.sign_ins,
            of_day.failures,
            of_day.resets
        );
    }
}

fn listed<'a>(numbers: impl IntoIterator<Item = (&'a (impl Display + 'a), &'a u64)>) -> String {
    let numbers: Vec<_> = numbers.into_iter().map(|(name, number)| format!("{number} {name}")).collect();
    if numbers.is_empty() { "none".to_owned() } else { numbers.join(", ") }
}
