//! The three states of a key in a PATCH body: absent, null, or a value.

use latchkey_domain::reason::Reason;
use serde::{Deserialize, Deserializer};

use crate::error::{ApiError, Result};

/// A key that may be absent, `null`, or have a value. Fields of this type need `#[serde(default)]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Patch<T> {
    /// The key is not in the body: the stored value stays.
    #[default]
    Absent,
    /// The key is `null`: the stored value is removed.
    Null,
    /// The key has a value, which replaces the stored one.
    Value(T),
}

impl<T> Patch<T> {
    /// Returns the new value of a field that cannot be removed; `None` if the key is absent. `null` is 400 with the
    /// message `problem`.
    pub fn not_null(self, field: &str, problem: &str) -> Result<Option<T>> {
        match self {
            Self::Absent => Ok(None),
            Self::Null => Err(ApiError::validation(field, problem).reason(Reason::WrongType)),
            Self::Value(value) => Ok(Some(value)),
        }
    }
}

/// `Absent` becomes `None`, and `Null` becomes `Some(None)`.
impl<T> From<Patch<T>> for Option<Option<T>> {
    fn from(patch: Patch<T>) -> Self {
        match patch {
            Patch::Absent => None,
            Patch::Null => Some(None),
            Patch::Value(value) => Some(Some(value)),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(|value| value.map_or(Self::Null, Self::Value))
    }
}
