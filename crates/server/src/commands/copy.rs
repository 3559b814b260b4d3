//! Command `latchkey copy`: copies a whole instance from a SQLite file into a PostgreSQL database. This file has the
//! sequence of steps, the messages and the final comparison. The engines (`SqliteSource`, `CopyTarget`) read and write
//! the rows.

mod progress;

use std::time::Duration;

use latchkey_http::error::chain_of;
use latchkey_store_operations::bulk::{Table, TableDigest};
use latchkey_store_operations::tables::TABLES;
use latchkey_store_postgres::{CopyStart, CopyTarget, PostgresOptions, TargetError};
use latchkey_store_sqlite::{SourceError, SqliteSource};
use serde_json::{Value, json};

use self::progress::Progress;
use super::{CommandError, json};
use crate::cli::CopyArgs;
use crate::settings::{Settings, StorageUrl};

/// Number of rows per read and per write.
const BATCH: u32 = 500;

/// Minimum statement timeout of one batch, so that a slow disk does not abort the copy.
const STATEMENT_TIMEOUT: Duration = Duration::from_mins(5);

/// Row count and digest of every table of the source.
type Plan = Vec<(&'static Table, TableDigest)>;

pub(super) async fn run(settings: &Settings, arguments: &CopyArgs) -> Result<(), CommandError> {
    let source = SqliteSource::open(&arguments.from.0)?;
    let target = open_target(settings, arguments).await?;

    let plan = survey(&source)?;
    if target.begin(&plan).await? == CopyStart::GoesOn {
        eprintln!("An earlier run was interrupted; the copy resumes.");
    }
    let mut progress = Progress::new("copying", rows_of(&plan));
    for (table, _) in &plan {
        copy_table(&source, &target, table, &mut progress).await?;
    }
    progress.end();
    let found = verify(&target, &plan).await?;

    if arguments.output.json {
        json::print(&comparison(&plan, &found))?;
    } else {
        print_comparison(&plan, &found);
    }
    judge(&plan, &found)?;
    if source.has_changed()? {
        return Err(CommandError::Refused(
            "the source was written to while it was copied, so the copy lacks something: stop whatever writes to it, \
             make the target database anew and copy again"
                .to_owned(),
        ));
    }
    target.finish().await?;
    if !arguments.output.json {
        println!("{AFTERWARDS}");
    }
    Ok(())
}

/// Steps that the operator has to do after a successful copy.
const AFTERWARDS: &str = "
The copy is whole. Before the service starts on it:
  1. set storage.url to the new database;
  2. give it the same server.secret. It is not in the database, and without it no session, code, link or signing key
     is accepted. In development mode it is the file server-secret in the data folder.
The source was not changed; keep it until the new instance has been seen to work.";

impl From<SourceError> for CommandError {
    fn from(error: SourceError) -> Self {
        Self::Refused(format!("the source: {}", chain_of(&error)))
    }
}

impl From<TargetError> for CommandError {
    fn from(error: TargetError) -> Self {
        match error {
            // PostgreSQL refuses the null character, but the operator has to remove it from the source.
            TargetError::NullCharacter { .. } => Self::Refused(format!("the source: {error}")),
            _ => Self::Refused(format!("the target: {}", chain_of(&error))),
        }
    }
}

async fn open_target(settings: &Settings, arguments: &CopyArgs) -> Result<CopyTarget, CommandError> {
    let refuse = |reason: &str| CommandError::Refused(format!("the target: {reason}"));
    let given = arguments.to.as_ref().map(|given| StorageUrl::parse(given.0.reveal())).transpose();
    let given = given.map_err(|reason| refuse(&reason))?;
    match given.as_ref().unwrap_or(&settings.storage.url) {
        StorageUrl::Postgres(url) => {
            let options = settings.postgres.options(url.reveal());
            let statement_timeout = options.statement_timeout.max(STATEMENT_TIMEOUT);
            Ok(CopyTarget::open(PostgresOptions { statement_timeout, ..options }).await?)
        }
        StorageUrl::Sqlite(_) => Err(refuse("give --to postgres://…, or set storage.url to it")),
    }
}

/// Reads the whole source before anything is written: computes the digest of each table, and checks that PostgreSQL can
/// store every row.
fn survey(source: &SqliteSource) -> Result<Plan, CommandError> {
    let mut progress = Progress::new("reading", 0);
    let mut plan = Plan::new();
    for table in TABLES {
        let digest = source.digest(table, BATCH, |rows| {
            progress.advance(table.name, rows.len());
            CopyTarget::check(table, rows).map_err(CommandError::from)
        })?;
        plan.push((table, digest));
    }
    progress.end();
    Ok(plan)
}

/// Copies the rows of a table that an earlier, interrupted run did not copy.
async fn copy_table(
    source: &SqliteSource,
    target: &CopyTarget,
    table: &'static Table,
    progress: &mut Progress,
) -> Result<(), CommandError> {
    let mut after = target.copied(table).await?;
    let copied = after.as_ref().map_or(Ok(0), |key| source.count_up_to(table, key))?;
    progress.advance(table.name, usize::try_from(copied).unwrap_or_default());
    loop {
        let rows = source.rows(table, after.as_ref(), BATCH)?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = Some(last[..table.key].to_vec());
        target.append(table, &rows).await?;
        progress.advance(table.name, rows.len());
    }
}

/// Reads the whole target and computes the digest of each table.
async fn verify(target: &CopyTarget, plan: &Plan) -> Result<Vec<TableDigest>, CommandError> {
    let mut progress = Progress::new("verifying", rows_of(plan));
    let mut found = Vec::new();
    for (table, _) in plan {
        found.push(target.digest(table, BATCH, |rows| progress.advance(table.name, rows)).await?);
    }
    progress.end();
    Ok(found)
}

fn rows_of(plan: &Plan) -> u64 {
    plan.iter().map(|(_, digest)| digest.rows).sum()
}

fn comparison(plan: &Plan, found: &[TableDigest]) -> Value {
    let compared = plan.iter().zip(found).map(|((table, source), target)| {
        json!({
            "table": table.name,
            "source": {"rows": source.rows, "digest": source.to_string()},
            "target": {"rows": target.rows, "digest": target.to_string()},
            "same": source == target,
        })
    });
    json!({"data": compared.collect::<Vec<_>>()})
}

fn print_comparison(plan: &Plan, found: &[TableDigest]) {
    println!("{:<16}{:>12}{:>12}  {:<18}{:<18}VERDICT", "TABLE", "SOURCE", "TARGET", "DIGEST", "DIGEST");
    for ((table, source), target) in plan.iter().zip(found) {
        let verdict = if source == target { "same" } else { "DIFFERENT" };
        let (name, source_rows, target_rows) = (table.name, source.rows, target.rows);
        println!("{name:<16}{source_rows:>12}{target_rows:>12}  {source:<18}{target:<18}{verdict}");
    }
}

fn judge(plan: &Plan, found: &[TableDigest]) -> Result<(), CommandError> {
    let different = plan.iter().zip(found).filter(|((_, source), target)| source != *target);
    let names: Vec<_> = different.map(|((table, _), _)| table.name).collect();
    if names.is_empty() {
        return Ok(());
    }
    Err(CommandError::Refused(format!(
        "the copy is not the source: {} differ. Something else has written to the target: recreate it and copy again",
        names.join(", ")
    )))
}
