//! The command line: which commands there are and what they take. What they do is wired elsewhere.

mod copy_args;
mod providers;
mod settings_args;
mod users;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use latchkey_domain::ids::MailId;

pub use copy_args::{CopyArgs, CopyDestination, CopySource};
pub use providers::{AddProvider, OAuthCommand};
pub use settings_args::{Override, OverrideForm};
pub use users::{UserRef, UserRefForm};

/// The command line of `latchkey`.
#[derive(Debug, Parser)]
#[command(name = "latchkey", version, about = "Accounts and profiles as a service, in one binary")]
pub struct Cli {
    /// Where settings come from; valid before and after the command.
    #[command(flatten)]
    pub settings: SettingsArgs,
    /// The command; `serve` where none is given.
    #[command(subcommand)]
    command: Option<Command>,
}

impl Cli {
    /// The settings arguments and the command, `serve` where none was given.
    #[must_use]
    pub fn into_parts(self) -> (SettingsArgs, Command) {
        (self.settings, self.command.unwrap_or(Command::Serve))
    }
}

/// Where settings come from, besides the environment.
#[derive(Debug, Clone, Args)]
pub struct SettingsArgs {
    /// Settings file; ./latchkey.toml is read when it exists and no other is named.
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// One setting, `section.key=value`; may be given several times, and wins over file and
    /// environment.
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE", global = true)]
    pub overrides: Vec<Override>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the service (what happens without a command). SIGTERM, SIGINT and SIGHUP finish what is in flight and end it.
    Serve,
    /// Show or check the settings.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Manage accounts in the database of these settings.
    #[command(subcommand)]
    User(UserCommand),
    /// Manage identity providers.
    #[command(subcommand, name = "oauth")]
    OAuth(OAuthCommand),
    /// Manage the keys that sign access tokens.
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Try redirect targets against the allowed list.
    #[command(subcommand)]
    Redirects(RedirectsCommand),
    /// Look after the mails that wait to be sent.
    #[command(subcommand)]
    Mail(MailCommand),
    /// Bring the schema of the database up to date and exit; serving does so at its start as well.
    Migrate(MigrateArgs),
    /// Move a whole instance from a SQLite file into a PostgreSQL database.
    Copy(CopyArgs),
    /// Print the version.
    Version,
    /// Print a generated document of `docs/`.
    #[command(subcommand, hide = true)]
    Document(DocumentCommand),
}

/// `latchkey migrate`
#[derive(Debug, Args)]
pub struct MigrateArgs {
    /// Say which migrations are missing and change nothing. Exit code 0: none; 1: some, or the database cannot be read.
    #[arg(long)]
    pub check: bool,
}

/// `latchkey document …`
#[derive(Debug, Subcommand)]
pub enum DocumentCommand {
    /// `docs/openapi.json`
    Openapi,
    /// `docs/errors.md`
    Errors,
    /// `docs/configuration.md`
    Configuration,
}

/// `latchkey config …`
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print the settings in force as TOML, each with its source, secrets as ***. What an admin changed at run time is
    /// read from the database and marked `admin`; nothing is created or migrated.
    Print {
        /// Print the documented defaults instead.
        #[arg(long)]
        defaults: bool,
    },
    /// Check the settings and all that a start opens; name everything that is wrong. Starts and changes nothing.
    Check,
}

/// `latchkey user …`
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Create an account. The password is the first line of standard input; at a terminal it is asked for twice and not
    /// shown.
    Create {
        /// The email address.
        email: String,
        /// The name in the profile.
        #[arg(long, default_value = "")]
        name: String,
        /// Take the address as verified.
        #[arg(long)]
        verified: bool,
        /// Create no profile.
        #[arg(long)]
        no_profile: bool,
    },
    /// List accounts, newest first.
    List {
        /// Only those whose email address or name contains this.
        #[arg(long, value_name = "TEXT")]
        search: Option<String>,
        /// How many, 1 to 1000.
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        /// How many to skip.
        #[arg(long, default_value_t = 0)]
        offset: u32,
    },
    /// Ban an account: its sessions end and it cannot sign in.
    Ban {
        /// Email address or id.
        user: UserRef,
    },
    /// Lift a ban.
    Unban {
        /// Email address or id.
        user: UserRef,
    },
    /// Delete an account and everything of it. Cannot be undone. At a terminal it shows the account and asks first.
    Delete {
        /// Email address or id.
        user: UserRef,
        /// Delete without asking. Needed where standard input is no terminal.
        #[arg(long)]
        yes: bool,
    },
}

/// `latchkey keys …`
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Make a new signing key now; the one before stays valid until its last token has expired.
    Rotate,
    /// List the signing keys.
    List,
}

/// `latchkey redirects …`
#[derive(Debug, Subcommand)]
pub enum RedirectsCommand {
    /// Say whether a target is allowed, and if not, by which rule. The exit code says it too.
    Test {
        /// The target, as an application would send it.
        url: String,
    },
}

/// `latchkey mail …`
#[derive(Debug, Subcommand)]
pub enum MailCommand {
    /// List queued and dead mails.
    List {
        /// Only dead mails: those after their last attempt.
        #[arg(long)]
        dead: bool,
        /// How many, 1 to 1000.
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
    },
    /// Put dead mails back into the queue.
    Retry(RetryArgs),
}

/// Which mails to try again: one by its id, or all.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct RetryArgs {
    /// The id of one mail, as `mail list` shows it.
    pub id: Option<MailId>,
    /// All dead mails.
    #[arg(long)]
    pub all: bool,
}

#[cfg(test)]
mod tests;
