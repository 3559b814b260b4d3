//! Methods of sign-in that the service offers. When the owner of an account removes one, another must remain.

use crate::identity::ProviderKey;
use crate::passkey::RpId;
use crate::user::User;

/// Methods of sign-in that the service offers besides the password.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SignInOffer {
    /// Identity providers that are enabled for sign-in.
    pub providers: Vec<ProviderKey>,
    /// Relying party id of the passkeys that may sign in; `None` while passkeys are off.
    pub rp_id: Option<RpId>,
    /// True if sign-in by mailed code is on.
    pub by_email: bool,
}

impl SignInOffer {
    /// True if the owner of this account can sign in: by password, an identity of an offered provider, a usable
    /// passkey, or a mail to the verified address.
    #[must_use]
    pub fn admits(&self, user: &User) -> bool {
        user.has_password
            || user.identities.iter().any(|key| self.providers.iter().any(|offered| offered.as_str() == key))
            || user.has_usable_passkey(self.rp_id.as_ref())
            || (self.by_email && user.email_verified)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::fixtures::verified_user;

    fn without_any() -> User {
        User { has_password: false, ..verified_user() }
    }

    fn offer() -> SignInOffer {
        let providers = vec![ProviderKey::parse("google").unwrap()];
        SignInOffer { providers, rp_id: Some(RpId::new("example.org")), by_email: false }
    }

    #[test]
    fn each_offered_method_admits() {
        let user = without_any();
        assert!(!offer().admits(&user));
        assert!(offer().admits(&User { has_password: true, ..user.clone() }));
        assert!(offer().admits(&User { identities: vec!["google".to_owned()], ..user.clone() }));
        assert!(offer().admits(&User { passkeys: vec![RpId::new("example.org")], ..user.clone() }));
        assert!(SignInOffer { by_email: true, ..offer() }.admits(&user));
    }

    #[test]
    fn a_method_that_is_not_offered_does_not_admit() {
        let user = without_any();
        assert!(!offer().admits(&User { identities: vec!["gone".to_owned()], ..user.clone() }));
        assert!(!offer().admits(&User { passkeys: vec![RpId::new("example.com")], ..user.clone() }));
        let off = SignInOffer { rp_id: None, ..offer() };
        assert!(!off.admits(&User { passkeys: vec![RpId::new("example.org")], ..user.clone() }));
        let by_email = SignInOffer { by_email: true, ..offer() };
        assert!(!by_email.admits(&User { email_verified: false, ..user }));
    }
}
