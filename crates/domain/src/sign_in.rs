//! Password sign-in: the stored hashes to compare with, and the verdict. Guess limits are in
//! [`crate::guess_limits`].

use crate::password::PasswordHash;
use crate::user::User;

/// Stored hashes that a password is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Compared<'a> {
    /// Hash of the account's password.
    pub own: Option<&'a PasswordHash>,
    /// Hash of the password of the last sign-up with the address.
    pub of_sign_up: Option<&'a PasswordHash>,
}

impl<'a> Compared<'a> {
    /// Selects the hashes of an account. A pending account has only the password of its last sign-up, so that
    /// it answers like a taken address.
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

    /// The hash that matched.
    #[must_use]
    pub const fn fitting(self, fit: Fit) -> Option<&'a PasswordHash> {
        match fit {
            Fit::Own => self.own,
            Fit::SignUp => self.of_sign_up,
            Fit::Neither => None,
        }
    }
}

/// The stored hash that a password matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// The account's password.
    Own,
    /// The password of the last sign-up.
    SignUp,
    /// No match.
    Neither,
}

/// Verdict on a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Opens a session.
    Opens,
    /// Wrong; counts as a guess.
    Wrong,
    /// The address must be verified first. Counts as a guess: taken and pending addresses answer alike.
    SignedUpOnly,
    /// Correct, but the address must be verified first.
    Unverified,
    /// Correct, but the account is banned.
    Banned,
}

impl Verdict {
    /// Verdict of an account. The password of a sign-up opens nothing while verification is required.
    #[must_use]
    pub const fn on(user: &User, fit: Fit, must_verify: bool) -> Self {
        match fit {
            Fit::Neither => Self::Wrong,
            Fit::SignUp if must_verify => Self::SignedUpOnly,
            Fit::SignUp if !user.is_pending => Self::Wrong,
            Fit::Own | Fit::SignUp if user.is_banned() => Self::Banned,
            Fit::Own | Fit::SignUp if must_verify && !user.email_verified => Self::Unverified,
            // Several sign-ups with different passwords: none is known to be the owner's.
            Fit::Own | Fit::SignUp if user.is_contested => Self::Wrong,
            Fit::Own | Fit::SignUp => Self::Opens,
        }
    }
}

/// True if the hash that was compared is still that of the account, and the account may have a session. Judged
/// again before the session is opened or the password changed.
#[must_use]
pub fn is_as_compared(user: &User, password: Option<&PasswordHash>, compared: &PasswordHash) -> bool {
    !user.is_banned() && password == Some(compared)
}

/// The hash whose salt and parameters are reused for the password of a sign-up, so that one hash operation
/// answers both comparisons; `None` if the account has no suitable one.
#[must_use]
pub fn reusable_salt(password: Option<PasswordHash>) -> Option<PasswordHash> {
    password.filter(PasswordHash::is_argon2id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::email::Email;
    use crate::ids::UserId;
    use crate::time::Timestamp;
    use crate::user::AppMetadata;

    fn verified() -> User {
        let now = Timestamp::from_millis(0);
        User {
            id: UserId::new(now, [0; 10]),
            email: Email::parse("ada@example.org").unwrap(),
            email_verified: true,
            has_password: true,
            identities: Vec::new(),
            banned_at: None,
            is_pending: false,
            is_contested: false,
            metadata: AppMetadata::default(),
            created_at: now,
            updated_at: now,
            profile: None,
        }
    }

    fn pending() -> User {
        User { email_verified: false, is_pending: true, ..verified() }
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
        let compared = Compared::of(&verified(), Some(&own), Some(&last));
        assert_eq!(compared, Compared { own: Some(&own), of_sign_up: Some(&last) });
    }

    #[test]
    fn password_of_a_sign_up_is_answered_alike_for_every_account() {
        let now = Timestamp::from_millis(0);
        let banned = User { banned_at: Some(now), ..verified() };
        let banned_pending = User { banned_at: Some(now), ..pending() };
        let contested = User { is_contested: true, ..pending() };
        for user in [verified(), pending(), banned, banned_pending, contested] {
            assert_eq!(Verdict::on(&user, Fit::SignUp, true), Verdict::SignedUpOnly, "{user:?}");
        }
    }

    #[test]
    fn without_verification_a_sign_up_opens_its_own_account_alone() {
        assert_eq!(Verdict::on(&pending(), Fit::SignUp, false), Verdict::Opens);
        assert_eq!(Verdict::on(&verified(), Fit::SignUp, false), Verdict::Wrong);
        let contested = User { is_contested: true, ..pending() };
        assert_eq!(Verdict::on(&contested, Fit::SignUp, false), Verdict::Wrong);
    }

    #[test]
    fn own_password_is_told_why_it_opens_nothing() {
        let banned = User { banned_at: Some(Timestamp::from_millis(0)), ..verified() };
        let unverified = User { email_verified: false, ..verified() };
        assert_eq!(Verdict::on(&banned, Fit::Own, true), Verdict::Banned);
        assert_eq!(Verdict::on(&unverified, Fit::Own, true), Verdict::Unverified);
        assert_eq!(Verdict::on(&unverified, Fit::Own, false), Verdict::Opens);
        assert_eq!(Verdict::on(&verified(), Fit::Own, true), Verdict::Opens);
    }

    #[test]
    fn a_foreign_hash_format_lends_no_salt() {
        let ours = hash("$argon2id$v=19$m=64,t=1,p=1$c2FsdA$b3V0");
        assert_eq!(reusable_salt(Some(ours.clone())), Some(ours));
        assert_eq!(reusable_salt(Some(hash("$2b$12$saltsaltsaltsaltsaltse"))), None);
        assert_eq!(reusable_salt(None), None);
    }
}
