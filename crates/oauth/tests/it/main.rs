//! Integration tests against a mock of the providers over HTTP, honest or not.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod dns;
mod entries;
mod fixtures;
mod idp;
mod limits;
mod mock;
mod native;
mod openid;
mod sockets;
mod table;
