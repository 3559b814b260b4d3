//! `/dev`: pages that exist in development mode only.

pub mod mail;
