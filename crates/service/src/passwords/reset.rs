//! Password reset: sending the mail, exchanging the code for a reset token, and setting the new password.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::codes::{EnteredCode, Purpose};
use latchkey_domain::email::Email;
use latchkey_domain::password::Password;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::LinkToken;
use latchkey_store::{
    BeginReset, BeginResetChallenge, CodeAttempt, ExchangeOutcome, NewToken, ResetOutcome as StoredOutcome,
    ResetPassword,
};

use super::Passwords;
use crate::error::{Error, Result};
use crate::mailbox::redirect_target::RedirectInput;
use crate::refusal::{INVALID_CODE, NO_SECOND_FACTOR_LEFT};
use crate::sessions::{Challenge, SignInClient};

pub struct ResetToken {
    pub token: LinkToken,
    pub expires_at: Timestamp,
}

/// Outcome of a password reset with a valid token and an acceptable password.
pub enum ResetOutcome {
    /// The new password was stored.
    Reset,
    /// Nothing was changed yet. The challenge asks for a second factor first; a right answer to it yields a new reset
    /// token.
    Challenged(Challenge),
}

impl Passwords {
    /// Mails a reset code or link, if the address has an account. The response is the same for unknown addresses.
    pub async fn send_reset(&self, email: Email, redirect: RedirectInput, client: Client) -> Result<()> {
        let method = self.kernel.settings.load().values.reset_password_method;
        self.mailbox.request_code(email, Purpose::ResetPassword, method, redirect, &client).await
    }

    /// Exchanges a mailed code for a reset token.
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

    /// Returns the address of the account whose password a reset token may set; `None` if the token is not valid.
    pub async fn reset_account(&self, token: &LinkToken, client: &Client) -> Result<Option<Email>> {
        let takes = self.mailbox.attempt_takes(client);
        Ok(match self.kernel.store.begin_reset(token.hash(), &takes, self.kernel.now()).await?? {
            BeginReset::Good(subject) => Some(subject.email),
            BeginReset::Refused => None,
        })
    }

    /// Sets a new password with a reset token. If the password policy refuses the password, the token remains valid.
    pub async fn reset_password(
        &self,
        token: LinkToken,
        new: Password,
        from: &SignInClient,
    ) -> Result<ResetOutcome> {
        let (client, now) = (&from.client, self.kernel.now());
        let takes = self.mailbox.attempt_takes(client);
        let subject = match self.kernel.store.begin_reset(token.hash(), &takes, now).await?? {
            BeginReset::Good(subject) => subject,
            BeginReset::Refused => return Err(Error::Refused(&INVALID_CODE)),
        };
        self.check_new_password(&self.kernel.settings(), "newPassword", &new, &subject.email)?;
        // No challenge is begun if the account has no means to answer one, or if two-step sign-in was turned off
        // meanwhile. The store then decides.
        if subject.needs_second_factor
            && let Some(challenge) = self.challenge_reset(&token, from, now).await?
        {
            return Ok(ResetOutcome::Challenged(challenge));
        }
        let reset = ResetPassword {
            token: token.hash(),
            password: self.hasher.hash_like(new, subject.last_sign_up.as_ref()).await?,
            event: self.kernel.event(AuditKind::PasswordReset, Actor::User, Some(client), now),
            mail: self.kernel.notification(Some(client), None, now)?,
            cleared: self.kernel.required_notification(Some(client), None, now)?,
            now,
        };
        match self.kernel.store.reset_password(reset).await? {
            StoredOutcome::Reset(_) => {
                self.kernel.mails.wake_for_notification();
                Ok(ResetOutcome::Reset)
            }
            StoredOutcome::NeedsSecondFactor => {
                let challenge = self.challenge_reset(&token, from, now).await?;
                Ok(ResetOutcome::Challenged(challenge.ok_or(&NO_SECOND_FACTOR_LEFT)?))
            }
            StoredOutcome::Refused => Err(Error::Refused(&INVALID_CODE)),
        }
    }

    /// Begins the challenge of a password reset, which asks for a second factor. It replaces an earlier challenge of
    /// the same reset token. Returns `None` if the account has no means to answer.
    async fn challenge_reset(
        &self,
        token: &LinkToken,
        from: &SignInClient,
        now: Timestamp,
    ) -> Result<Option<Challenge>> {
        let (id, challenge) = self.sessions.draft_challenge(from, now);
        let expires_at = challenge.expires_at;
        let rules = self.sessions.factor_rules();
        let begin = BeginResetChallenge { token: token.hash(), challenge, rules, now };
        let kinds = self.kernel.store.begin_reset_challenge(begin).await?.ok_or(&INVALID_CODE)?;
        Ok((!kinds.is_empty()).then_some(Challenge { id, kinds, expires_at }))
    }
}
