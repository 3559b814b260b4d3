//! Arguments of `latchkey copy`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::{Output, SecretUrl};

/// Arguments of `latchkey copy`.
#[derive(Debug, Args)]
#[command(after_help = "\
The source must not be in use: stop the service first. It is only read, as it is when the copy begins.

The target is an empty database of its own (tables are made where they are missing), or one that holds the beginning \
of a copy of the same source: a copy that was interrupted goes on when it is run again. No service starts on half a \
copy.

In the end rows and digests of every table are compared; the exit code is 0 only when all are the same. Sessions, \
refresh tokens, codes and keys go on to work where the new instance has the same server.secret: it is not in the \
database and has to be moved by hand.")]
pub struct CopyArgs {
    /// SQLite database to copy, as `sqlite:PATH`.
    #[arg(long, value_name = "URL")]
    pub from: CopySource,
    /// PostgreSQL database to copy to, as `postgres://…`. Defaults to the setting storage.url, so that the password
    /// need not be on the command line.
    #[arg(long, value_name = "URL")]
    pub to: Option<SecretUrl>,
    #[command(flatten)]
    pub output: Output,
}

/// Path of the SQLite file to copy, without the prefix `sqlite:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopySource(pub PathBuf);

impl FromStr for CopySource {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text.strip_prefix("sqlite:") {
            Some(path) if !path.is_empty() => Ok(Self(PathBuf::from(path))),
            _ => Err("the source is sqlite: and the path of a file"),
        }
    }
}
