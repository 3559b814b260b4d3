//! The list of mails that the service sends. What they say stands in `templates/`.

/// A mail that the service sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Template {
    /// A code that confirms an address.
    VerifyCode,
    /// A link that confirms an address.
    VerifyLink,
    /// A code that allows a new password.
    ResetCode,
    /// A link that allows a new password.
    ResetLink,
    /// To the owner of a verified account: somebody tried to sign up with this address.
    SignUpAttempt,
    /// An identity was linked to the account.
    IdentityLinked,
    /// An identity was unlinked from the account.
    IdentityUnlinked,
    /// The password was changed.
    PasswordChanged,
    /// The password was reset.
    PasswordWasReset,
    /// To the old address: an administrator gave the account another one.
    EmailChanged,
    /// A stale refresh token came back and ended its session.
    SessionEndedForSafety,
}

/// What a mail cannot do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Code,
    Link,
    Act,
    Nothing,
}

impl Template {
    /// Every template.
    pub const ALL: [Self; 11] = [
        Self::VerifyCode,
        Self::VerifyLink,
        Self::ResetCode,
        Self::ResetLink,
        Self::SignUpAttempt,
        Self::IdentityLinked,
        Self::IdentityUnlinked,
        Self::PasswordChanged,
        Self::PasswordWasReset,
        Self::EmailChanged,
        Self::SessionEndedForSafety,
    ];

    /// The stem of its three files: `{name}.subject.txt`, `{name}.txt` and `{name}.html`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::VerifyCode => "verify_code",
            Self::VerifyLink => "verify_link",
            Self::ResetCode => "reset_code",
            Self::ResetLink => "reset_link",
            Self::SignUpAttempt => "sign_up_attempt",
            Self::IdentityLinked => "identity_linked",
            Self::IdentityUnlinked => "identity_unlinked",
            Self::PasswordChanged => "password_changed",
            Self::PasswordWasReset => "password_was_reset",
            Self::EmailChanged => "email_changed",
            Self::SessionEndedForSafety => "session_ended_for_safety",
        }
    }

    /// Reads a [`name`](Self::name) back, for example from an outbox row.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|template| template.name() == name)
    }

    pub(crate) const fn need(self) -> Need {
        match self {
            Self::VerifyCode | Self::ResetCode => Need::Code,
            Self::VerifyLink | Self::ResetLink => Need::Link,
            Self::SignUpAttempt => Need::Nothing,
            Self::IdentityLinked
            | Self::IdentityUnlinked
            | Self::PasswordChanged
            | Self::PasswordWasReset
            | Self::EmailChanged
            | Self::SessionEndedForSafety => Need::Act,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn names_read_back() {
        for template in Template::ALL {
            assert_eq!(Template::from_name(template.name()), Some(template));
        }
        assert_eq!(Template::from_name("layout"), None);
    }
}
