//! Integration tests of the OAuth client against mock providers over HTTP, with valid and invalid responses.
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
