//! Recovery codes: creating a set, and the MAC that is stored for each code.

use aws_lc_rs::hmac;
use latchkey_domain::codes::CodeMac;
use latchkey_domain::factors::RECOVERY_CODES;
use latchkey_domain::ids::UserId;
use latchkey_domain::long_code::LongCode;

use crate::entropy::Entropy;
use crate::secrets::code_mac;

/// A new set of recovery codes: the codes, which are shown to the user once, and their MACs, which are stored.
pub(super) struct NewCodes {
    pub(super) codes: Vec<LongCode>,
    pub(super) macs: Vec<CodeMac>,
}

impl NewCodes {
    pub(super) fn new(key: &hmac::Key, entropy: &dyn Entropy, user: UserId) -> Self {
        let codes: Vec<_> = (0..RECOVERY_CODES).map(|_| entropy.long_code()).collect();
        let macs = codes.iter().map(|code| mac(key, user, code)).collect();
        Self { codes, macs }
    }
}

/// Computes the MAC of a recovery code, bound to its account. The code has 80 random bits, so a slow hash is not
/// needed.
pub(super) fn mac(key: &hmac::Key, user: UserId, code: &LongCode) -> CodeMac {
    code_mac(key, [user.as_uuid().as_bytes(), code.expose().as_bytes()])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeSet;

    use latchkey_domain::time::Timestamp;

    use super::*;
    use crate::entropy::SystemEntropy;
    use crate::secrets::{KeyUse, ServerSecret};

    fn key(byte: u8) -> hmac::Key {
        ServerSecret::new(vec![byte; 32]).unwrap().hmac_key(KeyUse::RecoveryCodes).unwrap()
    }

    fn user(byte: u8) -> UserId {
        UserId::new(Timestamp::from_millis(0), [byte; 10])
    }

    #[test]
    fn a_set_has_ten_different_codes_and_their_macs() {
        let set = NewCodes::new(&key(1), &SystemEntropy, user(1));
        let texts: BTreeSet<_> = set.codes.iter().map(LongCode::expose_grouped).collect();
        assert_eq!((texts.len(), set.macs.len()), (10, 10));
        for (code, stored) in set.codes.iter().zip(&set.macs) {
            // A user may type a code in upper case, and with spaces instead of hyphens.
            let typed = code.expose_grouped().replace('-', " ").to_uppercase();
            assert_eq!(mac(&key(1), user(1), &LongCode::parse(&typed).unwrap()), *stored);
        }
    }

    #[test]
    fn a_code_is_bound_to_its_account_and_to_the_secret() {
        let code = LongCode::new([7; 10]);
        let stored = mac(&key(1), user(1), &code);
        assert_ne!(mac(&key(1), user(2), &code), stored);
        assert_ne!(mac(&key(2), user(1), &code), stored);
        assert_ne!(mac(&key(1), user(1), &LongCode::new([8; 10])), stored);
    }
}
