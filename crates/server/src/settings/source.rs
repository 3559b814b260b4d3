//! Sources of the settings before they are parsed: file, environment and command line.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use latchkey_settings::{Problem, SettingsError};

/// Settings file that is read if it exists and `--config` names no other.
const DEFAULT_FILE: &str = "latchkey.toml";

/// Function that reads a whole file as text; tests replace it.
pub type ReadFile = fn(&Path) -> io::Result<String>;

/// Unparsed sources of the settings: text of the file, environment variables, and values of `--set`.
pub struct Sources {
    pub(super) file: Option<(PathBuf, String)>,
    /// The file, if `--config` named it.
    pub(super) config: Option<PathBuf>,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) overrides: Vec<String>,
    pub(super) read_file: ReadFile,
}

impl Sources {
    /// Creates empty sources, so that all settings have their defaults.
    #[must_use]
    pub fn none() -> Self {
        let read_file = |path: &Path| std::fs::read_to_string(path);
        Self { file: None, config: None, environment: Vec::new(), overrides: Vec::new(), read_file }
    }

    /// Collects the sources of one start. `config` is the file of `--config`; without it `./latchkey.toml` is read if
    /// it exists. `overrides` are the values of `--set`, as typed.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn gather(
        config: Option<&Path>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        overrides: Vec<String>,
    ) -> Result<Self, SettingsError> {
        let none = Self::none();
        let file = find_file(config, none.read_file)?;
        let config = config.map(Path::to_owned);
        Ok(Self { file, config, environment: environment.into_iter().collect(), overrides, ..none })
    }

    /// Adds the text of a settings file. `path` appears only in messages.
    #[must_use]
    pub fn with_file(mut self, path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        self.file = Some((path.into(), text.into()));
        self
    }

    #[must_use]
    pub fn with_environment<'a>(mut self, variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.environment.extend(variables);
        self
    }

    /// Adds a value of `--set`, as `section.key=value`.
    #[must_use]
    pub fn with_override(mut self, text: impl Into<String>) -> Self {
        self.overrides.push(text.into());
        self
    }

    /// Replaces the function that reads the files named by `…_FILE` variables.
    #[must_use]
    pub fn with_read_file(mut self, read_file: ReadFile) -> Self {
        self.read_file = read_file;
        self
    }
}

/// Returns the text of the settings file, chosen as in [`Sources::gather`]; `None` if it cannot be read. Bytes that are no UTF-8
/// are replaced, in contrast to there.
pub(super) fn read_config_loosely(config: Option<&Path>) -> Option<String> {
    let bytes = std::fs::read(config.unwrap_or(Path::new(DEFAULT_FILE))).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn find_file(config: Option<&Path>, read_file: ReadFile) -> Result<Option<(PathBuf, String)>, SettingsError> {
    let path = config.unwrap_or(Path::new(DEFAULT_FILE));
    match read_file(path) {
        Ok(text) => Ok(Some((path.to_owned(), text))),
        Err(error) if config.is_none() && error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SettingsError::from(Problem::new(
            &format!("file {}", path.display()),
            format!("it cannot be read ({error}); check the path and its permissions"),
        ))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_named_file_must_exist() {
        let missing = Path::new("no-such-folder/latchkey.toml");
        let error = Sources::gather(Some(missing), [], Vec::new()).err().unwrap().to_string();
        assert!(error.contains("no-such-folder/latchkey.toml"), "{error}");
        assert!(error.contains("cannot be read"), "{error}");
    }

    #[test]
    fn the_default_file_may_be_missing() {
        let nothing: ReadFile = |_| Err(io::ErrorKind::NotFound.into());
        assert_eq!(find_file(None, nothing).unwrap(), None);
        assert!(find_file(Some(Path::new("latchkey.toml")), nothing).is_err());
    }

    #[test]
    fn an_unreadable_default_file_is_no_missing_one() {
        assert!(find_file(None, |_| Err(io::ErrorKind::PermissionDenied.into())).is_err());
    }
}
