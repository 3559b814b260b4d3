//! `/dev`: conveniences of development mode.

pub mod mail;
