//! The id types of all entities.

pub use crate::audit::EventId;
pub use crate::email_change::EmailChangeId;
pub use crate::factors::FactorId;
pub use crate::id::{InvalidId, KeyId};
pub use crate::imported_hash::HashKeyId;
pub use crate::imports::ImportId;
pub use crate::instance::InstanceId;
pub use crate::mail_schedule::{LeaseId, MailId};
pub use crate::passkey::PasskeyId;
pub use crate::profile::ProfileId;
pub use crate::session::SessionId;
pub use crate::user::UserId;
