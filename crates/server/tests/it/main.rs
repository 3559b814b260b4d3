//! The black-box suite: a whole service on a socket, HTTP and mail only. A file per subject, a fact per test, every
//! fact on every storage engine. How to write one, and which row of the contract is tested where: `../README.md`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
#![allow(clippy::redundant_closure_for_method_calls, reason = "`with(|b| …)` reads the same everywhere")]

mod admin_settings;
mod admin_users;
mod audit;
mod cors_csrf;
mod enumeration;
mod http_rules;
mod keys;
mod limits;
mod links;
mod mails;
mod passwords;
mod profile_etags;
mod profile_fields;
mod profiles;
mod races;
mod refresh;
mod reset_password;
mod search;
mod search_matching;
mod search_oracle;
mod sessions;
mod set_profile;
mod sign_in;
mod sign_up;
mod verify_email;
