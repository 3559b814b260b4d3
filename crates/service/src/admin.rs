//! Administration: the use cases of an admin about users, settings and the audit log.

use std::sync::Arc;

use crate::kernel::Kernel;
use crate::passkeys::Passkeys;
use crate::passwords::Passwords;
use crate::shared::Shared;

mod audit;
mod settings;
mod statistics;
mod users;

pub use audit::SignIns;
pub use latchkey_store::{EventPage, UserPage, UserPosition};
pub use settings::PublicSettings;
pub use statistics::Statistics;
pub use users::{NewUser, UserChange, UserQuery};

pub struct Admin {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) passwords: Arc<Passwords>,
    pub(crate) passkeys: Arc<Passkeys>,
}
