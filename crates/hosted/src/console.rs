//! The console of operators, under `/console`. The path determines the file, as for the pages. [`visit`] says how to add a
//! page.

#![allow(dead_code, reason = "for the pages that come next")]

mod activate;
mod again;
mod audit;
mod carried;
mod confirm;
mod errors;
mod events;
mod export;
mod guest;
mod import;
mod kept;
mod keyset;
mod late;
mod list;
mod mails;
mod networks;
mod operators;
mod overview;
mod page;
mod passkey_options;
mod provider;
mod providers;
mod rejection;
mod router;
mod seen;
mod sessions;
mod settings;
mod sign_in;
mod sign_out;
mod signing;
mod state;
mod step_up;
mod stop;
mod submission;
mod system;
mod user;
mod users;
mod visit;

pub(crate) use list::routes;
pub(crate) use provider::BACK as PROVIDER_BACK;
pub(crate) use router::{files, router};
pub use state::{Console, ConsoleParts, Entry};
