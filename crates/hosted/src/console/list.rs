//! The list of all pages of the console. The router is derived from it.

use super::page::Page;

pub(crate) const PAGES: &[&Page] = &[];
