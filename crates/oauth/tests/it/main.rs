//! Integration tests against a mock of the providers over HTTP, honest or not.
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
