//! Flags of the authenticator data (WebAuthn section 6.1).

use crate::refusal::Refusal;

const USER_PRESENT: u8 = 0x01;
const USER_VERIFIED: u8 = 0x04;
const BACKUP_ELIGIBLE: u8 = 0x08;
const BACKED_UP: u8 = 0x10;
const HAS_CREDENTIAL: u8 = 0x40;
const HAS_EXTENSIONS: u8 = 0x80;

/// Flags of authenticator data. The flag BS without BE is refused. The two reserved bits are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// Parses the byte; fails with [`Refusal::BackupState`] if BS (backed up) is set without BE (backup eligible).
    pub const fn parse(byte: u8) -> Result<Self, Refusal> {
        let flags = Self(byte);
        if flags.is_backed_up() && !flags.is_backup_eligible() {
            return Err(Refusal::BackupState);
        }
        Ok(flags)
    }

    const fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    /// UP: a user was present, for example touched the authenticator.
    #[must_use]
    pub const fn is_user_present(self) -> bool {
        self.has(USER_PRESENT)
    }

    /// UV: the authenticator verified its user, for example by PIN or fingerprint.
    #[must_use]
    pub const fn is_user_verified(self) -> bool {
        self.has(USER_VERIFIED)
    }

    /// BE: the credential may be synced. It never changes.
    #[must_use]
    pub const fn is_backup_eligible(self) -> bool {
        self.has(BACKUP_ELIGIBLE)
    }

    /// BS: the credential is synced now.
    #[must_use]
    pub const fn is_backed_up(self) -> bool {
        self.has(BACKED_UP)
    }

    /// AT: attested credential data follows.
    pub(crate) const fn has_credential(self) -> bool {
        self.has(HAS_CREDENTIAL)
    }

    /// ED: a map of extension outputs follows.
    pub(crate) const fn has_extensions(self) -> bool {
        self.has(HAS_EXTENSIONS)
    }

    /// Fails unless both UP and UV are set.
    pub(crate) const fn demand_verified_user(self) -> Result<(), Refusal> {
        if !self.is_user_present() {
            return Err(Refusal::UserNotPresent);
        }
        if !self.is_user_verified() {
            return Err(Refusal::UserNotVerified);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backup_state_needs_eligibility() {
        for byte in 0..=u8::MAX {
            let is_refused = byte & 0x10 != 0 && byte & 0x08 == 0;
            assert_eq!(Flags::parse(byte).is_err(), is_refused, "{byte:#04x}");
        }
    }

    #[test]
    fn each_flag_is_its_own_bit() {
        let read = |byte| {
            let flags = Flags::parse(byte).unwrap();
            [
                flags.is_user_present(),
                flags.is_user_verified(),
                flags.is_backup_eligible(),
                flags.is_backed_up(),
                flags.has_credential(),
                flags.has_extensions(),
            ]
        };
        assert_eq!(read(0x01), [true, false, false, false, false, false]);
        assert_eq!(read(0x04), [false, true, false, false, false, false]);
        assert_eq!(read(0x08), [false, false, true, false, false, false]);
        assert_eq!(read(0x18), [false, false, true, true, false, false]);
        assert_eq!(read(0x40), [false, false, false, false, true, false]);
        assert_eq!(read(0x80), [false, false, false, false, false, true]);
        assert_eq!(read(0x22), [false; 6]);
    }
}
