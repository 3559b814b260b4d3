//! `/api/profiles`: the profile interface (spec 4.1).

pub mod me;
pub mod search;
pub mod user;

pub use user::PublicProfileBody;
