//! Source of a setting's value: default, file, environment, command line or database.

use std::fmt;
use std::path::PathBuf;

/// Source of a setting's merged value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Fixed default of the item.
    Default,
    /// Default computed from other settings, for example from `server.mode`.
    Derived,
    /// Settings file at this path.
    File(PathBuf),
    /// Environment variable of this name.
    Environment(String),
    /// File named by an environment variable: the variable and the path.
    SecretFile(String, PathBuf),
    /// Command-line option `--set`.
    CommandLine,
    /// Database: an admin changed the value at run time.
    Admin,
}

impl Source {
    /// True if an operator set the value, which an admin then cannot change.
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
