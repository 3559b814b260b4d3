//! Commands `latchkey user create`, `ban`, `unban` and `delete`. The other commands of `latchkey user` are in the
//! submodules.

mod acts;
mod factors;
mod list;
mod show;
mod stats;
mod why;

use std::io::Write;

use latchkey_domain::email::Email;
use latchkey_domain::operator::Party;
use latchkey_domain::password::Password;
use latchkey_domain::profile::Name;
use latchkey_domain::user::{AppMetadata, User};
use latchkey_service::admin::{HelpMail, NewUser, UserChange};
use serde_json::{Value, json};

use super::CommandError;
use super::sure::confirm;
use crate::cli::{FactorsCommand, Sure, UserCommand, UserRef};
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
        UserCommand::List(args) => list::run(assembly, &args).await?,
        UserCommand::Show { user, output } => show::run(assembly, &user, output).await?,
        UserCommand::Why { user, output } => why::run(assembly, &user, output).await?,
        UserCommand::Limits { user, lift, output } => why::limits(assembly, &user, lift, output).await?,
        UserCommand::Mails { user, output } => acts::mails(assembly, &user, output).await?,
        UserCommand::Stats { days, output } => stats::run(assembly, days, output).await?,
        UserCommand::SendVerification(args) => acts::send(assembly, args, HelpMail::Verification).await?,
        UserCommand::SendReset(args) => acts::send(assembly, args, HelpMail::Reset).await?,
        UserCommand::EndSessions { user, session } => acts::end_sessions(assembly, &user, session).await?,
        UserCommand::SetPassword { user } => acts::set_password(assembly, &user).await?,
        UserCommand::Unlink { user, provider, subject, sure } => {
            acts::unlink(assembly, &user, (&provider, subject.as_deref()), sure).await?;
        }
        UserCommand::Factors(FactorsCommand::Remove { user, passkeys, sure }) => {
            factors::remove(assembly, &user, passkeys, sure).await?;
        }
        UserCommand::Ban { user } => set_banned(assembly, &user, true).await?,
        UserCommand::Unban { user } => set_banned(assembly, &user, false).await?,
        UserCommand::Delete { user, sure } => delete(assembly, &user, sure).await?,
    }
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
        "lastSignInAt": user.last_sign_in_at,
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

async fn delete(assembly: &Assembly, user: &UserRef, sure: Sure) -> Result<(), CommandError> {
    let user = find(assembly, user).await?;
    let question = async || {
        describe(assembly, &user).await?;
        Ok("Delete this account? It cannot be undone.".to_owned())
    };
    confirm(sure, "user delete", "deleted", question).await?;
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

pub(super) fn parse_email(text: &str) -> Result<Email, CommandError> {
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
        return Err(refused("the password is empty; nothing was changed".to_owned()));
    }
    if *terminal::ask_hidden("The same again: ").await? != *password {
        return Err(refused("the two passwords differ; nothing was changed".to_owned()));
    }
    Ok(Password::new(password.to_string()))
}

pub(super) fn refused(text: String) -> CommandError {
    CommandError::Refused(text)
}

const fn yes(fact: bool) -> &'static str {
    if fact { "yes" } else { "no" }
}
