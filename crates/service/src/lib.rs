//! The use cases of Latchkey, over an injected store, clock and entropy. This crate contains no HTTP, no SQL and no
//! transactions: changes that must be atomic are one call of the store.
//!
//! A capability is a module with a struct of its dependencies, its rate limits, its lifetimes and the labels
//! from which its keys are derived, and with one file per use case. A module uses the kernel and the modules
//! above it in this table, never those below.
//!
//! | Module | Use cases |
//! |---|---|
//! | [`clock`], [`entropy`], [`secrets`], [`error`], [`refusal`], [`settings`] | the base |
//! | `kernel` | store, clock, entropy, ids, audit events, settings in force, client limits, mail writing |
//! | `metrics` | counters of the use cases, and their exposition |
//! | [`tokens`], [`providers`], [`shared`] | access tokens, identity providers, and the state that instances share |
//! | [`sessions`] | open, authenticate, refresh, list and end sessions; rotate signing keys |
//! | [`access`] | the anonymous key, admin keys |
//! | [`mailbox`] | email codes and link tokens; sign in by mail |
//! | [`passwords`] | hash; sign in, change, reset |
//! | [`factors`] | second factors: TOTP, recovery codes, two-step sign-in |
//! | [`passkeys`] | register and use passkeys |
//! | [`deletion`] | delete one's account |
//! | [`challenges`], [`undo`] | ask for a second factor or a reauthentication; undo account changes by mailed links |
//! | [`own_data`] | data that the service stores about a user, for that user: security events |
//! | [`email_change`] | change the email address of one's account |
//! | [`accounts`] | sign up |
//! | [`profiles`], [`search`] | read, change and search profiles |
//! | [`oauth`] | sign in through identity providers |
//! | [`page_sessions`] | find and end sessions of the pages |
//! | [`operators`] | give, activate and withdraw roles in the console |
//! | [`console`] | sign in to the console, step up, activate a role there |
//! | [`admin`] | users, settings, audit |
//! | [`imports`] | take accounts over from another service |
//! | [`exports`] | export all accounts |
//! | [`outbox`], [`upkeep`], [`readiness`], [`instances`] | deliver mails, purge, health, the processes that run |
//! | [`secret_rotation`] | replace the server secret |
//! | [`backups`] | age of the newest backup, settlement of a restored database |
//! | [`service`] | the list of capabilities with their lifetimes and limits, configuration, start |

pub mod access;
pub mod accounts;
pub mod admin;
pub mod backups;
pub mod challenges;
pub mod clock;
pub mod console;
pub mod deletion;
pub mod email_change;
pub mod entropy;
pub mod error;
pub mod exports;
pub mod factors;
pub mod imports;
pub mod instances;
mod kernel;
pub mod mailbox;
mod metrics;
pub mod oauth;
pub mod operators;
pub mod outbox;
pub mod own_data;
pub mod page_sessions;
pub mod passkeys;
pub mod passwords;
pub mod profiles;
pub mod providers;
pub mod readiness;
pub mod refusal;
pub mod search;
pub mod secret_rotation;
pub mod secrets;
pub mod service;
pub mod sessions;
pub mod settings;
pub mod shared;
pub mod tokens;
pub mod undo;
pub mod upkeep;

pub use error::{Error, Result};
pub use kernel::{OperatorRules, Site};
pub use outbox::Mailer;
pub use refusal::Refusal;
pub use service::{Lifetimes, LimitSwitch, LimitsConfig, Service, ServiceConfig, ServiceParts, StartError};
