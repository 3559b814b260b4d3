//! Kinds of mails: one table row per kind, with its name in the database and its templates.

use crate::words;

/// Calls the macro `$rows!` with the table of mail kinds. A row consists of the kind, its name in the database, and in
/// brackets its template. A kind that is mailed with either a code or a link has two templates, separated by `|`: the
/// first is for codes. A template is written as the data that it needs besides time, device and network address of the
/// request (`Code`, `CodeWithLink`: a code and an optional link, `Link` or `Nothing`) and the name of its texts in
/// `crates/mail/texts`.
#[macro_export]
macro_rules! mail_kinds {
    ($rows:ident) => {
        $rows! {
            /// Asks the recipient to verify the address, by code or link.
            Verify "verify" [Code "verify_code" | Link "verify_link"]
            /// Lets the recipient reset the password, by code or link.
            Reset "reset" [Code "reset_code" | Link "reset_link"]
            /// Informs the owner of an account of a sign-up with the account's address.
            SignUpAttempt "sign_up_attempt" [Nothing "sign_up_attempt"]
            /// Security notification: an identity was linked, by the owner or by its verified email address.
            IdentityLinked "identity_linked" [Nothing "identity_linked"]
            /// Security notification: an identity was unlinked.
            IdentityUnlinked "identity_unlinked" [Nothing "identity_unlinked"]
            /// Security notification: the password was changed with the old password.
            PasswordChanged "password_changed" [Nothing "password_changed"]
            /// Security notification: the password was reset by a mailed code or link.
            PasswordWasReset "password_was_reset" [Nothing "password_was_reset"]
            /// Security notification: an account without password got one.
            PasswordSet "password_set" [Nothing "password_set"]
            /// Security notification: an admin or the operator set the password.
            PasswordReplaced "password_replaced" [Nothing "password_replaced"]
            /// Security notification: the first proof of the mailbox removed what was in the account before it.
            AccountCleared "account_cleared" [Nothing "account_cleared"]
            /// Asks the recipient to prove an address by a code: the new or the current one of a change of address.
            EmailChange "email_change" [Code "email_change_code"]
            /// Informs the owner of an account that another account was to get the owner's address.
            EmailChangeAttempt "email_change_attempt" [Nothing "email_change_attempt"]
            /// Security notification to the old address: the email address was changed, by its owner or an admin. Contains the undo link of a change by the owner, and leaves out an admin's network address.
            EmailChanged "email_changed" [Nothing "email_changed"]
            /// Security notification to the new address: the email address was changed by its owner.
            EmailChangedNew "email_changed_new" [Nothing "email_changed_new"]
            /// Security notification: a replaced refresh token was presented, and its session was ended.
            SessionEndedForSafety "session_ended_for_safety" [Nothing "session_ended_for_safety"]
            /// Security notification: a session was opened on a device or in a network that the account was not used from in 90 days. At most one a day.
            NewDevice "new_device" [Nothing "new_device"]
            /// Asks the recipient to confirm a change of the account with a code.
            Reauthenticate "reauthenticate" [Code "reauthenticate_code"]
            /// Lets the recipient sign in by code, or by link in the browser that asked for the mail.
            SignIn "sign_in" [CodeWithLink "sign_in_code"]
            /// Security notification: two-step sign-in was turned on. Contains the undo link.
            TwoStepOn "two_step_on" [Nothing "two_step_on"]
            /// Security notification: two-step sign-in was turned off.
            TwoStepOff "two_step_off" [Nothing "two_step_off"]
            /// Security notification: a passkey was added. Contains the undo link while two-step sign-in is off.
            PasskeyAdded "passkey_added" [Nothing "passkey_added"]
            /// Security notification: a passkey was removed.
            PasskeyRemoved "passkey_removed" [Nothing "passkey_removed"]
            /// Security notification: a passkey was refused, because it may have been copied.
            PasskeyRefused "passkey_refused" [Nothing "passkey_refused"]
            /// Security notification: a TOTP factor was added to an account with two-step sign-in.
            TotpAdded "totp_added" [Nothing "totp_added"]
            /// Security notification: a new set of recovery codes was made.
            RecoveryCodesMade "recovery_codes_made" [Nothing "recovery_codes_made"]
            /// Security notification: a recovery code was used. States the number of unused codes.
            RecoveryCodeUsed "recovery_code_used" [Nothing "recovery_code_used"]
            /// Security notification: five wrong second factors were entered within a day.
            SecondFactorFailed "second_factor_failed" [Nothing "second_factor_failed"]
            /// Security notification: an admin or the operator removed all second factors.
            FactorsReset "factors_reset" [Nothing "factors_reset"]
            /// Security notification: the owner deleted the account. States the end of the grace period, and contains
            /// the undo link.
            DeletionScheduled "deletion_scheduled" [Nothing "deletion_scheduled"]
            /// Security notification: a deleted account was restored in its grace period, by its owner or an admin.
            DeletionCancelled "deletion_cancelled" [Nothing "deletion_cancelled"]
            /// Security notification: an account that its owner deleted was deleted for good.
            AccountDeleted "account_deleted" [Nothing "account_deleted"]
            /// Security notification: an undo link was used.
            Undone "undone" [Nothing "undone"]
        }
    };
}

macro_rules! kinds {
    ($($(#[doc = $about:literal])* $kind:ident $name:literal $templates:tt)*) => {
        words! {
            /// Kind of a mail, which selects its template. The string is its name in the database.
            pub enum MailKind { $($(#[doc = $about])* $kind = $name,)* }
        }

        impl MailKind {
            /// Returns the purpose of the mail, for `docs/mails.md`.
            #[must_use]
            pub const fn about(self) -> &'static str {
                match self { $(Self::$kind => concat!($($about),*).trim_ascii_start(),)* }
            }
        }
    };
}

mail_kinds!(kinds);

impl MailKind {
    /// True for a security notification that an account in deletion gets too.
    #[must_use]
    pub const fn is_sent_in_deletion(self) -> bool {
        matches!(
            self,
            Self::AccountCleared
                | Self::PasswordWasReset
                | Self::DeletionScheduled
                | Self::DeletionCancelled
                | Self::AccountDeleted
        )
    }

    /// True for a mail with a code or link that signs in, or proves an address.
    #[must_use]
    pub const fn proves_mailbox(self) -> bool {
        matches!(self, Self::Verify | Self::Reset | Self::EmailChange | Self::Reauthenticate | Self::SignIn)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn names_read_back() {
        for kind in MailKind::ALL {
            assert_eq!(MailKind::parse(kind.as_str()), Some(*kind));
        }
        assert_eq!(MailKind::parse("layout"), None);
    }
}
