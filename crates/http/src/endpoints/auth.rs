//! `/api/auth`: account operations and the admin interface.

pub mod audit;
pub mod config;
pub mod csrf;
pub mod email;
pub mod id_token;
pub mod identities;
pub mod logout;
pub mod oauth;
pub mod password;
pub mod profiles;
pub mod public_config;
pub mod refresh;
mod session;
pub mod sessions;
mod user;
pub mod users;

pub use session::SessionBody;
pub use user::{UserBody, UserProfileBody};
