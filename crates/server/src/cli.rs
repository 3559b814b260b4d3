//! Command-line arguments, parsed with clap. The commands themselves are in [`crate::commands`].

mod audit;
mod copy_args;
mod export;
mod operators;
mod providers;
mod settings_args;
mod users;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use latchkey_domain::ids::MailId;

pub use audit::AuditArgs;
pub use copy_args::{CopyArgs, CopyDestination, CopySource};
pub use export::ExportArgs;
pub use operators::OperatorCommand;
pub use providers::{AddProvider, OAuthCommand};
pub use settings_args::{Override, OverrideForm};
pub use users::{UserRef, UserRefForm};

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
    /// Copy a whole instance from a SQLite file into a PostgreSQL database.
    Copy(CopyArgs),
    /// Print the version.
    Version,
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
        #[arg(long)]
        defaults: bool,
    },
    /// Check the settings, and the files, address and database that a start uses. Reports all problems and changes
    /// nothing.
    Check,
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
    List {
        /// List only accounts whose email address or name contains this text.
        #[arg(long, value_name = "TEXT")]
        search: Option<String>,
        /// Number of accounts to list, 1 to 1000.
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        /// Number of accounts to skip.
        #[arg(long, default_value_t = 0)]
        offset: u32,
    },
    /// Show an account: its state in one sentence, its second factors and its sessions.
    Show {
        /// Email address or id of the account.
        user: UserRef,
    },
    /// Say why an account cannot sign in: a sentence for each obstacle.
    Why {
        /// Email address or id of the account.
        user: UserRef,
    },
    /// List the limits that refuse requests for an account now.
    Limits {
        /// Email address or id of the account.
        user: UserRef,
        /// Lift them, and clear the counters of failures.
        #[arg(long)]
        lift: bool,
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
        /// Delete without confirmation. Required if standard input is not a terminal.
        #[arg(long)]
        yes: bool,
    },
}

/// Subcommands of `latchkey user factors`.
#[derive(Debug, Subcommand)]
pub enum FactorsCommand {
    /// Remove all second factors of an account: authenticator apps, recovery codes and two-step sign-in. Ends all
    /// sessions and mails the owner. At a terminal it shows the account and asks for confirmation.
    Remove {
        /// Email address or id of the account.
        user: UserRef,
        /// Remove the passkeys too.
        #[arg(long)]
        passkeys: bool,
        /// Remove without confirmation. Required if standard input is not a terminal.
        #[arg(long)]
        yes: bool,
    },
}

/// Subcommands of `latchkey keys`.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Create a new signing key now. The previous one stays valid until the last token signed with it has expired.
    Rotate,
    /// List the signing keys.
    List,
}

/// Subcommands of `latchkey redirects`.
#[derive(Debug, Subcommand)]
pub enum RedirectsCommand {
    /// Print whether a redirect target is allowed, and if not, which rule refuses it. Exit code 0: allowed; 1: refused.
    Test {
        /// Redirect target, as an application would send it.
        url: String,
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
    },
    /// Put dead mails back into the queue, unless their code or link has expired.
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

/// Mails to put back into the queue: one by its id, or all dead ones.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct RetryArgs {
    /// Id of a mail, as `mail list` shows it.
    pub id: Option<MailId>,
    /// Retry all dead mails.
    #[arg(long)]
    pub all: bool,
}

#[cfg(test)]
mod tests;
