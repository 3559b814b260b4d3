//! Mails with a code or link that an admin or operator has sent to a user.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::client::Client;
use latchkey_domain::codes::Purpose;
use latchkey_domain::email::Email;
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::Party;
use latchkey_domain::redirect::RedirectUrl;
use latchkey_store::{RequestEmailCode, SendEmailCode, SentEmailCode};

use super::Admin;
use crate::error::{Error, Result};
use crate::mailbox::redirect_target::{Need, RedirectInput};
use crate::refusal::{MAIL_NOT_SENT, MAIL_TO_BANNED, MAIL_TO_VERIFIED};
use crate::settings::EmailMethod;

/// A mail that an admin can have sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HelpMail {
    /// By which the user verifies the address.
    Verification,
    /// By which the user sets a new password.
    Reset,
}

impl HelpMail {
    const fn purpose(self) -> Purpose {
        match self {
            Self::Verification => Purpose::VerifyEmail,
            Self::Reset => Purpose::ResetPassword,
        }
    }

    const fn kind(self) -> AuditKind {
        match self {
            Self::Verification => AuditKind::VerificationSent,
            Self::Reset => AuditKind::ResetSent,
        }
    }

    /// Returns the page of the service that the link leads to.
    const fn page(self) -> &'static str {
        match self {
            Self::Verification => "/auth/verified",
            Self::Reset => "/auth/reset",
        }
    }
}

impl Admin {
    /// Mails a user a code or link, as the settings say, and returns the address. The link leads to `redirect_to`, else to
    /// the default target, else to the page of the service. The admin waits for no earlier mail, but the limit of mails to
    /// one mailbox holds. The mail does not mention the admin's client.
    pub async fn send_mail(
        &self,
        id: UserId,
        mail: HelpMail,
        redirect_to: Option<String>,
        party: Party,
        client: Option<&Client>,
    ) -> Result<Email> {
        let user = self.find_user(id).await?;
        if user.is_banned() {
            return Err(Error::Refused(&MAIL_TO_BANNED));
        }
        if mail == HelpMail::Verification && user.email_verified {
            return Err(Error::Refused(&MAIL_TO_VERIFIED));
        }
        self.kernel.mails.check_transport()?;
        let values = &self.kernel.settings().values;
        let method = match mail {
            HelpMail::Verification => values.verify_email_method,
            HelpMail::Reset => values.reset_password_method,
        };
        let redirect = self.target(mail, redirect_to, method)?;
        let (now, key, mailbox) = (self.kernel.now(), user.email.key(), &self.passwords.mailbox);
        let code = mailbox.new_code_mail(key, mail.purpose(), method, redirect, None, now)?;
        let request = RequestEmailCode {
            email: key.clone(),
            purpose: mail.purpose(),
            takes: mailbox.mailbox_takes(key, mail.purpose()),
            email_code: code.email_code,
            mail: code.mail,
            now,
        };
        let event = self.kernel.event(mail.kind(), party, client, now);
        let send = SendEmailCode { user_id: id, request, event };
        match self.kernel.store.send_email_code(send).await?? {
            SentEmailCode::Sent => {
                self.kernel.mails.wake();
                Ok(user.email)
            }
            SentEmailCode::Refused => Err(Error::Refused(&MAIL_NOT_SENT)),
        }
    }

    fn target(
        &self,
        mail: HelpMail,
        redirect_to: Option<String>,
        method: EmailMethod,
    ) -> Result<Option<RedirectUrl>> {
        let settings = self.kernel.settings();
        let page = format!("{}{}", self.kernel.site.origin(), mail.page());
        // The page is an allowed target while the pages are served.
        let email_redirect_to = settings.redirects.check(&page).is_ok().then_some(page);
        let need = if method == EmailMethod::Link { Need::Required } else { Need::Optional };
        RedirectInput { redirect_to, email_redirect_to }.resolve(&settings, need)
    }
}
