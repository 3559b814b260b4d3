//! What each command does. What it takes is in [`crate::cli`].

mod config;
mod copy;
mod documents;
mod keys;
mod mail;
mod migrate;
mod oauth;
mod redirects;
mod user;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::cli::{Command, ConfigCommand, Override, SettingsArgs};
use crate::logging::{self, LogThread};
use crate::serve::{ServeError, serve};
use crate::settings::{LogFormat, LogSettings, Settings, SettingsError, Sources};
use crate::storage::Patience;
use crate::wiring::{Assembly, WiringError, assemble};

/// A command did not do what it was asked. The text is for the person at the terminal.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The settings.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A part of the service.
    #[error(transparent)]
    Wiring(#[from] WiringError),
    /// The running service.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// A use case refused.
    #[error("{}", latchkey_http::error::chain_of(.0))]
    Service(#[from] latchkey_service::Error),
    /// The store.
    #[error("{}", latchkey_http::error::chain_of(.0))]
    Store(#[from] latchkey_store::StoreError),
    /// The runtime, or standard input.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Anything that the command itself refuses.
    #[error("{0}")]
    Refused(String),
}

/// Runs a command; its exit code is the process's.
pub fn run(
    arguments: SettingsArgs,
    command: Command,
    environment: impl IntoIterator<Item = (OsString, OsString)>,
) -> ExitCode {
    match dispatch(arguments, command, environment) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("latchkey: {error}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(
    arguments: SettingsArgs,
    command: Command,
    environment: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<ExitCode, CommandError> {
    let overrides = arguments.overrides.into_iter().map(Override::into_text).collect();
    let sources = Sources::gather(arguments.config.as_deref(), environment, overrides);
    match command {
        Command::Version => println!("latchkey {}", env!("CARGO_PKG_VERSION")),
        Command::Document(document) => documents::print(&document),
        Command::Migrate(arguments) => {
            let settings = Settings::load(sources?)?;
            let _log = start_quiet_log()?;
            return runtime()?.block_on(migrate::run(&settings, &arguments));
        }
        Command::Copy(arguments) => {
            let settings = Settings::load(sources?)?;
            let _log = start_quiet_log()?;
            runtime()?.block_on(copy::run(&settings, &arguments))?;
        }
        Command::Config(ConfigCommand::Check) => return Ok(config::check(sources)),
        Command::Config(ConfigCommand::Print { defaults: true }) => config::print_defaults(),
        Command::Config(ConfigCommand::Print { defaults: false }) => {
            config::print(&Settings::load(sources?)?);
        }
        Command::Serve => {
            let settings = Settings::load(sources?)?;
            let _log = logging::start(&settings.log)?;
            runtime()?.block_on(serve(settings))?;
        }
        Command::User(command) => {
            with_service(sources, async |assembly| user::run(&assembly, command).await)?;
        }
        Command::OAuth(command) => {
            with_service(sources, async |assembly| oauth::run(&assembly, command).await)?;
        }
        Command::Keys(command) => {
            with_service(sources, async |assembly| keys::run(&assembly, command).await)?;
        }
        Command::Mail(command) => {
            with_service(sources, async |assembly| mail::run(&assembly, command).await)?;
        }
        Command::Redirects(command) => {
            return with_service(sources, async |assembly| Ok(redirects::run(&assembly, command)));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The log of a command at a terminal: what is worth a warning.
fn start_quiet_log() -> std::io::Result<LogThread> {
    logging::start(&LogSettings { format: LogFormat::Text, level: "warn".to_owned() })
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
}

/// A command beside a running service, or without one: it works on the same database.
fn with_service<T>(
    sources: Result<Sources, SettingsError>,
    work: impl AsyncFnOnce(Assembly) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let settings = Settings::load(sources?)?;
    let _log = start_quiet_log()?;
    runtime()?.block_on(async {
        let assembly = assemble(&settings, Patience::None).await?;
        work(assembly).await
    })
}
