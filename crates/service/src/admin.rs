//! Administration: the use cases of an admin about users, settings and the audit log.

use std::sync::Arc;

use crate::factors::Factors;
use crate::kernel::Kernel;
use crate::own_data;
use crate::passkeys::Passkeys;
use crate::passwords::Passwords;
use crate::service::LimitsConfig;
use crate::shared::Shared;

mod account_acts;
mod audit;
mod limits;
mod mails;
mod sessions;
mod settings;
mod sign_in_state;
mod statistics;
mod user_file;
mod users;

pub use audit::SignIns;
pub use latchkey_store::{
    EventPage, EventTotal, ListUsers, ListedSession, SessionFilter, SessionKey, SessionPage, SessionPosition,
    UserPage, UserPosition,
};
pub use mails::HelpMail;
pub use settings::PublicSettings;
pub use sign_in_state::SignInState;
pub use statistics::Statistics;
pub use user_file::UserFile;
pub use users::{NewUser, UserChange};

pub struct Admin {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) passwords: Arc<Passwords>,
    pub(crate) passkeys: Arc<Passkeys>,
    pub(crate) factors: Arc<Factors>,
    /// The rate limit of exports by owners of accounts.
    pub(crate) exports: own_data::Limits,
}

impl Admin {
    pub(crate) fn new(
        shared: Arc<Shared>,
        passwords: Arc<Passwords>,
        passkeys: Arc<Passkeys>,
        factors: Arc<Factors>,
        limits: &LimitsConfig,
    ) -> Self {
        Self {
            kernel: Arc::clone(&shared.kernel),
            shared,
            passwords,
            passkeys,
            factors,
            exports: limits.own_data,
        }
    }
}
