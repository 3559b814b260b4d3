//! The mails that the service sends. Their texts are in `templates/`.

/// Template of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Template {
    /// Email verification by code.
    VerifyCode,
    /// Email verification by link.
    VerifyLink,
    /// Password reset by code.
    ResetCode,
    /// Password reset by link.
    ResetLink,
    /// Notice to the owner of a verified account about a sign-up attempt with the address.
    SignUpAttempt,
    /// Notification: an identity was linked.
    IdentityLinked,
    /// Notification: an identity was unlinked.
    IdentityUnlinked,
    /// Notification: the password was changed.
    PasswordChanged,
    /// Notification: the password was reset.
    PasswordWasReset,
    /// Notification to the old address: an administrator changed the address.
    EmailChanged,
    /// Notification: reuse of a refresh token was detected and its session revoked.
    SessionEndedForSafety,
}

/// Required data of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Code,
    Link,
    Event,
    Nothing,
}

impl Template {
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

    /// Stem of its three files: `{name}.subject.txt`, `{name}.txt` and `{name}.html`.
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

    /// Parses a [`name`](Self::name), for example from an outbox row.
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
            | Self::SessionEndedForSafety => Need::Event,
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
