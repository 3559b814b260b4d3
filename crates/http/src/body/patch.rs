//! The three states of a key in a PATCH body.

use latchkey_domain::reason::Reason;
use serde::{Deserialize, Deserializer};

use crate::error::{ApiError, Result};

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
    /// The new value of a field that cannot be removed; `null` is refused with `problem`.
    pub fn not_null(self, field: &str, problem: &str) -> Result<Option<T>> {
        match self {
            Self::Absent => Ok(None),
            Self::Null => Err(ApiError::validation(field, problem).reason(Reason::WrongType)),
            Self::Value(value) => Ok(Some(value)),
        }
    }
}

/// `None` where the key is absent, `Some(None)` for `null`.
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
