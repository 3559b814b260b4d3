//! The use cases of Latchkey, over an injected store, clock and entropy. No HTTP here, no SQL, and no transaction: what must
//! be atomic is one call of the store.
//!
//! A capability is a module with a struct of what it needs, its limits, its lifetimes and the labels of its keys; a file
//! per use case. It uses the kernel and the modules above it in this table, never those below.
//!
//! | Module | Use cases |
//! |---|---|
//! | [`clock`], [`entropy`], [`secrets`], [`error`], [`refusal`], [`settings`] | the base |
//! | `kernel` | store, clock, entropy, ids, audit events, settings in force, client limits, mail writing |
//! | [`tokens`], [`providers`], [`shared`] | access tokens, identity providers, and the state that instances share |
//! | [`sessions`] | open, authenticate, refresh, list and end sessions; rotate signing keys |
//! | [`access`] | the anonymous key, admin keys |
//! | [`mailbox`] | email codes and link tokens |
//! | [`passwords`] | hash; sign in, change, reset |
//! | [`accounts`] | sign up |
//! | [`profiles`], [`search`] | read, change and search profiles |
//! | [`oauth`] | sign in through identity providers |
//! | [`admin`] | users, settings, audit |
//! | [`outbox`], [`upkeep`], [`readiness`] | deliver mails, purge, health |
//! | [`config`], [`service`] | configuration and assembly |

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

pub use error::{Error, Result};
pub use outbox::Mailer;
pub use refusal::Refusal;
pub use service::{Service, ServiceParts, StartError};
