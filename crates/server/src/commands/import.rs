//! Commands `latchkey import`, `import list`, `import show` and `import undo`.

mod jobs;
mod neighbours;
mod open;
mod open_foreign;
mod progress;
mod report;

use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use latchkey_domain::imports::ImportJob;
use latchkey_domain::operator::Party;
use latchkey_domain::time::Timestamp;
use latchkey_http::endpoints::auth::import::ImportBody;
use latchkey_import::{FORMATS, FirebaseHashes, Format, ImportOptions, Records};
use latchkey_service::imports::{Control, ImportEnd, RunningImport, StartImport, Stop};
use serde_json::json;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use self::neighbours::Neighbours;
use self::open::{Opened, Source};
use self::progress::Progress;
use self::report::Report;
use super::{CommandError, new_database::assemble_for_command, user::refused};
use crate::cli::{ImportArgs, ImportFile};
use crate::settings::{Settings, StorageUrl};
use crate::signals::Endings;
use crate::storage::OpenedBy;
use crate::terminal::on_thread;
use crate::wiring::Assembly;

/// Nice value of an import, so that the requests of a service on this machine go first.
const NICENESS: i32 = 10;
/// Interval of the progress.
const SECOND: Duration = Duration::from_secs(1);
/// Exit code of an import that refused records.
const SOME_REFUSED: u8 = 2;

pub(super) async fn run(settings: &Settings, arguments: ImportArgs) -> Result<ExitCode, CommandError> {
    let mut endings = Endings::receive()?;
    // Threads that are started from here inherit it. Without it, the import is only less polite.
    let _ = rustix::process::setpriority_process(None, NICENESS);
    let working = async {
        // Beside a service, rarer checkpoints would leave their work to the service's next write.
        let is_alone = sharing(settings).is_some_and(|is_shared| !is_shared());
        let opened_by =
            if is_alone && arguments.command.is_none() { OpenedBy::Import } else { OpenedBy::Command };
        let assembly = assemble_for_command(settings, opened_by).await?;
        if let Some(command) = arguments.command {
            return jobs::run(&assembly, settings, command).await.map(|()| None);
        }
        let import = open(arguments.file, assembly.service.now()).await?;
        Ok(Some((assembly, import)))
    };
    let opened = tokio::select! {
        done = working => done?,
        ending = endings.next() => return Err(CommandError::Ended(ending)),
    };
    match opened {
        None => Ok(ExitCode::SUCCESS),
        Some((assembly, import)) => import.run(&assembly, settings, endings).await,
    }
}

/// A file that is about to be imported.
struct Import {
    arguments: ImportFile,
    format: &'static Format,
    options: ImportOptions,
    records: Records,
    stop: Stop,
    /// Name, digest and size of the file.
    source: Source,
    report: Option<Report>,
}

async fn open(arguments: ImportFile, now: Timestamp) -> Result<Import, CommandError> {
    let names = || FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    let Some(from) = &arguments.from else {
        return Err(refused(format!("give --from with the format of the file: {}", names())));
    };
    let format = Format::find(from);
    let format =
        format.ok_or_else(|| refused(format!("{from:?} is no format; wanted one of {}", names())))?;
    let mut options = ImportOptions {
        is_unverified: arguments.unverified,
        allow_weak: arguments.allow_weak,
        keep_rest: arguments.keep_rest,
        realm: arguments.realm.clone(),
        now,
        ..ImportOptions::default()
    };
    for column in &arguments.column {
        options.add_column(column).map_err(|problem| refused(format!("--column {problem}")))?;
    }
    if let Some(path) = &arguments.hash_config {
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
        let hashes = FirebaseHashes::parse(&text);
        options.firebase = Some(hashes.map_err(|problem| refused(format!("--hash-config: {problem}")))?);
    }
    let stop = Stop::default();
    let opened = match &arguments.url_file {
        Some(url_file) => Some(open_foreign::postgres(url_file, &arguments, format).await?),
        None => None,
    };
    on_thread(move || {
        let opened = opened.map_or_else(|| open::open(&arguments, format, stop.clone()), Ok)?;
        let Opened { input, source } = opened;
        let records = Records::open(format, input, options.clone());
        let records = records.map_err(|error| refused(format!("{}: {error}", source.name)))?;
        let report = report::open(&arguments)?;
        Ok(Import { arguments, format, options, records, stop, source, report })
    })
    .await
}

fn unreadable(path: &std::path::Path, error: &std::io::Error) -> CommandError {
    refused(format!("{} cannot be read: {error}", path.display()))
}

impl Import {
    async fn run(
        self,
        assembly: &Assembly,
        settings: &Settings,
        mut endings: Endings,
    ) -> Result<ExitCode, CommandError> {
        let imports = &assembly.service.imports;
        let Self { arguments, format, options, records, stop, source, mut report } = self;
        if !arguments.json {
            print_columns(&records);
        }
        let start = StartImport {
            format,
            source: source.name.clone(),
            file: source.digest.unwrap_or_else(|| assembly.service.random_bytes()),
            options: &options,
            policy: arguments.on_conflict,
            is_dry_run: arguments.dry_run,
            is_stored: !arguments.dry_run,
            takes_over: source.is_named_file(),
        };
        let mut running = imports.begin(start, Party::System, None).await?;
        report.as_ref().map_or(Ok(()), Report::begin)?;
        let progress = Mutex::new(Progress::new(&running, source.size.zip(source.read), &arguments));
        let progress = || progress.lock().unwrap_or_else(PoisonError::into_inner);
        let control = Control { rate: arguments.rate, is_shared: sharing(settings), stop };
        let is_dry_run = arguments.dry_run;
        let mut stopped = None;
        let end = {
            let run = imports.run(&mut running, records, &control, |batch| {
                progress().advance(batch);
                if is_dry_run && let Some(report) = &mut report {
                    report.write(batch.results);
                }
            });
            tokio::pin!(run);
            let mut seconds = interval_at(Instant::now() + SECOND, SECOND);
            seconds.set_missed_tick_behavior(MissedTickBehavior::Delay); // after a halt of the process
            loop {
                tokio::select! {
                    end = &mut run => break end,
                    _ = seconds.tick() => progress().show(),
                    ending = endings.next() => {
                        stopped = Some(ending);
                        control.stop.ask();
                    }
                }
            }
        };
        progress().end();
        if let Some(report) = report {
            report.finish(imports, &running, end.as_ref().ok()).await?;
        }
        finish(settings, &running, end?, arguments.json, &source.name, stopped)
    }
}

/// Prints the column that each field of ours is read from.
fn print_columns(records: &Records) {
    if !records.columns().is_empty() {
        let columns = records.columns().iter().map(|(ours, theirs)| format!("{ours}={theirs}"));
        eprintln!("columns: {}", columns.collect::<Vec<_>>().join(" "));
    }
}

fn sharing(settings: &Settings) -> Option<Box<dyn Fn() -> bool + Send + Sync>> {
    match &settings.storage.url {
        StorageUrl::Postgres(_) => None,
        StorageUrl::Sqlite(path) => {
            let neighbours = Neighbours::of(path.clone());
            Some(Box::new(move || neighbours.are_there()))
        }
    }
}

/// Prints the result, and returns the exit code.
fn finish(
    settings: &Settings,
    running: &RunningImport,
    end: ImportEnd,
    is_json: bool,
    name: &str,
    stopped: Option<crate::signals::Ending>,
) -> Result<ExitCode, CommandError> {
    let job = &running.job;
    if is_json {
        println!("{}", json!({"job": ImportBody::from(job.clone())}));
    } else {
        print!("{}{}", summary(job, name), report_of(job, settings));
    }
    match end {
        ImportEnd::Done if job.counts.refused > 0 => Ok(ExitCode::from(SOME_REFUSED)),
        ImportEnd::Done => Ok(ExitCode::SUCCESS),
        ImportEnd::Stopped => Err(stopped.map_or_else(|| refused("stopped".to_owned()), CommandError::Ended)),
        ImportEnd::Clash(line, problem) => {
            let (code, message) = (problem.code, problem.message);
            let first = undo_of(job, settings).map_or_else(String::new, |undo| format!("{undo}, then "));
            let next = format!("{first}mend the record or give another --on-conflict");
            Err(refused(format!("line {line}: {message} ({code}). {next}")))
        }
        ImportEnd::Unreadable(error) => {
            let next = undo_of(job, settings).map_or_else(String::new, |undo| format!(". {undo}"));
            Err(refused(format!("{name}: {error}{next}")))
        }
    }
}

/// Says how to take back what an import wrote before it ended early; `None` if it wrote nothing.
fn undo_of(job: &ImportJob, settings: &Settings) -> Option<String> {
    let wrote = !job.is_dry_run && job.counts.created + job.counts.updated > 0;
    let undo = settings.command_line(&format!("import undo {}", job.id));
    wrote.then(|| format!("What was written before stays: take it back by `{undo}`"))
}

/// Returns the numbers of an import, for people.
fn summary(job: &ImportJob, name: &str) -> String {
    use std::fmt::Write as _;
    let counts = &job.counts;
    let verb = if job.is_dry_run { "would be created" } else { "created" };
    let mut text = format!(
        "{name}: {} read, {} {verb}, {} updated, {} skipped, {} refused\n",
        counts.read, counts.created, counts.updated, counts.skipped, counts.refused
    );
    for (code, count) in &counts.problems {
        let _ = writeln!(text, "  {count:>10} {code}"); // writing to a String cannot fail
    }
    text
}

/// Returns the line with the command that prints the report again; nothing for a dry run, which is not stored.
fn report_of(job: &ImportJob, settings: &Settings) -> String {
    if job.is_dry_run {
        return String::new();
    }
    let show = settings.command_line(&format!("import show {}", job.id));
    format!("import {}: `{show}` prints the report\n", job.id)
}
