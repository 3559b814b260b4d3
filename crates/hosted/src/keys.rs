//! Keys of the pages, derived from the server secret.

use aws_lc_rs::hmac;
use latchkey_service::secrets::{CannotDerive, KeyUse, SealingKey, ServerSecret};

/// The keys of the pages.
pub struct PageKeys {
    pub(crate) sealing: SealingKey,
    pub(crate) forms: hmac::Key,
}

impl PageKeys {
    /// Derives the keys from the server secret.
    pub fn derive(secret: &ServerSecret) -> Result<Self, CannotDerive> {
        Ok(Self {
            sealing: secret.sealing_key(KeyUse::PageValues)?,
            forms: secret.hmac_key(KeyUse::PageForms)?,
        })
    }
}
