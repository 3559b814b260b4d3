//! Arguments of `latchkey init`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::SecretUrl;

/// Arguments of `latchkey init`. At a terminal it asks for what is missing.
#[derive(Debug, Args)]
#[command(after_help = "\
Written are latchkey.toml and a file per secret, all for their owner alone (mode 600). No existing file is replaced. With \
SQLite the database is created too.

Passwords are asked for at a terminal. Otherwise they are lines of standard input: that of the mail server, if --smtp \
names a user, then that of the database, if --postgres names a user. A URL may also contain its password, but every user \
of the machine can read a command line.")]
pub struct InitArgs {
    /// Settings for real users. Required, because development needs no settings.
    #[arg(long, required = true)]
    pub production: bool,
    /// URL under which browsers reach the service, such as `https://accounts.example.com`.
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,
    /// Mail server: `smtp://USER@HOST` (STARTTLS, port 587) or `smtps://USER@HOST` (TLS, port 465).
    #[arg(long, value_name = "URL")]
    pub smtp: Option<SecretUrl>,
    /// Sender of mails, `Name <address>` or an address. [default: no-reply at the host of --public-url]
    #[arg(long, value_name = "SENDER")]
    pub from: Option<String>,
    /// PostgreSQL database, `postgres://USER@HOST/DATABASE?sslmode=verify-full`. [default: SQLite in the data folder]
    #[arg(long, value_name = "URL")]
    pub postgres: Option<SecretUrl>,
    /// Address to listen on.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8700")]
    pub bind: SocketAddr,
    /// Address or network from which the reverse proxy connects; repeatable.
    #[arg(long = "trusted-proxy", value_name = "NETWORK", default_values = ["127.0.0.1", "::1"])]
    pub trusted_proxies: Vec<String>,
    /// Data folder of the service.
    #[arg(long, value_name = "DIR", default_value = "/var/lib/latchkey")]
    pub data: PathBuf,
    /// Folder to write into; made if it is missing.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub out: PathBuf,
}
