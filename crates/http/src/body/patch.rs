//! The three states of a key in a PATCH body.

use serde::{Deserialize, Deserializer};

/// A key that may be left out, be `null`, or hold a value. Goes with `#[serde(default)]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Patch<T> {
    /// The key is not in the body: leave the stored value.
    #[default]
    Absent,
    /// The key is `null`: remove the stored value.
    Null,
    /// The key has a value: store it.
    Value(T),
}

impl<T> Patch<T> {
    /// `None` where the key is absent, `Some(None)` for `null`.
    #[must_use]
    pub fn into_option(self) -> Option<Option<T>> {
        match self {
            Self::Absent => None,
            Self::Null => Some(None),
            Self::Value(value) => Some(Some(value)),
        }
    }

    /// Is true where the body does not have the key.
    #[must_use]
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(|value| value.map_or(Self::Null, Self::Value))
    }
}
