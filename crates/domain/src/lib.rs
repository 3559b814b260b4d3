//! The pure rules of Latchkey: types that can only hold what is valid, and the decisions that both storage
//! engines must take alike. No async, no I/O, no SQL, no HTTP, no clock and no randomness of its own.

#![warn(missing_docs)]

pub mod audit;
pub mod client;
pub mod clock_watch;
pub mod code_window;
pub mod codes;
pub mod common_passwords;
pub mod device;
pub mod email;
pub mod fold;
pub mod guess_guard;
pub mod identity;
pub mod ids;
pub mod limits;
pub mod long_code;
pub mod mail_schedule;
pub mod mailbox_proof;
pub mod page;
pub mod password;
pub mod profile;
pub mod reason;
pub mod redirect;
pub mod refresh;
pub mod search;
pub mod session;
pub mod sign_in;
pub mod stored_time;
pub mod time;
pub mod tokens;
pub mod user;
