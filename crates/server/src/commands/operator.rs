//! Commands `latchkey operator list`, `grant`, `revoke` and `reactivate`.

use latchkey_domain::operator::{Operator, Party};
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_service::operators::Granting;
use serde_json::{Value, json};

use super::user::{find, refused};
use super::{CommandError, json};
use crate::cli::OperatorCommand;
use crate::wiring::Assembly;

pub(super) async fn run(assembly: &Assembly, command: OperatorCommand) -> Result<(), CommandError> {
    let operators = &assembly.service.operators;
    match command {
        OperatorCommand::List(output) => {
            let operators = operators.list().await?;
            if output.json {
                json::print(&json!({"data": operators.iter().map(facts).collect::<Vec<_>>()}))?;
            } else {
                list(&operators, assembly.service.now());
            }
        }
        OperatorCommand::Grant { user, role } => {
            let user = find(assembly, &user).await?;
            let granting = operators.grant(user.id, role, Party::System, None).await?;
            report(&user, &format!("{} has the role {role}", user.email.as_typed()), granting)?;
        }
        OperatorCommand::Reactivate { user } => {
            let user = find(assembly, &user).await?;
            let granting = operators.reactivate(user.id, Party::System, None).await?;
            report(&user, &format!("the role of {} sleeps", user.email.as_typed()), granting)?;
        }
        OperatorCommand::Revoke { user, force } => {
            let user = find(assembly, &user).await?;
            let was_last_owner = operators.revoke(user.id, force, Party::System, None).await?;
            println!("{} has no role any more", user.email.as_typed());
            if was_last_owner {
                println!("It was the last owner: nobody can enter the console as an owner now.");
            }
        }
    }
    Ok(())
}

fn facts(Operator { user, grant }: &Operator) -> Value {
    json!({
        "userId": user.id.to_string(),
        "email": user.email.as_typed(),
        "role": grant.role.as_str(),
        "grantedAt": grant.granted_at,
        "activatedAt": grant.activated_at,
        "activationExpiresAt": grant.activation_expires_at,
        "twoStep": user.has_two_step(),
    })
}

fn list(operators: &[Operator], now: Timestamp) {
    println!("{:<10}{:<32}{:<22}{:<10}EMAIL", "ROLE", "STATE", "GRANTED", "TWO-STEP");
    for Operator { user, grant } in operators {
        let state = match (grant.activated_at, grant.activation_expires_at) {
            (Some(at), _) => format!("active since {}", at.to_minute_text()),
            (None, Some(until)) if until > now => format!("link until {}", until.to_minute_text()),
            (None, _) => "asleep".to_owned(),
        };
        let two_step = if user.has_two_step() { "on" } else { "off" };
        let (granted, email) = (grant.granted_at.to_minute_text(), user.email.as_typed());
        println!("{:<10}{state:<32}{granted:<22}{two_step:<10}{email}", grant.role.as_str());
    }
    println!("{} operators", operators.len());
}

/// Prints what happened, with the activation link if the grant sleeps.
fn report(user: &User, done: &str, granting: Granting) -> Result<(), CommandError> {
    let link = match granting {
        Granting::Active => {
            println!("{done}");
            return Ok(());
        }
        Granting::Ineligible(reason) => {
            let text = format!("{} cannot be an operator: {reason}; nothing changed", user.email.as_typed());
            return Err(refused(text));
        }
        Granting::Asleep(link) => link,
    };
    println!(
        "{done}, and activates it by this link, once, signed in, until {}:",
        link.expires_at.to_minute_text()
    );
    println!("{}", link.expose());
    Ok(())
}
