//! Commands `latchkey mail list` and `latchkey mail retry`.

use std::cmp::Reverse;

use latchkey_domain::operator::Party;
use latchkey_http::endpoints::auth::mails::OutboxMailBody;
use latchkey_service::outbox::{ListMails, ListedMail, MailState};
use serde_json::json;

use super::{CommandError, json};
use crate::cli::{MailCommand, Output, RetryArgs};
use crate::wiring::Assembly;

pub(super) async fn run(assembly: &Assembly, command: MailCommand) -> Result<(), CommandError> {
    match command {
        MailCommand::List { dead, sent, limit, output } => {
            print(list(assembly, states(dead, sent), limit).await?, output)
        }
        MailCommand::Retry(which) => retry(assembly, which).await,
    }
}

/// Returns the states of the mails to list: those that wait and the dead ones, unless one is asked for.
const fn states(dead: bool, sent: bool) -> &'static [MailState] {
    match (dead, sent) {
        (true, _) => &[MailState::Dead],
        (_, true) => &[MailState::Sent],
        (false, false) => &[MailState::Dead, MailState::Queued],
    }
}

async fn list(
    assembly: &Assembly,
    states: &[MailState],
    limit: u32,
) -> Result<Vec<ListedMail>, CommandError> {
    let mut mails = Vec::new();
    for state in states {
        mails.extend(assembly.service.outbox.list(&ListMails::newest(Some(*state), limit)).await?.mails);
    }
    mails.sort_by_key(|mail| Reverse((mail.created_at, mail.id)));
    mails.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(mails)
}

/// Prints mails without their content, each with the error of its last failed attempt.
pub(super) fn print(mails: Vec<ListedMail>, output: Output) -> Result<(), CommandError> {
    if output.json {
        let mails = mails.into_iter().map(|mail| json!(OutboxMailBody::from(mail)));
        return Ok(json::print(&json!({"data": mails.collect::<Vec<_>>()}))?);
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
    let outbox = &assembly.service.outbox;
    if let Some(id) = which.id {
        outbox.retry(id, Party::System, None).await?;
        println!("1 put back into the queue");
        return Ok(());
    }
    let retried = outbox.retry_all(Party::System, None).await?;
    println!("{} put back into the queue", retried.queued);
    if retried.left > 0 {
        println!(
            "{} stay dead: their code or link has expired, or their content cannot be read",
            retried.left
        );
    }
    Ok(())
}
