//! Drills: operational failures, caused on purpose with the real binary. They take long and need a machine of their
//! own, so they run by `cargo xtask drill` and not with the tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::must_use_candidate, reason = "tests")]
#![allow(unreachable_pub, reason = "one crate; `pub` reads easier")]

#[path = "../boot/binary.rs"]
#[allow(dead_code, reason = "the drills use a part of what the boot tests use")]
mod binary;
mod failover;
mod load;
mod record;
