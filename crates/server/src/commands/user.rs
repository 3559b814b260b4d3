//! `latchkey user …`

use std::io::{BufRead, IsTerminal};

use latchkey_domain::audit::Actor;
use latchkey_domain::email::Email;
use latchkey_domain::ids::UserId;
use latchkey_domain::password::Password;
use latchkey_domain::profile::Name;
use latchkey_domain::user::{AppMetadata, User};
use latchkey_service::admin::{NewUser, UserChange, UserPosition, UserQuery};

use super::CommandError;
use crate::cli::{UserCommand, UserRef};
use crate::wiring::Assembly;

pub(super) async fn run(assembly: &Assembly, command: UserCommand) -> Result<(), CommandError> {
    match command {
        UserCommand::Create { email, name, verified, no_profile } => {
            let new = NewUser {
                email: parse_email(&email)?,
                password: Some(read_password()?),
                name: Some(Name::parse(&name).map_err(|error| refused(format!("the name {error}")))?),
                auto_confirm: verified,
                create_profile: !no_profile,
                metadata: AppMetadata::default(),
            };
            let user = assembly.service.create_user(new, Actor::System, None).await?;
            println!("{}", user.id);
        }
        UserCommand::List { search, limit, offset } => list(assembly, search, limit, offset).await?,
        UserCommand::Ban { user } => set_banned(assembly, &user, true).await?,
        UserCommand::Unban { user } => set_banned(assembly, &user, false).await?,
        UserCommand::Delete { user } => {
            let user = find(assembly, &user).await?;
            assembly.service.delete_users(&[user.id], Actor::System, None).await?;
            println!("deleted {}", user.id);
        }
    }
    Ok(())
}

async fn list(
    assembly: &Assembly,
    search: Option<String>,
    limit: u32,
    offset: u32,
) -> Result<(), CommandError> {
    let position = UserPosition::Offset(offset.into());
    let page = assembly.service.list_users(UserQuery { search, position, limit }).await?;
    println!("{:<38}{:<26}{:<10}{:<8}EMAIL", "ID", "CREATED", "VERIFIED", "BANNED");
    for user in &page.users {
        let (verified, banned) = (yes(user.email_verified), yes(user.is_banned()));
        let (id, created, email) = (user.id.to_string(), user.created_at.to_string(), user.email.as_typed());
        println!("{id:<38}{created:<26}{verified:<10}{banned:<8}{email}");
    }
    println!("{} of {}", page.users.len(), page.total);
    Ok(())
}

async fn set_banned(assembly: &Assembly, user: &UserRef, banned: bool) -> Result<(), CommandError> {
    let user = find(assembly, user).await?;
    let change = UserChange { banned: Some(banned), ..UserChange::default() };
    assembly.service.change_user(user.id, change, Actor::System, None).await?;
    println!("{} {}", if banned { "banned" } else { "unbanned" }, user.id);
    Ok(())
}

async fn find(assembly: &Assembly, user: &UserRef) -> Result<User, CommandError> {
    Ok(match user {
        UserRef::Id(id) => assembly.service.find_user(UserId::from_uuid(*id)).await?,
        UserRef::Email(email) => assembly.service.find_user_by_email(&parse_email(email)?).await?,
    })
}

fn parse_email(text: &str) -> Result<Email, CommandError> {
    Email::parse(text).map_err(|error| refused(format!("the email address {error}")))
}

/// The first line of standard input, without its line end.
fn read_password() -> Result<Password, CommandError> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        eprintln!("Password (shown as you type; better pipe it in):");
    }
    let mut line = String::new();
    stdin.lock().read_line(&mut line)?;
    let password =
        line.strip_suffix('\n').map_or(line.as_str(), |line| line.strip_suffix('\r').unwrap_or(line));
    if password.is_empty() {
        return Err(refused("give the password on the first line of standard input".to_owned()));
    }
    Ok(Password::new(password.to_owned()))
}

fn refused(text: String) -> CommandError {
    CommandError::Refused(text)
}

const fn yes(fact: bool) -> &'static str {
    if fact { "yes" } else { "no" }
}
