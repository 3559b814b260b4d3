//! The table `limit_buckets`.

use crate::bulk::{Column, Table};

pub const TABLE: Table = Table::new("limit_buckets", 1, &[Column::bytes("key"), Column::int("full_at")]);
