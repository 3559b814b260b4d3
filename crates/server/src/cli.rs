//! Command-line arguments, parsed with clap. The commands themselves are in [`crate::commands`].

mod audit;
mod backup;
mod copy_args;
mod exit_codes;
mod export;
mod import;
mod init;
mod install;
mod operators;
mod output;
mod providers;
mod secret_url;
mod settings_args;
mod sure;
mod users;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use latchkey_domain::ids::{MailId, SessionId};
use latchkey_domain::statistics::MOST_DAYS;

pub use audit::AuditArgs;
pub use backup::{BackupArgs, RestoreArgs};
pub use copy_args::{CopyArgs, CopySource};
pub use exit_codes::definition;
pub use export::ExportArgs;
pub use import::{ImportArgs, ImportCommand, ImportFile};
pub use init::InitArgs;
pub use install::{CompletionsArgs, HealthArgs, ManArgs};
pub use operators::OperatorCommand;
pub use output::Output;
pub use providers::{AddProvider, OAuthCommand};
pub use secret_url::SecretUrl;
pub use settings_args::{Override, OverrideForm};
pub use sure::Sure;
pub use users::{FactorsCommand, SendMailArgs, UserListArgs, UserRef, UserRefForm};

/// Arguments of the binary `latchkey`.
#[derive(Debug, Parser)]
#[command(name = "latchkey", version, about = "Accounts and profiles as a service, in one binary")]
pub struct Cli {
    /// Options that select the settings; accepted before and after the subcommand.
    #[command(flatten)]
    pub settings: SettingsArgs,
    /// Subcommand; `None` means `serve`.
    #[command(subcommand)]
    command: Option<Command>,
}

impl Cli {
    /// Splits the arguments into the settings options and the subcommand, `serve` by default.
    #[must_use]
    pub fn into_parts(self) -> (SettingsArgs, Command) {
        (self.settings, self.command.unwrap_or(Command::Serve))
    }
}

/// Settings file and single settings given on the command line. Environment variables are read besides.
#[derive(Debug, Clone, Args)]
pub struct SettingsArgs {
    /// Settings file; ./latchkey.toml is read when it exists and no other is named.
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Override of one setting, as `section.key=value`. Takes precedence over file and environment; repeatable.
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE", global = true)]
    pub overrides: Vec<Override>,
}

/// Subcommands of `latchkey`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the service; the default command. On SIGTERM, SIGINT and SIGHUP it finishes the requests in flight and
    /// exits.
    Serve,
    /// Write settings and secrets of a new instance, then check them.
    Init(InitArgs),
    /// Ask a service whether it is ready.
    Health(HealthArgs),
    /// Show or check the settings.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Manage accounts in the configured database.
    #[command(subcommand)]
    User(UserCommand),
    /// Manage the operators of the console.
    #[command(subcommand)]
    Operator(OperatorCommand),
    /// Print the audit log, newest event first.
    Audit(AuditArgs),
    /// Export all accounts as JSON lines, which an import reads.
    Export(ExportArgs),
    /// Manage identity providers.
    #[command(subcommand, name = "oauth")]
    OAuth(OAuthCommand),
    /// Manage the keys that sign access tokens.
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Manage the server secret.
    #[command(subcommand)]
    Secret(SecretCommand),
    /// Test redirect targets against the list of allowed ones.
    #[command(subcommand)]
    Redirects(RedirectsCommand),
    /// Manage the outbox: queued and dead mails.
    #[command(subcommand)]
    Mail(MailCommand),
    /// Show the hosted pages without a service.
    #[command(subcommand)]
    Pages(PagesCommand),
    /// Bring the schema of the database up to date and exit. `serve` does the same when it starts.
    Migrate(MigrateArgs),
    /// Take accounts over from another service.
    Import(Box<ImportArgs>),
    /// Back up the SQLite database, also while the service runs, or verify a backup.
    Backup(BackupArgs),
    /// Restore a backup while the service is stopped.
    Restore(RestoreArgs),
    /// Copy a whole instance from a SQLite file into a PostgreSQL database.
    Copy(CopyArgs),
    /// Print the version.
    Version(Output),
    /// Print the script that completes arguments in a shell.
    Completions(CompletionsArgs),
    /// Print the manual page.
    Man(ManArgs),
    /// Print a generated document of `docs/`.
    #[command(subcommand, hide = true)]
    Document(DocumentCommand),
}

/// Arguments of `latchkey migrate`.
#[derive(Debug, Args)]
pub struct MigrateArgs {
    /// Print the missing migrations and change nothing. Exit code 0: none; 1: some, or the database cannot be read.
    #[arg(long)]
    pub check: bool,
    #[command(flatten)]
    pub output: Output,
}

/// Subcommands of `latchkey document`, one per generated file.
#[derive(Debug, Subcommand)]
pub enum DocumentCommand {
    /// Print docs/openapi.json, the OpenAPI document of the HTTP API.
    Openapi,
    /// Print docs/errors.md, the list of error codes.
    Errors,
    /// Print docs/mails.md, the list of mails.
    Mails,
    /// Print docs/configuration.md, the list of settings.
    Configuration,
}

/// Subcommands of `latchkey config`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print the settings in force as TOML, each with its source, secrets as ***. Values that an admin changed at run
    /// time are read from the database and marked `admin`; nothing is created or migrated.
    Print {
        /// Print the documented defaults instead of the settings in force.
        #[arg(long, conflicts_with = "json")]
        defaults: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Check the settings, and the files, address and database that a start uses. Reports all problems and changes
    /// nothing.
    Check(Output),
}

/// Subcommands of `latchkey user`.
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Create an account. The password is the first line of standard input; at a terminal it is asked for twice and not
    /// shown.
    Create {
        /// Email address of the account.
        email: String,
        /// Name in the user's profile.
        #[arg(long, default_value = "")]
        name: String,
        /// Mark the email address as verified.
        #[arg(long)]
        verified: bool,
        /// Create the account without a profile.
        #[arg(long)]
        no_profile: bool,
    },
    /// List accounts, newest first.
    List(UserListArgs),
    /// Show an account: its state in one sentence, its second factors and its sessions.
    Show {
        /// Email address or id of the account.
        user: UserRef,
        #[command(flatten)]
        output: Output,
    },
    /// Say why an account cannot sign in: a sentence for each obstacle.
    Why {
        /// Email address or id of the account.
        user: UserRef,
        #[command(flatten)]
        output: Output,
    },
    /// List the limits that refuse requests for an account now.
    Limits {
        /// Email address or id of the account.
        user: UserRef,
        /// Lift them, and clear the counters of failures.
        #[arg(long)]
        lift: bool,
        #[command(flatten)]
        output: Output,
    },
    /// List the mails to an account of the last 30 days, with their fate and without their content.
    Mails {
        /// Email address or id of the account.
        user: UserRef,
        #[command(flatten)]
        output: Output,
    },
    /// Print the numbers of accounts, sessions, passwords, factors and mails, and of the events of each day.
    Stats {
        /// Number of days whose events are printed, 1 to 90. Days are those of UTC.
        #[arg(long, value_name = "N", default_value_t = 30,
            value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_DAYS)))]
        days: u32,
        #[command(flatten)]
        output: Output,
    },
    /// Mail a code or link by which the owner of an account verifies the address.
    SendVerification(SendMailArgs),
    /// Mail a code or link by which the owner of an account sets a new password.
    SendReset(SendMailArgs),
    /// End all sessions of an account, or one.
    EndSessions {
        /// Email address or id of the account.
        user: UserRef,
        /// Id of the one session to end, as `user show` lists it.
        #[arg(long, value_name = "ID")]
        session: Option<SessionId>,
    },
    /// Set the password of an account, end its sessions and mail the owner. The password is the first line of standard
    /// input; at a terminal it asks for the password twice and does not show it.
    SetPassword {
        /// Email address or id of the account.
        user: UserRef,
    },
    /// Unlink the identities of a provider from an account. The last way to sign in is refused. At a terminal it asks for
    /// confirmation.
    Unlink {
        /// Email address or id of the account.
        user: UserRef,
        /// Key of the provider, such as google.
        provider: String,
        /// Subject of the one identity to unlink, if the account has several of the provider.
        #[arg(long)]
        subject: Option<String>,
        #[command(flatten)]
        sure: Sure,
    },
    /// Manage the second factors of an account.
    #[command(subcommand)]
    Factors(FactorsCommand),
    /// Ban an account: end its sessions and refuse further sign-ins.
    Ban {
        /// Email address or id of the account.
        user: UserRef,
    },
    /// Lift the ban of an account.
    Unban {
        /// Email address or id of the account.
        user: UserRef,
    },
    /// Delete an account with all its data, irreversibly. At a terminal it shows the account and asks for confirmation.
    Delete {
        /// Email address or id of the account.
        user: UserRef,
        #[command(flatten)]
        sure: Sure,
    },
}

/// Subcommands of `latchkey keys`.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Create a new signing key now. The previous one stays valid until the last token signed with it has expired.
    Rotate(Output),
    /// List the signing keys.
    List(Output),
}

/// Subcommands of `latchkey secret`.
#[derive(Debug, Subcommand)]
pub enum SecretCommand {
    /// Replace server.secret by `server.secret_next`: seal everything anew that is sealed in the database. Interrupted, it
    /// goes on when it is run again.
    #[command(after_help = "\
Stop all instances first. Set server.secret_next in the settings file, the environment or a file that \
LATCHKEY__SERVER__SECRET_NEXT_FILE names. Afterwards make it server.secret, remove server.secret_next, and start.

Sessions, recovery codes, authenticator apps, passkeys and providers go on to work. Open forms and ceremonies begin \
again. Backups that were made before need the old secret.

If a copy of the database may have leaked with the secret, also run `latchkey keys rotate`, and have authenticator apps \
and provider secrets replaced.")]
    Rotate(Output),
}

/// Subcommands of `latchkey redirects`.
#[derive(Debug, Subcommand)]
pub enum RedirectsCommand {
    /// Print whether a redirect target is allowed, and if not, which rule refuses it. Exit code 0: allowed; 1: refused.
    Test {
        /// Redirect target, as an application would send it.
        url: String,
        #[command(flatten)]
        output: Output,
    },
}

/// Subcommands of `latchkey mail`.
#[derive(Debug, Subcommand)]
pub enum MailCommand {
    /// List queued and dead mails.
    List {
        /// List only dead mails, whose last delivery attempt has failed.
        #[arg(long)]
        dead: bool,
        /// List only mails that were sent in the last 30 days.
        #[arg(long, conflicts_with = "dead")]
        sent: bool,
        /// Number of mails to list, 1 to 1000.
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        #[command(flatten)]
        output: Output,
    },
    /// Put dead mails back into the queue, unless their code or link has expired. Those that wait in the queue are tried
    /// again by themselves.
    Retry(RetryArgs),
}

/// Subcommands of `latchkey pages`.
#[derive(Debug, Subcommand)]
pub enum PagesCommand {
    /// Write every page in every state as static HTML, with the configured theme, templates and languages.
    Preview {
        /// Folder to write into; made if it is missing.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Language of the pages, such as de.
        #[arg(long, value_name = "TAG", default_value = "en")]
        locale: String,
    },
}

/// Mails to put back into the queue: a dead one by its id, or all dead ones.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct RetryArgs {
    /// Id of a dead mail, as `mail list` shows it.
    pub id: Option<MailId>,
    /// Put back all dead mails.
    #[arg(long)]
    pub all: bool,
}

#[cfg(test)]
mod tests;
