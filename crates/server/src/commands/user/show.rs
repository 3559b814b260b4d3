//! Command `latchkey user show`.

mod document;

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::session::{Level, Session};
use latchkey_domain::time::Timestamp;
use latchkey_service::factors::AccountFactors;
use serde_json::Value;

use super::{find, ways_in, why};
use crate::cli::{Output, UserRef};
use crate::commands::count::count;
use crate::commands::{CommandError, json};
use crate::wiring::Assembly;

/// Number of the last sign-ins, and of the last failures, that are listed.
const SIGN_INS: u32 = 10;

pub(super) async fn run(assembly: &Assembly, user: &UserRef, output: Output) -> Result<(), CommandError> {
    let id = find(assembly, user).await?.id;
    let AccountFactors { user, factors } = assembly.service.factors.of_user(id).await?;
    let sessions = assembly.storage.store.list_sessions(user.id, assembly.service.now()).await?;
    let sign_ins = assembly.service.admin.sign_ins(user.id, SIGN_INS).await?;
    if output.json {
        return Ok(json::print(&document::of(
            assembly,
            &AccountFactors { user, factors },
            &sessions,
            sign_ins,
        ))?);
    }

    why::tell(&assembly.service.admin.why_no_sign_in(id).await?);
    println!();
    println!("Id         {id}");
    println!("Created    {}", user.created_at.to_minute_text());
    println!("Sign-in    {}", ways_in(&user));
    println!("Two-step   {}", two_step(user.two_step_at));
    for totp in &factors.totp {
        let (name, added) = (totp.name.as_str(), totp.created_at.to_minute_text());
        println!("App        {name}, added {added}, {} ({})", last_use(totp.last_used_at), totp.id);
    }
    for passkey in &factors.passkeys {
        let (name, added) = (passkey.name.as_str(), passkey.created_at.to_minute_text());
        print!("Passkey    {name}, added {added}, {} ({})", last_use(passkey.last_used_at), passkey.id);
        if assembly.service.passkeys.is_usable(passkey) {
            println!();
        } else {
            println!("; unusable, its domain is {}", passkey.rp_id.as_str());
        }
    }
    if user.has_two_step() {
        println!("Recovery   {}", count(factors.recovery_codes_left, "unused code"));
    }
    list_sign_ins(&sign_ins.completed);
    list_failures(&sign_ins.failed);
    list(sessions);
    Ok(())
}

fn two_step(since: Option<Timestamp>) -> String {
    since.map_or_else(|| "off".to_owned(), |since| format!("on since {}", since.to_minute_text()))
}

fn last_use(at: Option<Timestamp>) -> String {
    at.map_or_else(|| "never used".to_owned(), |at| format!("last used {}", at.to_minute_text()))
}

/// Lists the last sign-ins, newest first, those of ended sessions too.
fn list_sign_ins(sign_ins: &[AuditEvent]) {
    println!();
    if sign_ins.is_empty() {
        println!("No sign-ins in the audit log");
        return;
    }
    println!("{:<22}{:<14}{:<26}ADDRESS", "LAST SIGN-INS", "BY", "DEVICE");
    for event in sign_ins {
        let by = event.details.get("amr").and_then(Value::as_array).into_iter().flatten();
        let by: Vec<_> = by.filter_map(Value::as_str).collect();
        let (at, by) = (event.at.to_minute_text(), by.join(" "));
        match &event.client {
            Some(client) => println!("{at:<22}{by:<14}{:<26}{}", client.device(), client.address),
            None => println!("{at:<22}{by}"),
        }
    }
}

/// Lists the last failed sign-ins, newest first, with what was wrong.
fn list_failures(failures: &[AuditEvent]) {
    if failures.is_empty() {
        return;
    }
    println!();
    println!("{:<22}{:<22}{:<26}ADDRESS", "LAST FAILURES", "WHAT", "DEVICE");
    for event in failures {
        let (at, what) = (event.at.to_minute_text(), event.kind.as_str());
        match &event.client {
            Some(client) => println!("{at:<22}{what:<22}{:<26}{}", client.device(), client.address),
            None => println!("{at:<22}{what}"),
        }
    }
}

/// Lists the open sessions with the sign-ins that opened them, newest sign-in first.
fn list(mut sessions: Vec<Session>) {
    println!();
    if sessions.is_empty() {
        println!("No open sessions");
        return;
    }
    sessions.sort_by_key(|session| std::cmp::Reverse((session.created_at, session.id)));
    println!("{:<22}{:<22}{:<7}{:<14}{:<26}ADDRESS", "SESSION SINCE", "LAST SEEN", "STEPS", "BY", "DEVICE");
    for session in sessions {
        let (opened, seen) = (session.created_at.to_minute_text(), session.last_seen_at.to_minute_text());
        let steps = if session.level == Level::Two { 2 } else { 1 };
        let (by, device) = (session.methods.to_claim().join(" "), session.client.device());
        println!("{opened:<22}{seen:<22}{steps:<7}{by:<14}{device:<26}{}", session.client.address);
        println!("    {}", session.id);
    }
}
