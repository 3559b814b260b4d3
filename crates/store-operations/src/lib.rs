//! The operations of [`latchkey_store::Store`], written once. An operation is a script of reads, a decision in plain Rust
//! and a script of writes; an engine only runs scripts ([`form::Executor`]).
//!
//! **Locks.** On PostgreSQL transactions are READ COMMITTED, so what is decided on is locked first and read by a later
//! statement. The row of a user stands for all that belongs to the user but single sessions. All operations lock in the
//! same order: buckets, failures, the user, codes, links, sessions. What is not there cannot be locked: then it is
//! inserted, and if another transaction did so meanwhile, the unique key breaks and the operation begins anew. SQLite
//! has one writer: there these locks are no work.
#![allow(unreachable_pub)] // the lists of statements are public where an engine uses one of them

pub mod bulk;
mod engine;
pub mod form;
mod operations;
pub mod tables;

pub use engine::{Engine, Own};
pub use operations::accounts::seeding;
