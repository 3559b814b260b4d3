//! Password sign-in: the stored hashes to compare with, and the decision. Guess limits are in [`crate::guess_limits`].

use crate::password::PasswordHash;
use crate::user::User;

/// Stored hashes that an entered password is compared with. `None` means that there is no such hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Compared<'a> {
    /// Hash of the account's password, if it is to be compared.
    pub own: Option<&'a PasswordHash>,
    /// Hash of the password in the last sign-up with the address, if there is one.
    pub of_sign_up: Option<&'a PasswordHash>,
}

impl<'a> Compared<'a> {
    /// Selects the hashes of an account. For a pending account only the hash of its last sign-up is selected, so that
    /// its responses equal those for a taken address.
    #[must_use]
    pub const fn of(
        user: &User,
        password: Option<&'a PasswordHash>,
        last_sign_up: Option<&'a PasswordHash>,
    ) -> Self {
        match (user.is_pending, last_sign_up) {
            (false, _) => Self { own: password, of_sign_up: last_sign_up },
            (true, Some(_)) => Self { own: None, of_sign_up: last_sign_up },
            (true, None) => Self { own: None, of_sign_up: password },
        }
    }

    /// Returns the hash that the password matched; `None` for no match.
    #[must_use]
    pub const fn fitting(self, fit: Fit) -> Option<&'a PasswordHash> {
        match fit {
            Fit::Own => self.own,
            Fit::SignUp => self.of_sign_up,
            Fit::Neither => None,
        }
    }
}

/// Result of comparing a password with the stored hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// The password is the account's.
    Own,
    /// The password matches the hash of the last sign-up with the address.
    SignUp,
    /// The password matches no stored hash.
    Neither,
}

/// Decision on a sign-in with a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The password is correct, and a session may be opened.
    Opens,
    /// The password is wrong. The attempt counts as a failure.
    Wrong,
    /// The password matches the hash of the last sign-up, and the address must be verified first. The attempt counts as
    /// a failure, so that responses for taken and pending addresses are equal.
    SignedUpOnly,
    /// The password is correct, but the address must be verified first.
    Unverified,
    /// The password is correct, but the account is banned.
    Banned,
}

impl Verdict {
    /// Decides on a sign-in. If `must_verify` is true, a password that matches only the hash of the last sign-up
    /// ([`Fit::SignUp`]) does not open a session.
    #[must_use]
    pub const fn on(user: &User, fit: Fit, must_verify: bool) -> Self {
        match fit {
            Fit::Neither => Self::Wrong,
            Fit::SignUp if must_verify => Self::SignedUpOnly,
            Fit::SignUp if !user.is_pending => Self::Wrong,
            Fit::Own | Fit::SignUp if user.is_banned() => Self::Banned,
            Fit::Own | Fit::SignUp if must_verify && !user.email_verified => Self::Unverified,
            // The account had sign-ups with different passwords, and none of them is known to be the owner's.
            Fit::Own | Fit::SignUp if user.is_contested => Self::Wrong,
            Fit::Own | Fit::SignUp => Self::Opens,
        }
    }
}

/// True if the account still has the hash that the password was compared with, and is not banned. This is checked again
/// in the transaction that opens the session or changes the password.
#[must_use]
pub fn is_as_compared(user: &User, password: Option<&PasswordHash>, compared: &PasswordHash) -> bool {
    !user.is_banned() && password == Some(compared)
}

/// Returns the hash whose salt and parameters must be used for the password of a sign-up, so that one hash operation
/// serves both comparisons. `None` if the account has no Argon2id hash.
#[must_use]
pub fn reusable_salt(password: Option<PasswordHash>) -> Option<PasswordHash> {
    password.filter(PasswordHash::is_argon2id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::verified_user;
    use crate::time::Timestamp;

    fn pending() -> User {
        User { email_verified: false, is_pending: true, ..verified_user() }
    }

    fn hash(text: &str) -> PasswordHash {
        PasswordHash::from_phc(text.to_owned())
    }

    #[test]
    fn pending_account_is_compared_with_the_last_sign_up_alone() {
        let (first, last) = (hash("first"), hash("last"));
        let compared = Compared::of(&pending(), Some(&first), Some(&last));
        assert_eq!(compared, Compared { own: None, of_sign_up: Some(&last) });
        let before_the_rule = Compared::of(&pending(), Some(&first), None);
        assert_eq!(before_the_rule, Compared { own: None, of_sign_up: Some(&first) });
    }

    #[test]
    fn other_accounts_are_compared_with_both() {
        let (own, last) = (hash("own"), hash("last"));
        let compared = Compared::of(&verified_user(), Some(&own), Some(&last));
        assert_eq!(compared, Compared { own: Some(&own), of_sign_up: Some(&last) });
    }

    #[test]
    fn password_of_a_sign_up_is_answered_alike_for_every_account() {
        let now = Timestamp::from_millis(0);
        let banned = User { banned_at: Some(now), ..verified_user() };
        let banned_pending = User { banned_at: Some(now), ..pending() };
        let contested = User { is_contested: true, ..pending() };
        for user in [verified_user(), pending(), banned, banned_pending, contested] {
            assert_eq!(Verdict::on(&user, Fit::SignUp, true), Verdict::SignedUpOnly, "{user:?}");
        }
    }

    #[test]
    fn without_verification_a_sign_up_opens_its_own_account_alone() {
        assert_eq!(Verdict::on(&pending(), Fit::SignUp, false), Verdict::Opens);
        assert_eq!(Verdict::on(&verified_user(), Fit::SignUp, false), Verdict::Wrong);
        let contested = User { is_contested: true, ..pending() };
        assert_eq!(Verdict::on(&contested, Fit::SignUp, false), Verdict::Wrong);
    }

    #[test]
    fn own_password_is_told_why_it_opens_nothing() {
        let banned = User { banned_at: Some(Timestamp::from_millis(0)), ..verified_user() };
        let unverified = User { email_verified: false, ..verified_user() };
        assert_eq!(Verdict::on(&banned, Fit::Own, true), Verdict::Banned);
        assert_eq!(Verdict::on(&unverified, Fit::Own, true), Verdict::Unverified);
        assert_eq!(Verdict::on(&unverified, Fit::Own, false), Verdict::Opens);
        assert_eq!(Verdict::on(&verified_user(), Fit::Own, true), Verdict::Opens);
    }

    #[test]
    fn a_foreign_hash_format_lends_no_salt() {
        let ours = hash("$argon2id$v=19$m=64,t=1,p=1$c2FsdA$b3V0");
        assert_eq!(reusable_salt(Some(ours.clone())), Some(ours));
        assert_eq!(reusable_salt(Some(hash("$2b$12$saltsaltsaltsaltsaltse"))), None);
        assert_eq!(reusable_salt(None), None);
    }
}
