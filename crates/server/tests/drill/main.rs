//! Drills: operational failures with the real binary. They take long and need an idle machine, so `cargo xtask drill`
//! runs them, not `cargo test`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::must_use_candidate, reason = "tests")]
#![allow(unreachable_pub, reason = "one crate; `pub` reads easier")]

#[path = "../boot/binary.rs"]
#[allow(dead_code, reason = "the drills use a part of what the boot tests use")]
mod binary;
mod failover;
mod litestream;
mod load;
mod record;
