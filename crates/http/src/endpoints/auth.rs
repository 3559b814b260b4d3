//! `/api/auth`: account operations and the admin interface.

pub mod account;
pub mod audit;
pub mod challenges;
pub mod config;
pub mod csrf;
pub mod email;
pub mod events;
pub mod export;
pub mod factors;
pub mod id_token;
pub mod identities;
pub mod import;
pub mod logout;
pub mod mails;
pub mod oauth;
pub mod passkeys;
pub mod password;
pub mod profiles;
pub mod public_config;
pub mod reauthenticate;
pub mod refresh;
mod session;
pub mod sessions;
pub mod stats;
pub mod undo;
mod user;
pub mod users;

pub(crate) use session::ChallengeBody;
pub use session::{SessionBody, SignInBody};
pub use user::{UserBody, UserProfileBody};
