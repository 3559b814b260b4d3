//! The domain rules of Latchkey: types that can only hold valid values, and the decisions that every storage
//! engine must take alike. No async, I/O, SQL, HTTP, clock or randomness.

#![warn(missing_docs)]

pub mod audit;
pub mod client;
pub mod clock_watch;
pub mod code_window;
pub mod codes;
pub mod common_passwords;
pub mod device;
pub mod email;
pub mod email_verification;
pub mod fold;
pub mod guess_limits;
pub mod identity;
pub mod ids;
pub mod limits;
pub mod long_code;
pub mod mail_kind;
pub mod mail_schedule;
pub mod page;
pub mod password;
pub mod profile;
pub mod reason;
pub mod redirect;
pub mod refresh;
pub mod search;
pub mod session;
pub mod shape;
pub mod sign_in;
pub mod stored_time;
pub mod time;
pub mod tokens;
pub mod user;
