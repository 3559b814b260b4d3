//! Commands `latchkey operator list`, `grant`, `revoke` and `reactivate`.

use latchkey_domain::email::Email;
use latchkey_domain::operator::{
    AddressGrant, Grant, Ineligible, Operator, OperatorState, Party, Role, WaitingGrant, may_be_operator,
};
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_service::Error;
use latchkey_service::operators::Granting;
use serde_json::{Value, json};

use super::count::count;
use super::table::Table;
use super::user::{find, parse_email, refused};
use super::{CommandError, json};
use crate::cli::{OperatorCommand, UserRef};
use crate::wiring::Assembly;

pub(super) async fn run(assembly: &Assembly, command: OperatorCommand) -> Result<(), CommandError> {
    let operators = &assembly.service.operators;
    match command {
        OperatorCommand::List(output) => {
            let (accounts, waiting) = (operators.list().await?, operators.list_waiting().await?);
            let facts = accounts.iter().map(facts).chain(waiting.iter().map(facts_of_waiting));
            if output.json {
                json::print(&json!({"data": facts.collect::<Vec<_>>()}))?;
            } else {
                list(&accounts, &waiting, assembly.service.now());
            }
        }
        OperatorCommand::Grant { user, role } => {
            let (email, granting) = grant(assembly, &user, role).await?;
            report(assembly, &email, &format!("{} has the role {role}", email.as_typed()), granting)?;
        }
        OperatorCommand::Reactivate { user } => {
            let (email, granting) = reactivate(assembly, &user).await?;
            report(assembly, &email, &format!("the role of {} sleeps", email.as_typed()), granting)?;
        }
        OperatorCommand::Revoke { user, force } => {
            let (email, was_last_owner) = match named(assembly, &user).await? {
                Named::Account(user) => {
                    (user.email, operators.revoke(user.id, force, Party::System, None).await?)
                }
                Named::Address(email) => {
                    operators.revoke_address(&email, Party::System, None).await?;
                    (email, false)
                }
            };
            println!("{} has no role any more", email.as_typed());
            if was_last_owner {
                println!("It was the last owner: nobody can enter the console as an owner now.");
            }
        }
    }
    Ok(())
}

async fn grant(assembly: &Assembly, user: &UserRef, role: Role) -> Result<(Email, Granting), CommandError> {
    let operators = &assembly.service.operators;
    Ok(match named(assembly, user).await? {
        Named::Account(user) => {
            let granting = operators.grant(user.id, role, Party::System, None).await?;
            (user.email, granting)
        }
        Named::Address(email) => {
            let granting = operators.grant_to(&email, role, Party::System, None).await?;
            (email, granting)
        }
    })
}

async fn reactivate(assembly: &Assembly, user: &UserRef) -> Result<(Email, Granting), CommandError> {
    let operators = &assembly.service.operators;
    Ok(match named(assembly, user).await? {
        Named::Account(user) => {
            let granting = operators.reactivate(user.id, Party::System, None).await?;
            (user.email, granting)
        }
        Named::Address(email) => {
            let granting = operators.reactivate_address(&email, Party::System, None).await?;
            (email, granting)
        }
    })
}

/// The account that a command names, or an address without one. A sign-up that was never verified is none.
enum Named {
    Account(Box<User>),
    Address(Email),
}

async fn named(assembly: &Assembly, user: &UserRef) -> Result<Named, CommandError> {
    let UserRef::Email(text) = user else { return Ok(Named::Account(Box::new(find(assembly, user).await?))) };
    let email = parse_email(text)?;
    match assembly.service.admin.find_user_by_email(&email).await {
        Ok(user) if !user.is_pending => Ok(Named::Account(Box::new(user))),
        Ok(_) | Err(Error::Refused(_)) => Ok(Named::Address(email)),
        Err(error) => Err(error.into()),
    }
}

fn facts(operator: &Operator) -> Value {
    let Operator { user, grant } = operator;
    json!({
        "state": operator.state().as_str(),
        "userId": user.id.to_string(),
        "email": user.email.as_typed(),
        "role": grant.role.as_str(),
        "grantedAt": grant.granted_at,
        "activatedAt": grant.activated_at,
        "activationExpiresAt": grant.activation_expires_at,
        "twoStep": user.has_two_step(),
    })
}

fn facts_of_waiting(WaitingGrant { of, account }: &WaitingGrant) -> Value {
    let AddressGrant { email, grant, .. } = of;
    json!({
        "state": waiting_state(account.as_ref()).as_str(),
        "userId": account.as_ref().map(|user| user.id.to_string()),
        "email": email.as_typed(),
        "role": grant.role.as_str(),
        "grantedAt": grant.granted_at,
        "activatedAt": null,
        "activationExpiresAt": grant.activation_expires_at,
        "twoStep": account.as_ref().is_some_and(User::has_two_step),
    })
}

/// Returns the state that an account would have as an operator before the link is used.
fn waiting_state(account: Option<&User>) -> OperatorState {
    match account.map(may_be_operator) {
        Some(Err(Ineligible::Banned)) => OperatorState::Banned,
        Some(Err(Ineligible::InDeletion)) => OperatorState::Deletion,
        Some(Err(Ineligible::Unverified)) => OperatorState::Unverified,
        Some(Ok(())) | None => OperatorState::Asleep,
    }
}

fn list(operators: &[Operator], waiting: &[WaitingGrant], now: Timestamp) {
    let mut table = Table::new(["ROLE", "STATE", "GRANTED", "TWO-STEP", "EMAIL"]);
    for operator in operators {
        let Operator { user, grant } = operator;
        let state = state_text(operator.state(), grant, now);
        table.row(row(grant, state, two_step(Some(user)), &user.email));
    }
    for WaitingGrant { of, account } in waiting {
        let state = state_text(waiting_state(account.as_ref()), &of.grant, now);
        table.row(row(&of.grant, state, two_step(account.as_ref()), &of.email));
    }
    table.print();
    println!("{}", count(operators.len() + waiting.len(), "operator"));
}

fn two_step(account: Option<&User>) -> &'static str {
    match account {
        None => "no account",
        Some(user) if user.has_two_step() => "on",
        Some(_) => "off",
    }
}

/// Says whether the operator may enter, and if not, why.
fn state_text(state: OperatorState, grant: &Grant, now: Timestamp) -> String {
    match (state, grant.activated_at, grant.activation_expires_at) {
        (OperatorState::Banned, ..) => "banned".to_owned(),
        (OperatorState::Deletion, ..) => "in deletion".to_owned(),
        (OperatorState::Unverified, ..) => "not verified".to_owned(),
        (_, Some(at), _) => format!("active since {}", at.to_minute_text()),
        (_, None, Some(until)) if until > now => format!("link until {}", until.to_minute_text()),
        (_, None, _) => "asleep".to_owned(),
    }
}

fn row(grant: &Grant, state: String, two_step: &str, email: &Email) -> [String; 5] {
    let (role, granted) = (grant.role.as_str().to_owned(), grant.granted_at.to_minute_text());
    [role, state, granted, two_step.to_owned(), email.as_typed().to_owned()]
}

/// Prints what happened, with the activation link if the grant sleeps.
fn report(assembly: &Assembly, email: &Email, done: &str, granting: Granting) -> Result<(), CommandError> {
    let link = match granting {
        Granting::Active => {
            println!("{done}");
            return Ok(());
        }
        Granting::Ineligible(reason) => {
            let text = format!("{} cannot be an operator: {reason}; nothing changed", email.as_typed());
            return Err(refused(text));
        }
        Granting::Asleep(link) => link,
    };
    println!(
        "{done}, and activates it by this link, once, signed in, until {}:",
        link.expires_at.to_minute_text()
    );
    println!("{}", link.expose());
    if !assembly.has_console {
        eprintln!("The console is off: nobody can open the link until console.enabled is true.");
    }
    Ok(())
}
