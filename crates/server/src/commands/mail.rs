//! Commands `latchkey mail list` and `latchkey mail retry`.

use std::cmp::Reverse;

use latchkey_domain::operator::Party;
use latchkey_http::endpoints::auth::mails::OutboxMailBody;
use latchkey_service::outbox::{ListMails, ListedMail, MailState};
use serde_json::json;

use super::table::Table;
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
    let mut table = Table::new(["ID", "KIND", "STATE", "TRIES", "WRITTEN", "TO"]);
    for mail in &mails {
        let (kind, state) = (mail.kind.as_str().to_owned(), mail.state.as_str().to_owned());
        let (written, to) = (mail.created_at.to_string(), mail.email.as_typed().to_owned());
        table.row([mail.id.to_string(), kind, state, mail.attempts.to_string(), written, to]);
        if let Some(error) = &mail.last_error {
            table.note(error);
        }
    }
    table.print();
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
            "{} {}",
            retried.left,
            if retried.left == 1 {
                "stays dead: its code or link has expired, or its content cannot be read"
            } else {
                "stay dead: their code or link has expired, or their content cannot be read"
            }
        );
    }
    Ok(())
}
