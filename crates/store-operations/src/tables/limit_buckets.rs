//! Table `limit_buckets`: token buckets of the rate limits. Each engine has its own statements for them.

use crate::bulk::{Table, columns};

pub const TABLE: Table = Table::new("limit_buckets", 1, columns! { bytes key, int full_at });
