//! Arguments of `latchkey copy`.

use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;

use crate::settings::Secret;

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

/// The address of a target, not yet parsed: a refusal of the command line would repeat it, and it may hold a
/// password. `Debug` shows nothing of it.
#[derive(Clone)]
pub struct CopyDestination(pub Arc<Secret>);

impl fmt::Debug for CopyDestination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CopyDestination(…)")
    }
}

impl FromStr for CopySource {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text.strip_prefix("sqlite:") {
            Some(path) if !path.is_empty() => Ok(Self(PathBuf::from(path))),
            _ => Err("the source is sqlite: and the path of a file"),
        }
    }
}

impl FromStr for CopyDestination {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(Arc::new(Secret::new(text.to_owned()))))
    }
}
