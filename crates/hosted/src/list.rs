//! The list of all pages. The router is derived from it.

use crate::page::Page;

/// All pages but the start page of development.
pub(crate) const PAGES: &[&Page] = &[];
