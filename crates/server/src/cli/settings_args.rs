//! Parser of the command-line option `--set`.

use std::fmt;
use std::str::FromStr;

/// Override of one setting, `section.key=value`, as typed. `Debug` prints the key only, because the value may be a
/// secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Override(String);

/// Error of an override without `=`, or without a key before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write section.key=value, such as log.level=debug")]
pub struct OverrideForm;

impl Override {
    /// Returns the text as typed, `section.key=value`.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    #[must_use]
    pub fn into_text(self) -> String {
        self.0
    }
}

impl FromStr for Override {
    type Err = OverrideForm;

    fn from_str(text: &str) -> Result<Self, OverrideForm> {
        let key = text.split_once('=').map(|(key, _)| key.trim());
        key.filter(|key| !key.is_empty()).map(|_| Self(text.to_owned())).ok_or(OverrideForm)
    }
}

impl fmt::Debug for Override {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.0.split_once('=').map_or("", |(key, _)| key);
        write!(f, "Override({key}=…)")
    }
}
