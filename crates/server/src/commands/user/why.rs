//! Commands `latchkey user why` and `latchkey user limits`.

use latchkey_domain::account_limits::{HeldLimit, RefusedClients};
use latchkey_domain::obstacle::{Obstacle, VerificationMail};
use latchkey_domain::operator::Party;
use latchkey_domain::time::Timestamp;
use latchkey_service::admin::SignInState;
use serde_json::{Value, json};

use super::find;
use crate::cli::{Output, UserRef};
use crate::commands::{CommandError, json};
use crate::wiring::Assembly;

/// Prints a sentence for each obstacle.
pub(super) async fn run(assembly: &Assembly, user: &UserRef, output: Output) -> Result<(), CommandError> {
    let id = find(assembly, user).await?.id;
    let state = assembly.service.admin.why_no_sign_in(id).await?;
    if output.json {
        let told = |one: &Obstacle| json!({"kind": one.name(), "text": sentence(one)});
        let obstacles: Vec<_> = state.obstacles.iter().map(told).collect();
        let document =
            json!({"id": id.to_string(), "canSignIn": state.can_sign_in(), "obstacles": obstacles});
        return Ok(json::print(&document)?);
    }
    tell(&state);
    Ok(())
}

/// Prints whether a user can sign in, and a sentence for each obstacle.
pub(super) fn tell(state: &SignInState) {
    let can = if state.can_sign_in() { "can" } else { "cannot" };
    println!("{} {can} sign in.", state.user.email.as_typed());
    for obstacle in &state.obstacles {
        println!("  {}", sentence(obstacle));
    }
}

/// Lists the limits that hold for an account, or lifts them.
pub(super) async fn limits(
    assembly: &Assembly,
    user: &UserRef,
    lift: bool,
    output: Output,
) -> Result<(), CommandError> {
    let id = find(assembly, user).await?.id;
    let held = assembly.service.admin.list_limits(id).await?;
    if output.json {
        if lift {
            assembly.service.admin.lift_limits(id, Party::System, None).await?;
        }
        let limits: Vec<_> = held.iter().map(facts).collect();
        return Ok(json::print(&json!({"data": limits, "lifted": lift}))?);
    }
    for limit in &held {
        println!("{}", of_limit(limit));
    }
    if lift {
        assembly.service.admin.lift_limits(id, Party::System, None).await?;
        println!("lifted the limits of {id}");
    } else if held.is_empty() {
        println!(
            "No limit refuses requests for this account. Limits of client addresses alone are not listed."
        );
    }
    Ok(())
}

fn facts(held: &HeldLimit) -> Value {
    json!({
        "limit": held.limit,
        "purpose": held.purpose.map(|purpose| purpose.to_string()),
        "clients": held.clients.as_str(),
        "until": held.until,
    })
}

fn sentence(obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::Banned { since } => format!("Banned since {}.", since.to_minute_text()),
        Obstacle::NoWay => {
            "No password, no usable passkey, and no linked provider; a reset mail gives a password."
                .to_owned()
        }
        Obstacle::Unverified { since, mail, by_mail } => {
            let remedy = if *by_mail { " A sign-in by mail verifies it." } else { "" };
            format!("Address not verified since {}; {}.{remedy}", since.to_minute_text(), fate(*mail))
        }
        Obstacle::NoFactor => "Two-step sign-in is on, and no second factor is left.".to_owned(),
        Obstacle::Deletion { until } => {
            format!("Deleted by its owner; a sign-in until {} restores it.", until.to_minute_text())
        }
        Obstacle::MustEnroll => "The next sign-in asks to set up a second factor.".to_owned(),
        Obstacle::Limited { held, .. } => format!("Limited: {}.", of_limit(held)),
    }
}

fn fate(mail: Option<VerificationMail>) -> String {
    match mail {
        None => "no mail in the last 30 days".to_owned(),
        Some(VerificationMail::Queued { since }) => {
            format!("the last mail waits since {}", since.to_minute_text())
        }
        Some(VerificationMail::Sent { at }) => format!("last mail delivered {}", at.to_minute_text()),
        Some(VerificationMail::Dead { at }) => format!("the last mail failed {}", at.to_minute_text()),
    }
}

fn of_limit(held: &HeldLimit) -> String {
    let HeldLimit { limit, purpose, clients, until, .. } = held;
    let purpose = purpose.map(|purpose| format!(" ({purpose})")).unwrap_or_default();
    let until = until.map_or_else(|| "a success".to_owned(), Timestamp::to_minute_text);
    let clients = match clients {
        RefusedClients::All => "",
        RefusedClients::Known => ", from addresses of its sign-ins",
        RefusedClients::Unknown => ", from addresses other than those of its sign-ins",
        RefusedClients::Some => ", from the addresses that failed",
    };
    format!("{limit}{purpose}, until {until}{clients}")
}
