//! `/api/profiles`: reading, changing and searching profiles.

pub mod me;
pub mod search;
pub mod user;

pub use user::PublicProfileBody;
