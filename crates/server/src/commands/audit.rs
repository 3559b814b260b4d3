//! Command `latchkey audit`.

use std::io::{BufWriter, ErrorKind, Write};

use latchkey_domain::audit::{AuditEvent, AuditFilter};
use latchkey_domain::client::ClientAddress;
use latchkey_domain::ids::UserId;
use latchkey_http::endpoints::auth::audit::EventBody;
use serde_json::Value;

use super::{CommandError, user};
use crate::cli::{AuditArgs, UserRef};
use crate::wiring::Assembly;

/// Number of events that are printed as a table by default.
const LISTED: u64 = 50;
/// Number of events that are read at once.
const PAGE: u32 = 500;

/// Form of the output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Table,
    /// One event a line.
    Lines,
    /// One document, written while the events are read.
    Document,
}

pub(super) async fn run(assembly: &Assembly, arguments: &AuditArgs) -> Result<(), CommandError> {
    let filter = filter(assembly, arguments).await?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    match print(assembly, filter, arguments, &mut out).await {
        // The reader has enough, for example `head`.
        Err(CommandError::Io(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

async fn filter(assembly: &Assembly, arguments: &AuditArgs) -> Result<AuditFilter, CommandError> {
    Ok(AuditFilter {
        user_id: id_of(assembly, arguments.user.as_ref()).await?,
        kind: arguments.kind,
        actor: arguments.actor,
        operator: id_of(assembly, arguments.operator.as_ref()).await?,
        address: arguments.address.map(ClientAddress::new),
        from: arguments.since,
        until: arguments.until,
    })
}

/// Returns the id of an account. An id need not belong to an account, because events outlive their users.
async fn id_of(assembly: &Assembly, user: Option<&UserRef>) -> Result<Option<UserId>, CommandError> {
    Ok(match user {
        None => None,
        Some(UserRef::Id(id)) => Some(*id),
        Some(user) => Some(user::find(assembly, user).await?.id),
    })
}

async fn print(
    assembly: &Assembly,
    filter: AuditFilter,
    arguments: &AuditArgs,
    out: &mut impl Write,
) -> Result<(), CommandError> {
    let all = if arguments.jsonl { u64::MAX } else { LISTED };
    let mut left = arguments.limit.unwrap_or(all);
    let mut before = None;
    let form = match (arguments.jsonl, arguments.output.json) {
        (true, _) => Form::Lines,
        (_, true) => Form::Document,
        _ => Form::Table,
    };
    if form == Form::Document {
        write!(out, "{{\"data\":[")?;
    }
    let mut is_first = true;
    if form == Form::Table {
        writeln!(out, "{:<26}{:<24}{:<46}{:<38}{:<17}DETAILS", "TIME", "EVENT", "ACTOR", "USER", "ADDRESS")?;
    }
    while left > 0 {
        let limit = u32::try_from(left).unwrap_or(PAGE).min(PAGE);
        let page = assembly.service.admin.list_events(filter, before, limit).await?;
        for event in page.events {
            left -= 1;
            if form == Form::Document && !std::mem::take(&mut is_first) {
                write!(out, ",")?;
            }
            write_event(out, event, form)?;
        }
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    if form == Form::Document {
        writeln!(out, "]}}")?;
    }
    out.flush()?;
    Ok(())
}

fn write_event(out: &mut impl Write, event: AuditEvent, form: Form) -> std::io::Result<()> {
    match form {
        Form::Lines => return out.write_all(EventBody::from(event).line().as_bytes()),
        Form::Document => return out.write_all(EventBody::from(event).line().trim_end().as_bytes()),
        Form::Table => {}
    }
    let actor = match event.actor.operator() {
        Some(id) => format!("operator {id}"),
        None => event.actor.as_str().to_owned(),
    };
    let user = event.user_id.map_or_else(|| "-".to_owned(), |id| id.to_string());
    let address = event.client.map_or_else(|| "-".to_owned(), |client| client.address.to_string());
    let details =
        if event.details.is_empty() { String::new() } else { Value::from(event.details).to_string() };
    let (at, kind) = (event.at.to_string(), event.kind.as_str());
    let line = format!("{at:<26}{kind:<24}{actor:<46}{user:<38}{address:<17}{details}");
    writeln!(out, "{}", line.trim_end())
}
