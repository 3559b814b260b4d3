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

pub mod access;
pub mod accounts;
pub mod admin;
pub mod clock;
pub mod config;
pub mod entropy;
pub mod error;
mod kernel;
pub mod mailbox;
pub mod oauth;
pub mod outbox;
pub mod passwords;
pub mod profiles;
pub mod providers;
pub mod readiness;
pub mod refusal;
pub mod search;
pub mod secrets;
pub mod service;
pub mod sessions;
pub mod settings;
pub mod shared;
pub mod tokens;
pub mod upkeep;

pub use accounts::sign_up;
pub use error::{Error, Result};
pub use mailbox::{links, verify_email};
pub use outbox::Mailer;
pub use refusal::Refusal;
pub use service::{Service, ServiceParts, StartError};
pub use sessions::{SignedIn, authenticate, refresh};
pub use tokens::{access_tokens, signing_keys};
