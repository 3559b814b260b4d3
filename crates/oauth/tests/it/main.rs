//! The crate from outside: a stand-in plays the providers over HTTP, honest ones and others.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod dns;
mod entries;
mod idp;
mod limits;
mod native;
mod openid;
mod stand_in;
mod table;
mod wire;
mod world;
