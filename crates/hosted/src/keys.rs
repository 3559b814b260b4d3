//! Keys of the pages, derived from the server secret.

use aws_lc_rs::hmac;
use latchkey_service::secrets::{CannotDerive, SealingKey, ServerSecret};

/// Key of flows and other sealed values. The label never changes.
const SEALING: &str = "pages/sealing";
/// Key of form tokens. The label never changes.
const FORMS: &str = "pages/form-tokens";

/// The keys of the pages.
pub struct PageKeys {
    pub(crate) sealing: SealingKey,
    pub(crate) forms: hmac::Key,
}

impl PageKeys {
    /// Derives the keys from the server secret.
    pub fn derive(secret: &ServerSecret) -> Result<Self, CannotDerive> {
        Ok(Self { sealing: secret.sealing_key(SEALING)?, forms: secret.hmac_key(FORMS)? })
    }
}
