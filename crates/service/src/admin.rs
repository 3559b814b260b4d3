//! What an admin does: users, settings, the audit trail.

mod audit;
mod settings;
mod users;

pub use latchkey_store::{EventPage, UserPage, UserPosition};
pub use settings::PublicSettings;
pub use users::{NewUser, UserChange, UserQuery};
