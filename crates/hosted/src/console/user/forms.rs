//! The acts on one user, and the forms that the page shows: those that the operator may do, and that have an effect.

use latchkey_domain::identity::ProviderKey;
use latchkey_domain::operator::Act;
use latchkey_domain::profile::Profile;
use latchkey_pages::Form;
use latchkey_pages::console::views::{ChangeAddress, SetPassword, UserActs};
use latchkey_pages::views::PasswordRules;
use latchkey_service::admin::UserFile;
use latchkey_service::oauth::LinkedIdentity;
use url::form_urlencoded::byte_serialize;

use super::super::visit::ConsoleVisit;

/// Query parameter that says what a form does.
pub(super) const ACT: &str = "act";
/// Query parameters with the identity to unlink.
pub(super) const PROVIDER: &str = "provider";
pub(super) const SUBJECT: &str = "subject";

macro_rules! user_acts {
    ($($act:ident $name:literal $needed:ident)+) => {
        /// An act on a user, with its name in the address of its form.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum UserAct { $($act,)+ }

        impl UserAct {
            pub(super) fn parse(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$act),)+ _ => None }
            }

            const fn name(self) -> &'static str {
                match self { $(Self::$act => $name,)+ }
            }

            /// Returns what an operator must be permitted to do.
            pub(super) const fn needed(self) -> Act {
                match self { $(Self::$act => Act::$needed,)+ }
            }
        }
    };
}

impl UserAct {
    /// Returns what an operator must be permitted to do besides, if the account is an operator's.
    pub(super) const fn needed_for_operators(self) -> Option<Act> {
        match self {
            Self::SendVerification | Self::SendReset | Self::RetryMail => None,
            Self::EndSessions | Self::EndSession => Some(Act::EndSessionsOfOperators),
            _ => Some(Act::ChangeOperatorAccounts),
        }
    }
}

user_acts! {
    EndSessions "end-sessions" EndSessions
    EndSession "end-one-session" EndSessions
    SendVerification "send-verification" ResendMails
    SendReset "send-reset" SendReset
    RetryMail "retry-mail" ResendMails
    LiftLimits "lift-limits" LiftLimits
    Ban "ban" Ban
    Unban "unban" Ban
    RemoveProfileText "remove-profile-text" RemoveProfileText
    Keep "keep" ChangeUsers
    MarkVerified "mark-verified" ChangeAddresses
    ChangeAddress "change-address" ChangeAddresses
    SetPassword "set-password" SetPasswords
    SaveMetadata "save-metadata" ChangeMetadata
    RemovePasskey "remove-passkey" RemoveFactors
    RemoveFactors "remove-factors" RemoveFactors
    Unlink "unlink" RemoveFactors
    Delete "delete" DeleteUsers
}

/// The forms of one user's page.
pub(super) struct Forms<'a> {
    visit: &'a ConsoleVisit,
    path: String,
    /// True if the account is an operator's.
    is_of_operator: bool,
}

impl<'a> Forms<'a> {
    pub(super) fn new(visit: &'a ConsoleVisit, file: &UserFile) -> Self {
        let path = format!("/console/users/{}", file.account.user.id);
        Self { visit, path, is_of_operator: file.role.is_some() }
    }

    pub(super) fn end_session(&self) -> Option<Form> {
        self.form(UserAct::EndSession)
    }

    pub(super) fn retry_mail(&self) -> Option<Form> {
        self.form(UserAct::RetryMail)
    }

    pub(super) fn remove_passkey(&self) -> Option<Form> {
        self.form(UserAct::RemovePasskey)
    }

    /// Returns the form that unlinks an identity; `None` if the key of its provider is none any more.
    pub(super) fn unlink(&self, identity: &LinkedIdentity) -> Option<Form> {
        let provider = ProviderKey::parse(&identity.provider).ok()?;
        let subject: String = byte_serialize(identity.subject.as_bytes()).collect();
        self.form_with(UserAct::Unlink, &[(PROVIDER, provider.as_str()), (SUBJECT, &subject)])
    }

    pub(super) fn acts(&self, file: &UserFile) -> UserActs {
        let (user, factors) = (&file.account.user, &file.account.factors);
        let form = |act, has_effect: bool| self.form(act).filter(|_| has_effect);
        let has_factors = user.has_two_step() || !factors.totp.is_empty() || !factors.passkeys.is_empty();
        let address =
            self.form(UserAct::ChangeAddress).map(|form| ChangeAddress { form, email: String::new() });
        let rules = || PasswordRules::from(&self.visit.service().settings().values.passwords());
        UserActs {
            end_sessions: form(UserAct::EndSessions, !file.sessions.is_empty()),
            send_verification: form(UserAct::SendVerification, !user.email_verified && !user.is_banned()),
            send_reset: form(UserAct::SendReset, !user.is_banned()),
            lift_limits: form(UserAct::LiftLimits, !file.limits.is_empty()),
            ban: form(UserAct::Ban, !user.is_banned()),
            unban: form(UserAct::Unban, user.is_banned()),
            keep: form(UserAct::Keep, user.is_in_deletion()),
            remove_profile_text: form(
                UserAct::RemoveProfileText,
                file.profile.as_ref().is_some_and(has_text),
            ),
            mark_verified: form(UserAct::MarkVerified, !user.email_verified),
            change_address: address,
            set_password: self.form(UserAct::SetPassword).map(|form| SetPassword { form, rules: rules() }),
            save_metadata: self.form(UserAct::SaveMetadata),
            remove_factors: form(UserAct::RemoveFactors, has_factors),
            delete: self.form(UserAct::Delete),
        }
    }

    fn form(&self, act: UserAct) -> Option<Form> {
        self.form_with(act, &[])
    }

    fn form_with(&self, act: UserAct, parameters: &[(&str, &str)]) -> Option<Form> {
        let lacks = |needed| !self.visit.may(needed);
        let is_spared = self.is_of_operator && act.needed_for_operators().is_some_and(lacks);
        let parameters = [&[(ACT, act.name())], parameters].concat();
        self.visit.form_of_with(act.needed(), &self.path, &parameters).filter(|_| !is_spared)
    }
}

/// True if everybody sees some text of the profile.
fn has_text(profile: &Profile) -> bool {
    let is_named = !profile.name.as_str().is_empty() || profile.username.is_some();
    is_named || profile.bio.is_some() || profile.avatar_url.is_some() || !profile.custom.is_empty()
}
