//! Provenance of a value.

use std::fmt;
use std::path::PathBuf;

/// The source of the value in force of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The embedded default.
    Default,
    /// Made of other settings, for example of `server.mode`.
    Derived,
    /// A settings file.
    File(PathBuf),
    /// The environment variable of this name.
    Environment(String),
    /// A file that an environment variable names: the variable, and the path in it.
    SecretFile(String, PathBuf),
    /// `--set`.
    CommandLine,
    /// The database: an admin changed it at run time.
    Admin,
}

impl Source {
    /// An operator set it.
    #[must_use]
    pub fn pins(&self) -> bool {
        !matches!(self, Self::Default | Self::Derived | Self::Admin)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Derived => f.write_str("default, from other settings"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::SecretFile(name, _) => write!(f, "file named by {name}"),
            Self::CommandLine => f.write_str("--set"),
            Self::Admin => f.write_str("admin"),
        }
    }
}
