//! Conformance suite of the storage engines ([`conformance`]), and throw-away PostgreSQL servers for tests
//! ([`cluster`]).

pub mod cluster;
pub mod conformance;
