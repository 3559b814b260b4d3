//! Administration: users, settings, the audit trail.

use std::sync::Arc;

use crate::kernel::Kernel;
use crate::passwords::Passwords;
use crate::shared::Shared;

mod audit;
mod settings;
mod users;

pub use latchkey_store::{EventPage, UserPage, UserPosition};
pub use settings::PublicSettings;
pub use users::{NewUser, UserChange, UserQuery};

/// The use cases of administration.
pub struct Admin {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) passwords: Arc<Passwords>,
}
