//! Commands `latchkey user create`, `list`, `ban`, `unban` and `delete`. The commands
//! `latchkey user show`, `latchkey user why`, `latchkey user limits` and `latchkey user factors` are in the submodules.

mod factors;
mod show;
mod why;

use std::io::Write;

use latchkey_domain::email::Email;
use latchkey_domain::operator::Party;
use latchkey_domain::password::Password;
use latchkey_domain::profile::Name;
use latchkey_domain::user::{AppMetadata, User};
use latchkey_service::admin::{NewUser, UserChange, UserPosition, UserQuery};
use serde_json::{Value, json};

use super::{CommandError, json};
use crate::cli::{FactorsCommand, Output, UserCommand, UserRef};
use crate::terminal;
use crate::wiring::Assembly;

pub(super) async fn run(assembly: &Assembly, command: UserCommand) -> Result<(), CommandError> {
    match command {
        UserCommand::Create { email, name, verified, no_profile } => {
            let new = NewUser {
                email: parse_email(&email)?,
                password: Some(read_password().await?),
                name: Some(Name::parse(&name).map_err(|error| refused(format!("the name {error}")))?),
                auto_confirm: verified,
                create_profile: !no_profile,
                metadata: AppMetadata::default(),
                locale: None,
            };
            let user = assembly.service.admin.create_user(new, Party::System, None).await?;
            println!("{}", user.id);
        }
        UserCommand::List { search, limit, offset, output } => {
            let position = UserPosition::Offset(offset.into());
            list(assembly, UserQuery { search, position, limit }, output).await?;
        }
        UserCommand::Show { user, output } => show::run(assembly, &user, output).await?,
        UserCommand::Why { user, output } => why::run(assembly, &user, output).await?,
        UserCommand::Limits { user, lift, output } => why::limits(assembly, &user, lift, output).await?,
        UserCommand::Factors(FactorsCommand::Remove { user, passkeys, yes }) => {
            factors::remove(assembly, &user, passkeys, yes).await?;
        }
        UserCommand::Ban { user } => set_banned(assembly, &user, true).await?,
        UserCommand::Unban { user } => set_banned(assembly, &user, false).await?,
        UserCommand::Delete { user, yes } => delete(assembly, &user, yes).await?,
    }
    Ok(())
}

async fn list(assembly: &Assembly, query: UserQuery, output: Output) -> Result<(), CommandError> {
    let page = assembly.service.admin.list_users(query).await?;
    if output.json {
        let users: Vec<_> = page.users.iter().map(facts).collect();
        return Ok(json::print(&json!({"data": users, "total": page.total}))?);
    }
    println!("{:<38}{:<26}{:<10}{:<8}EMAIL", "ID", "CREATED", "VERIFIED", "BANNED");
    for user in &page.users {
        let (verified, banned) = (yes(user.email_verified), yes(user.is_banned()));
        let (id, created, email) = (user.id.to_string(), user.created_at.to_string(), user.email.as_typed());
        println!("{id:<38}{created:<26}{verified:<10}{banned:<8}{email}");
    }
    println!("{} of {}", page.users.len(), page.total);
    Ok(())
}

/// Facts of an account for `--json`, with the names of the admin API.
fn facts(user: &User) -> Value {
    json!({
        "id": user.id.to_string(),
        "email": user.email.as_typed(),
        "emailVerified": user.email_verified,
        "banned": user.is_banned(),
        "providers": user.providers(),
        "createdAt": user.created_at,
        "updatedAt": user.updated_at,
        "deletesAt": user.deletes_at,
    })
}

async fn set_banned(assembly: &Assembly, user: &UserRef, banned: bool) -> Result<(), CommandError> {
    let user = find(assembly, user).await?;
    let change = UserChange { banned: Some(banned), ..UserChange::default() };
    assembly.service.admin.change_user(user.id, change, Party::System, None).await?;
    println!("{} {}", if banned { "banned" } else { "unbanned" }, user.id);
    Ok(())
}

async fn delete(assembly: &Assembly, user: &UserRef, is_sure: bool) -> Result<(), CommandError> {
    if !is_sure && !terminal::is_there() {
        let text = "`user delete` asks before it deletes, and standard input is no terminal; nothing was deleted. Add \
                    --yes to delete without a question";
        return Err(refused(text.to_owned()));
    }
    let user = find(assembly, user).await?;
    if !is_sure {
        describe(assembly, &user).await?;
        if !terminal::ask_yes("Delete this account? It cannot be undone. [y/N] ").await? {
            return Err(refused("nothing was deleted".to_owned()));
        }
    }
    if assembly.service.admin.delete_users(&[user.id], Party::System, None).await? == 0 {
        return Err(refused("the account was deleted by another process meanwhile".to_owned()));
    }
    println!("deleted {}", user.id);
    Ok(())
}

/// Prints the account to standard error, with the data that its deletion removes.
async fn describe(assembly: &Assembly, user: &User) -> Result<(), CommandError> {
    let sessions = assembly.storage.store.list_sessions(user.id, assembly.service.now()).await?.len();
    let profile = match &user.profile {
        Some(profile) => format!("the profile {:?}", profile.name.as_str()),
        None => "no profile".to_owned(),
    };
    let ways = ways_in(user);
    let mut err = std::io::stderr();
    writeln!(err, "  Email    {}", user.email.as_typed())?;
    writeln!(err, "  Id       {}", user.id)?;
    writeln!(err, "  Created  {}", user.created_at)?;
    writeln!(err, "  Sign-in  {ways}")?;
    writeln!(
        err,
        "  Deleted  the account with its metadata, {profile}, its sessions ({sessions}), codes and links"
    )?;
    writeln!(err, "  Kept     the audit trail")?;
    Ok(())
}

fn ways_in(user: &User) -> String {
    match user.providers().as_slice() {
        [] => "none".to_owned(),
        providers => providers.join(", "),
    }
}

pub(super) async fn find(assembly: &Assembly, user: &UserRef) -> Result<User, CommandError> {
    Ok(match user {
        UserRef::Id(id) => assembly.service.admin.find_user(*id).await?,
        UserRef::Email(email) => assembly.service.admin.find_user_by_email(&parse_email(email)?).await?,
    })
}

fn parse_email(text: &str) -> Result<Email, CommandError> {
    Email::parse(text).map_err(|error| refused(format!("the email address {error}")))
}

/// Reads the password: asks twice at a terminal, otherwise takes the first line of standard input without its line end.
async fn read_password() -> Result<Password, CommandError> {
    if terminal::is_there() {
        return ask_password().await;
    }
    let password = terminal::read_line().await?;
    if password.is_empty() {
        return Err(refused("give the password on the first line of standard input".to_owned()));
    }
    Ok(Password::new(password.to_string()))
}

async fn ask_password() -> Result<Password, CommandError> {
    let password = terminal::ask_hidden("Password: ").await?;
    if password.is_empty() {
        return Err(refused("the password is empty; nothing was created".to_owned()));
    }
    if *terminal::ask_hidden("The same again: ").await? != *password {
        return Err(refused("the two passwords differ; nothing was created".to_owned()));
    }
    Ok(Password::new(password.to_string()))
}

pub(super) fn refused(text: String) -> CommandError {
    CommandError::Refused(text)
}

const fn yes(fact: bool) -> &'static str {
    if fact { "yes" } else { "no" }
}
