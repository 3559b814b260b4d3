//! Command `latchkey user factors remove`.

use std::io::Write;

use latchkey_domain::operator::Party;
use latchkey_service::factors::AccountFactors;

use super::find;
use crate::cli::{Sure, UserRef};
use crate::commands::CommandError;
use crate::commands::count::count;
use crate::commands::sure::confirm;
use crate::wiring::Assembly;

pub(super) async fn remove(
    assembly: &Assembly,
    user: &UserRef,
    with_passkeys: bool,
    sure: Sure,
) -> Result<(), CommandError> {
    let user = find(assembly, user).await?;
    let question = async || {
        describe(&assembly.service.factors.of_user(user.id).await?, with_passkeys)?;
        Ok("Remove these factors? Be sure that the owner asks for it.".to_owned())
    };
    confirm(sure, "user factors remove", "removed", question).await?;
    assembly.service.factors.reset(user.id, with_passkeys, Party::System, None).await?;
    println!("removed the second factors of {}", user.id);
    Ok(())
}

/// Prints the account and its second factors to standard error.
fn describe(
    AccountFactors { user, factors }: &AccountFactors,
    with_passkeys: bool,
) -> Result<(), CommandError> {
    let mut err = std::io::stderr();
    let two_step = if user.has_two_step() { "on" } else { "off" };
    writeln!(err, "  Email     {}", user.email.as_typed())?;
    writeln!(err, "  Id        {}", user.id)?;
    writeln!(err, "  Two-step  {two_step}")?;
    for totp in &factors.totp {
        writeln!(err, "  App       {}, added {}", totp.name.as_str(), totp.created_at.to_minute_text())?;
    }
    for passkey in &factors.passkeys {
        let kept = if with_passkeys { "" } else { "; kept, --passkeys removes it" };
        let (name, added) = (passkey.name.as_str(), passkey.created_at.to_minute_text());
        writeln!(err, "  Passkey   {name}, added {added}{kept}")?;
    }
    writeln!(err, "  Recovery  {}", count(factors.recovery_codes_left, "unused code"))?;
    writeln!(err, "  Ended     all sessions; the owner signs in again and gets a mail")?;
    Ok(())
}
