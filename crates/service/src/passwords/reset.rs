//! sendResetPasswordEmail, exchangeResetPasswordToken, resetPassword.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::codes::{EnteredCode, Purpose};
use latchkey_domain::email::Email;
use latchkey_domain::password::Password;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::LinkToken;
use latchkey_store::{BeginReset, CodeAttempt, ExchangeOutcome, NewToken, ResetPassword};

use super::Passwords;
use crate::error::{Error, Result};
use crate::mailbox::redirect_target::RedirectInput;
use crate::refusal::INVALID_CODE;

/// A reset token that was just given out.
pub struct ResetToken {
    /// The token.
    pub token: LinkToken,
    /// Its expiry.
    pub expires_at: Timestamp,
}

impl Passwords {
    /// Mails a code or link. Known and unknown addresses are answered alike.
    pub async fn send_reset(&self, email: Email, redirect: RedirectInput, client: Client) -> Result<()> {
        let method = self.kernel.settings.load().values.reset_password_method;
        self.mailbox.request_code(email, Purpose::ResetPassword, method, redirect, &client).await
    }

    /// Exchanges a code for a reset token.
    pub async fn exchange_reset_code(
        &self,
        email: Email,
        code: EnteredCode,
        client: Client,
    ) -> Result<ResetToken> {
        let now = self.kernel.now();
        let token = LinkToken::new(self.kernel.entropy.bytes());
        let expires_at = now.plus(self.lifetimes.exchanged_reset);
        let attempt = CodeAttempt {
            mac: self.mailbox.code_mac(email.key(), Purpose::ResetPassword, &code),
            form: code.form(),
            lane: self.mailbox.code_lane(email.key(), &client),
            email: email.key().clone(),
            caller: None,
            takes: self.mailbox.attempt_takes(&client),
            event: self.kernel.event(AuditKind::ResetCodeExchanged, Actor::User, Some(&client), now),
            now,
        };
        let token_of_exchange = NewToken { hash: token.hash(), expires_at };
        let exchanged = self.kernel.store.exchange_reset_code(attempt, token_of_exchange).await?;
        match exchanged.map_err(|limited| self.kernel.limited(limited, email.key(), &client))? {
            ExchangeOutcome::Exchanged => Ok(ResetToken { token, expires_at }),
            ExchangeOutcome::Refused => Err(Error::Refused(&INVALID_CODE)),
        }
    }

    /// Sets a new password with a reset token. A password that breaks a rule does not cost the token.
    pub async fn reset_password(&self, token: LinkToken, new: Password, client: Client) -> Result<()> {
        let now = self.kernel.now();
        let takes = self.mailbox.attempt_takes(&client);
        let subject = match self.kernel.store.begin_reset(token.hash(), &takes, now).await?? {
            BeginReset::Good(subject) => subject,
            BeginReset::Refused => return Err(Error::Refused(&INVALID_CODE)),
        };
        self.check_new_password(&self.kernel.settings(), "newPassword", &new, &subject.email)?;

        let reset = ResetPassword {
            token: token.hash(),
            password: self.hasher.hash_like(new, subject.last_sign_up.as_ref()).await?,
            event: self.kernel.event(AuditKind::PasswordReset, Actor::User, Some(&client), now),
            mail: self.kernel.notification(Some(&client), None, now)?,
            now,
        };
        let user = self.kernel.store.reset_password(reset).await?;
        self.kernel.mails.wake_for_notification();
        user.map(|_| ()).ok_or(Error::Refused(&INVALID_CODE))
    }
}
