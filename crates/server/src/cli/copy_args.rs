//! What `latchkey copy` takes.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;

use crate::settings::{Secret, StorageUrl};

/// `latchkey copy …`
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
    /// The source, `sqlite:PATH`.
    #[arg(long, value_name = "URL")]
    pub from: CopySource,
    /// The target, `postgres://…`; storage.url of the settings where it is left out, so that no password has to
    /// stand on the command line.
    #[arg(long, value_name = "URL")]
    pub to: Option<CopyDestination>,
}

/// The path of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopySource(pub PathBuf);

/// The address of a target. It may hold a password, so `Debug` shows nothing.
#[derive(Clone)]
pub struct CopyDestination(pub Arc<Secret>);

impl fmt::Debug for CopyDestination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CopyDestination(…)")
    }
}

impl FromStr for CopySource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match StorageUrl::parse(text)? {
            StorageUrl::Sqlite(path) => Ok(Self(path)),
            StorageUrl::Postgres(_) => Err("only a sqlite: file can be the source of a copy".to_owned()),
        }
    }
}

impl FromStr for CopyDestination {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match StorageUrl::parse(text)? {
            StorageUrl::Postgres(url) => Ok(Self(Arc::new(url))),
            StorageUrl::Sqlite(_) => {
                Err("only a postgres:// database can be the target of a copy".to_owned())
            }
        }
    }
}
