//! The suite that every storage engine passes ([`conformance`]), and throw-away PostgreSQL servers for tests ([`cluster`]).

pub mod cluster;
pub mod conformance;
