//! Commands `latchkey mail list` and `latchkey mail retry`.

use std::cmp::Reverse;

use latchkey_store::MailState;

use super::CommandError;
use crate::cli::{MailCommand, RetryArgs};
use crate::wiring::Assembly;

pub(super) async fn run(assembly: &Assembly, command: MailCommand) -> Result<(), CommandError> {
    match command {
        MailCommand::List { dead, limit } => list(assembly, dead, limit).await,
        MailCommand::Retry(which) => retry(assembly, which).await,
    }
}

async fn list(assembly: &Assembly, dead: bool, limit: u32) -> Result<(), CommandError> {
    let mut mails = assembly.service.outbox.list(Some(MailState::Dead), limit).await?;
    if !dead {
        mails.extend(assembly.service.outbox.list(Some(MailState::Queued), limit).await?);
        mails.sort_by_key(|mail| Reverse((mail.created_at, mail.id)));
        mails.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    }
    println!("{:<38}{:<17}{:<8}{:<7}{:<26}TO", "ID", "KIND", "STATE", "TRIES", "WRITTEN");
    for mail in &mails {
        let (id, kind, state) = (mail.id.to_string(), mail.kind.as_str(), mail.state.as_str());
        let (written, to) = (mail.created_at.to_string(), mail.email.as_typed());
        println!("{id:<38}{kind:<17}{state:<8}{:<7}{written:<26}{to}", mail.attempts);
        if let Some(error) = &mail.last_error {
            println!("    {error}");
        }
    }
    Ok(())
}

async fn retry(assembly: &Assembly, which: RetryArgs) -> Result<(), CommandError> {
    let count = assembly.service.outbox.retry(which.id).await?;
    if count == 0 && which.id.is_some() {
        return Err(CommandError::Refused("there is no dead mail of this id".to_owned()));
    }
    println!("{count} put back into the queue");
    Ok(())
}
