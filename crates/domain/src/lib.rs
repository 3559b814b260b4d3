//! The domain of Latchkey: types that only hold valid values, and decisions that all storage engines share. Without
//! async, I/O, SQL, HTTP, clock or randomness.

#![warn(missing_docs)]

pub mod account_limits;
pub mod audit;
pub mod challenge;
pub mod client;
pub mod clock_watch;
pub mod code_window;
pub mod codes;
pub mod common_passwords;
pub mod device;
pub mod email;
pub mod email_change;
pub mod email_verification;
pub mod factors;
pub mod fold;
pub mod guess_limits;
pub mod id;
pub mod identity;
pub mod ids;
pub mod imported_hash;
pub mod imports;
pub mod instance;
pub mod limits;
pub mod locale;
pub mod long_code;
pub mod mail_kind;
pub mod mail_schedule;
pub mod new_mail;
pub mod obstacle;
pub mod operator;
pub mod page;
pub mod page_session;
pub mod passkey;
pub mod password;
pub mod profile;
pub mod reason;
pub mod redirect;
pub mod refresh;
pub mod search;
pub mod seen_device;
pub mod session;
pub mod shape;
pub mod sign_in;
pub mod sign_in_offer;
pub mod statistics;
pub mod stored_time;
pub mod strict_json;
pub mod text;
pub mod time;
pub mod tokens;
pub mod undo;
pub mod user;
pub mod user_list;
pub mod words;

#[cfg(test)]
extern crate self as latchkey_domain; // the fixtures are shared with the tests outside of the crate
#[cfg(test)]
#[path = "../tests/fixtures/mod.rs"]
mod fixtures;
