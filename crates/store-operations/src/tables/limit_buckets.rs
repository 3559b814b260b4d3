//! The table `limit_buckets`.

use crate::bulk::{Table, columns};

pub const TABLE: Table = Table::new("limit_buckets", 1, columns! { bytes key, int full_at });
