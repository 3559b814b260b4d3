//! Verification of an email address, and sending another verification mail.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::codes::{EnteredCode, Purpose};
use latchkey_domain::email::Email;
use latchkey_domain::session::AuthMethod;
use latchkey_domain::tokens::LinkToken;
use latchkey_store::{CodeAttempt, RequestEmailCode, TokenAttempt, VerifyOutcome};

use super::Mailbox;
use super::redirect_target::{Need, RedirectInput};
use crate::error::{Error, Result};
use crate::refusal::{AUTH_UNAUTHORIZED, INVALID_CODE};
use crate::sessions::{Credential, Entrance, SignInClient};
use crate::settings::EmailMethod;

/// Proof that the user reads the mailbox: an email code or a link token.
pub enum VerificationProof {
    /// A code that was mailed to this address.
    Code(Email, EnteredCode),
    /// The token of a mailed link, as older clients send it, and the address to which it was mailed, if the
    /// request names it.
    Link(LinkToken, Option<Email>),
}

impl Mailbox {
    /// True if mails can be sent: a transport is configured.
    #[must_use]
    pub fn sends_mails(&self) -> bool {
        self.kernel.mails.has_transport()
    }

    /// Mails a new code or link, if the address has an unverified account. The response is the same for any other
    /// address.
    pub async fn resend_verification(
        &self,
        email: Email,
        redirect: RedirectInput,
        client: Client,
    ) -> Result<()> {
        let method = self.kernel.settings.load().values.verify_email_method;
        self.request_code(email, Purpose::VerifyEmail, method, redirect, &client).await
    }

    /// Verifies an address and opens a session. Verification can remove password, sessions and other data
    /// that an attacker may have added to the unverified account. Less is removed if the credential belongs to a
    /// live session of the account ([`latchkey_domain::email_verification::VerificationEffects`]). An invalid
    /// access token is ignored.
    pub async fn verify_email(
        &self,
        proof: VerificationProof,
        credential: impl Into<Credential<'_>>,
        from: SignInClient,
    ) -> Result<Entrance> {
        let client = &from.client;
        let now = self.kernel.now();
        let caller = match self.sessions.named_caller(credential).await {
            Ok(caller) => Some(caller.0.session_id),
            Err(Error::Refused(&AUTH_UNAUTHORIZED)) => None,
            Err(error) => return Err(error),
        };
        let draft = self.sessions.draft_entry(AuthMethod::OneTimeCode, &from, now)?;
        let event = self.kernel.event(AuditKind::EmailVerified, Actor::User, Some(client), now);
        let takes = self.attempt_takes(client);
        let about = match &proof {
            VerificationProof::Code(email, _) | VerificationProof::Link(_, Some(email)) => {
                Some(email.key().clone())
            }
            VerificationProof::Link(_, None) => None,
        };

        let outcome = match proof {
            VerificationProof::Code(email, code) => {
                let attempt = CodeAttempt {
                    mac: self.code_mac(email.key(), Purpose::VerifyEmail, &code),
                    form: code.form(),
                    lane: self.code_lane(email.key(), client),
                    email: email.key().clone(),
                    caller,
                    takes,
                    event,
                    now,
                };
                self.kernel.store.verify_by_code(attempt, draft.entry.clone()).await?
            }
            VerificationProof::Link(token, email) => {
                let email = email.map(|email| email.key().clone());
                let attempt = TokenAttempt { token: token.hash(), email, caller, takes, event };
                self.kernel.store.verify_by_token(attempt, draft.entry.clone()).await?
            }
        };
        let outcome = outcome.map_err(|limited| match about {
            Some(email) => self.kernel.limited(limited, &email, client),
            None => limited.into(),
        });
        match outcome? {
            VerifyOutcome::Entered(entered) => self.sessions.entered(entered, draft, now),
            VerifyOutcome::Refused => Err(Error::Refused(&INVALID_CODE)),
        }
    }

    /// Writes an email code or link token and its mail, whether or not the address has an account. The store operation
    /// decides who gets the mail.
    pub(crate) async fn request_code(
        &self,
        email: Email,
        purpose: Purpose,
        method: EmailMethod,
        redirect: RedirectInput,
        client: &Client,
    ) -> Result<()> {
        self.kernel.mails.check_transport()?;
        let now = self.kernel.now();
        let need = if method == EmailMethod::Link { Need::Required } else { Need::Optional };
        let redirect = redirect.resolve(&self.kernel.settings.load(), need)?;
        let code_mail = self.new_code_mail(email.key(), purpose, method, redirect, Some(client), now)?;
        let request = RequestEmailCode {
            takes: self.mail_takes(email.key(), purpose, client),
            email: email.key().clone(),
            purpose,
            email_code: code_mail.email_code,
            mail: code_mail.mail,
            now,
        };
        let requested = self.kernel.store.request_email_code(request).await?;
        requested.map_err(|limited| self.kernel.limited(limited, email.key(), client))?;
        self.kernel.mails.wake();
        Ok(())
    }
}
