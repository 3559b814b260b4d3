//! The use cases of Latchkey: one file per verb of its spec, over an injected store, clock and entropy.
//! No HTTP here, no SQL, and no transaction: what must be atomic is one call of the store.
//!
//! | Verbs | Rooms |
//! |---|---|
//! | Accounts | [`sign_up`], [`sign_in`], [`change_password`], [`verify_email`], [`reset_password`], [`links`] |
//! | Sessions | [`sessions`], [`refresh`], [`authenticate`] |
//! | Identity providers | [`oauth`] |
//! | Profiles | [`profiles`], [`search`] |
//! | Admin | [`admin`] |
//! | Behind the scenes | [`outbox`], [`inbox`], [`upkeep`], [`shared`] |
//! | What they stand on | [`service`], [`config`], [`settings`], [`passwords`], [`access_tokens`], [`claims`], [`signing_keys`], [`secrets`], [`limits`], [`clock`], [`entropy`], [`error`] |

pub mod access_tokens;
pub mod admin;
pub mod authenticate;
pub mod change_password;
pub mod claims;
pub mod clock;
pub mod config;
pub mod entropy;
pub mod error;
mod id_order;
pub mod inbox;
pub mod limits;
pub mod links;
mod notices;
pub mod oauth;
pub mod outbox;
pub mod passwords;
pub mod profiles;
mod proof;
mod readiness;
mod redirect_target;
pub mod refresh;
pub mod refusal;
mod refusals;
pub mod reset_password;
pub mod search;
pub mod secrets;
pub mod service;
pub mod sessions;
pub mod settings;
pub mod shared;
pub mod sign_in;
pub mod sign_up;
pub mod signing_keys;
pub mod upkeep;
mod verified_tokens;
pub mod verify_email;

pub use error::{Error, Result};
pub use refusal::Refusal;
pub use service::{Mailer, Service, ServiceParts, SignedIn, StartError};
