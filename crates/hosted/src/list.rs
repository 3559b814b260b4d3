//! The list of all pages. The router is derived from it.

use crate::auth::{forgot, reset};
use crate::page::Page;

/// All pages except the start page and the files.
pub(crate) const PAGES: &[&Page] = &[&forgot::PAGE, &reset::PAGE];
