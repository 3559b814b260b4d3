//! The type of a page of the console.

use super::state::Console;

/// A page of the console.
pub(crate) type Page = crate::page::Page<Console>;
