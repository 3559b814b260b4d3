//! Execution of the commands, and their common error. Their arguments are in [`crate::cli`].

/// Prints to standard output, where the macro of the standard library panics if nobody reads.
macro_rules! print {
    ($($text:tt)*) => { $crate::commands::output::print(format_args!($($text)*)) };
}

/// Prints a line to standard output, where the macro of the standard library panics if nobody reads.
macro_rules! println {
    () => { print!("\n") };
    ($($text:tt)*) => { print!("{}\n", format_args!($($text)*)) };
}

mod audit;
mod backup;
mod config;
mod copy;
mod count;
mod documents;
mod export;
mod health;
mod import;
mod init;
mod install;
mod json;
mod keys;
mod mail;
mod migrate;
mod new_database;
mod oauth;
mod operator;
mod output;
mod pages;
mod redirects;
mod restore;
mod secret;
mod sure;
mod table;
mod thread;
mod user;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::backups;
use crate::cli::{Command, ConfigCommand, Override, SecretCommand, SettingsArgs};
use crate::data_folder::DataFolderError;
use crate::logging::{self, LogThread};
use crate::preflight;
use crate::serve::{ServeError, serve};
use crate::settings::{LogFormat, LogSettings, Scope, Settings, SettingsError, Sources, log_format};
use crate::signals::{Ending, Endings};
use crate::start_error;
use crate::storage::OpenedBy;
use crate::traces::{self, TraceError};
use crate::wiring::{Assembly, WiringError};

/// Exit code for arguments that cannot be used, as the parser of the command line has it.
const WRONG_ARGUMENTS: u8 = 2;

/// Failure of a command. Its text is shown on the terminal.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A part of the service could not be built from the settings.
    #[error(transparent)]
    Wiring(#[from] WiringError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// A use case of the service failed or refused the request.
    #[error("{}", explained(.0))]
    Service(#[from] latchkey_service::Error),
    /// The storage engine failed.
    #[error("{}", latchkey_http::error::chain_of(.0))]
    Store(#[from] latchkey_store::StoreError),
    /// A file could not be written.
    #[error(transparent)]
    File(#[from] DataFolderError),
    /// Traces cannot be exported as the settings say.
    #[error(transparent)]
    Traces(#[from] TraceError),
    /// The async runtime could not be started, or standard input could not be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The arguments do not go together; the text says why.
    #[error("{0}")]
    Arguments(String),
    /// The command refused its input or the state that it found; the text gives the reason.
    #[error("{0}")]
    Refused(String),
    /// A signal ended the command before it was done.
    #[error("ended by {0}")]
    Ended(Ending),
}

/// Returns the text of an error of a use case; for a refusal, with what to do about it.
fn explained(error: &latchkey_service::Error) -> String {
    match error {
        latchkey_service::Error::Refused(refusal) => format!("{} {}", refusal.message, refusal.next_action),
        _ => latchkey_http::error::chain_of(error),
    }
}

/// Runs a command and returns the exit code of the process.
pub fn run(
    arguments: SettingsArgs,
    command: Command,
    environment: impl IntoIterator<Item = (OsString, OsString)>,
) -> ExitCode {
    let environment: Vec<_> = environment.into_iter().collect();
    // Start errors of the service have the configured log format, because log collectors read them. Other commands
    // print text for a person.
    let format = match command {
        Command::Serve => {
            let overrides = arguments.overrides.iter().map(Override::text);
            log_format(arguments.config.as_deref(), &environment, overrides)
        }
        _ => LogFormat::Text,
    };
    let done = dispatch(arguments, command, environment);
    match done.and_then(|code| output::check().map(|()| code).map_err(CommandError::from)) {
        Ok(code) => code,
        Err(CommandError::Ended(ending)) => {
            eprintln!();
            ExitCode::from(ending.exit_code())
        }
        Err(error) => {
            start_error::tell(&error, format);
            ExitCode::from(if matches!(error, CommandError::Arguments(_)) { WRONG_ARGUMENTS } else { 1 })
        }
    }
}

#[expect(clippy::too_many_lines, reason = "an arm for each command")]
fn dispatch(
    arguments: SettingsArgs,
    command: Command,
    environment: Vec<(OsString, OsString)>,
) -> Result<ExitCode, CommandError> {
    if matches!(command, Command::Init(_)) && !(arguments.overrides.is_empty() && arguments.config.is_none())
    {
        let text = "--set and --config: init takes neither, because it writes a settings file: change that afterwards";
        return Err(CommandError::Arguments(text.to_owned()));
    }
    let overrides = arguments.overrides.into_iter().map(Override::into_text).collect();
    let sources = Sources::gather(arguments.config.as_deref(), environment.clone(), overrides);
    match command {
        Command::Version(output) => install::version(output)?,
        Command::Document(document) => documents::print(&document),
        Command::Completions(arguments) => install::completions(&arguments)?,
        Command::Man(arguments) => install::man(&arguments)?,
        Command::Health(arguments) => return runtime()?.block_on(health::run(sources, &arguments)),
        Command::Init(arguments) => {
            return runtime()?.block_on(unless_ended(init::run(arguments, environment)));
        }
        Command::Migrate(arguments) => {
            let settings = Settings::load_for(sources?, Scope::Database)?;
            let _log = start_command_log()?;
            return runtime()?.block_on(migrate::run(&settings, &arguments));
        }
        Command::Backup(arguments) => {
            let settings = Settings::load_for(sources?, Scope::Database)?;
            let _log = start_command_log()?;
            runtime()?.block_on(unless_ended(backup::run(settings, arguments)))?;
        }
        Command::Restore(arguments) => {
            let settings = Settings::load_for(sources?, Scope::Database)?;
            let _log = start_command_log()?;
            runtime()?.block_on(unless_ended(restore::run(settings, arguments)))?;
        }
        Command::Secret(SecretCommand::Rotate(output)) => {
            let settings = Settings::load_for(sources?, Scope::Database)?;
            let _log = start_command_log()?;
            runtime()?.block_on(secret::rotate(&settings, output))?;
        }
        Command::Copy(arguments) => {
            let settings = Settings::load_for(sources?, Scope::Database)?;
            let _log = start_command_log()?;
            runtime()?.block_on(copy::run(&settings, &arguments))?;
        }
        Command::Pages(command) => pages::run(&Settings::load_for(sources?, Scope::Pages)?, command)?,
        Command::Config(command) => return run_config(&command, sources),
        Command::Serve => {
            let settings = preflight::admit(Settings::load(sources?)?)?;
            let (export, traces) = traces::start(&settings.traces)?.unzip();
            let _log = logging::start(&settings.log, traces)?;
            let _export = export; // dropped before the log
            runtime()?.block_on(serve(settings))?;
        }
        Command::User(command) => {
            with_service(sources, Scope::Database, async |assembly| user::run(&assembly, command).await)?;
        }
        Command::Operator(command) => {
            with_service(sources, Scope::Database, async |assembly| operator::run(&assembly, command).await)?;
        }
        Command::Audit(arguments) => {
            with_service(sources, Scope::Database, async |assembly| audit::run(&assembly, &arguments).await)?;
        }
        Command::Export(arguments) => {
            with_service(sources, Scope::Database, async |assembly| export::run(&assembly, arguments).await)?;
        }
        Command::OAuth(command) => {
            with_service(sources, Scope::Providers, async |assembly| oauth::run(&assembly, command).await)?;
        }
        Command::Keys(command) => {
            with_service(sources, Scope::Database, async |assembly| keys::run(&assembly, command).await)?;
        }
        Command::Import(arguments) => {
            let (settings, _log) = (Settings::load_for(sources?, Scope::Providers)?, start_command_log()?);
            return runtime()?.block_on(import::run(&settings, *arguments));
        }
        Command::Mail(command) => {
            with_service(sources, Scope::Database, async |assembly| mail::run(&assembly, command).await)?;
        }
        Command::Redirects(command) => {
            return with_service(sources, Scope::Database, async |assembly| {
                redirects::run(&assembly, command)
            });
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn run_config(
    command: &ConfigCommand,
    sources: Result<Sources, SettingsError>,
) -> Result<ExitCode, CommandError> {
    match *command {
        ConfigCommand::Check(output) => return Ok(runtime()?.block_on(config::check(sources, output))?),
        ConfigCommand::Print { defaults: true, .. } => config::print_defaults(),
        ConfigCommand::Print { defaults: false, output } => {
            let settings = Settings::load(sources?)?;
            let _log = start_command_log()?;
            runtime()?.block_on(config::print(settings, output))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Starts the log of a command other than `serve`: warnings and errors, as text.
fn start_command_log() -> std::io::Result<LogThread> {
    logging::start(&LogSettings { format: LogFormat::Text, level: "warn".to_owned() }, None)
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
}

/// Builds the service on the configured database and runs a command on it until the command is done or a signal
/// arrives. A service may run on the same database meanwhile.
fn with_service<T>(
    sources: Result<Sources, SettingsError>,
    scope: Scope,
    work: impl AsyncFnOnce(Assembly) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let settings = Settings::load_for(sources?, scope)?;
    let _log = start_command_log()?;
    runtime()?.block_on(unless_ended(async {
        let assembly = new_database::assemble_for_command(&settings, OpenedBy::Command).await?;
        work(assembly).await
    }))
}

/// Runs a command until it is done or a signal arrives. What it holds is dropped then: a terminal gets its echo back.
async fn unless_ended<T>(working: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    let mut endings = Endings::receive()?;
    tokio::select! {
        done = working => done,
        ending = endings.next() => {
            backups::give_up();
            Err(CommandError::Ended(ending))
        }
    }
}
