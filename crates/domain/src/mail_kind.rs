//! Kinds of mails, one row each.

/// Expands `$rows!` with one row per kind of mail: kind, name in the database, and in brackets a template per form of
/// the mail: required data (`Code`, `Link`, `Event` or `Nothing`) and stem of its files in `crates/mail/templates`. Of
/// two forms the first is for a payload with a code.
#[macro_export]
macro_rules! mail_kinds {
    ($rows:ident) => {
        $rows! {
            /// Verify this address.
            Verify "verify" [Code "verify_code" | Link "verify_link"]
            /// Set a new password.
            Reset "reset" [Code "reset_code" | Link "reset_link"]
            /// To the owner of a verified account: a sign-up was attempted with the address.
            SignUpAttempt "sign_up_attempt" [Nothing "sign_up_attempt"]
            /// An identity was linked to this account.
            IdentityLinked "identity_linked" [Event "identity_linked"]
            /// An identity was unlinked from this account.
            IdentityUnlinked "identity_unlinked" [Event "identity_unlinked"]
            /// The password was changed.
            PasswordChanged "password_changed" [Event "password_changed"]
            /// The password was reset.
            PasswordWasReset "password_was_reset" [Event "password_was_reset"]
            /// To the old address: an administrator changed the address.
            EmailChanged "email_changed" [Event "email_changed"]
            /// A replaced refresh token was replayed; its session was ended.
            SessionEndedForSafety "session_ended_for_safety" [Event "session_ended_for_safety"]
        }
    };
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal $templates:tt)*) => {
        /// Kind of a mail; it selects the template.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum MailKind { $($(#[$doc])* $kind,)* }

        impl MailKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Name in the database.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }
        }
    };
}

mail_kinds!(kinds);

impl MailKind {
    /// Parses the name in the database.
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn names_read_back() {
        for kind in MailKind::ALL {
            assert_eq!(MailKind::from_stored(kind.as_str()), Some(*kind));
        }
        assert_eq!(MailKind::from_stored("layout"), None);
    }
}
