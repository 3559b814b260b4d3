//! Creation of email codes and link tokens: their mail, and their stored form.

use aws_lc_rs::hmac;
use latchkey_domain::client::Client;
use latchkey_domain::codes::{CodeMac, EnteredCode, Purpose};
use latchkey_domain::email::EmailKey;
use latchkey_domain::guess_limits;
use latchkey_domain::ids::MailId;
use latchkey_domain::redirect::RedirectUrl;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::LinkToken;
use latchkey_store::{CodeLane, NewCode, NewEmailCode, NewMail, NewToken};
use std::time::Duration;

use super::Mailbox;
use crate::error::Result;
use crate::kernel::MailPayload;
use crate::settings::EmailMethod;

/// An email code or link token and its mail.
pub(crate) struct CodeMail {
    pub(crate) email_code: NewEmailCode,
    pub(crate) mail: NewMail,
}

impl Mailbox {
    /// Makes an email code or link token for an address, existing account or not: the store decides who
    /// gets the mail.
    pub(crate) fn new_code_mail(
        &self,
        email: &EmailKey,
        purpose: Purpose,
        method: EmailMethod,
        redirect: Option<RedirectUrl>,
        client: &Client,
        now: Timestamp,
    ) -> Result<CodeMail> {
        let id = MailId::new(now, self.kernel.id_bytes(now));
        let (email_code, payload) = match method {
            EmailMethod::Code => self.new_code(id, email, purpose, client, now)?,
            EmailMethod::Link => self.new_link(purpose, redirect, now),
        };
        Ok(CodeMail { email_code, mail: NewMail { id, sealed: self.kernel.seal_payload(id, &payload)? } })
    }

    /// The stored form of a code.
    pub(crate) fn code_mac(&self, email: &EmailKey, purpose: Purpose, code: &EnteredCode) -> CodeMac {
        code_mac(&self.code_key, email, purpose, code)
    }

    /// The facts that tell the store the lane of a client.
    pub(crate) fn code_lane(&self, email: &EmailKey, client: &Client) -> CodeLane {
        CodeLane {
            client: guess_limits::known_client(email, client.address),
            budget: self.limits.code_budget(),
        }
    }

    /// Both forms of a code, and the payload with six digits: the store picks one by the lane.
    fn new_code(
        &self,
        id: MailId,
        email: &EmailKey,
        purpose: Purpose,
        client: &Client,
        now: Timestamp,
    ) -> Result<(NewEmailCode, MailPayload)> {
        let lifetime = self.lifetimes.code;
        let payload =
            |code| MailPayload { code: Some(code), minutes: minutes(lifetime), ..MailPayload::default() };
        let (six_digits, long) = (self.kernel.entropy.six_digit_code(), self.kernel.entropy.long_code());
        let (plain, long_plain) = (payload(six_digits.expose().to_owned()), payload(long.expose_grouped()));
        let code = NewCode {
            mac: self.code_mac(email, purpose, &EnteredCode::SixDigits(six_digits)),
            long_mac: self.code_mac(email, purpose, &EnteredCode::Long(long)),
            long_sealed: self.kernel.seal_payload(id, &long_plain)?,
            lane: self.code_lane(email, client),
            expires_at: now.plus(lifetime),
        };
        Ok((NewEmailCode::Code(code), plain))
    }

    fn new_link(
        &self,
        purpose: Purpose,
        redirect: Option<RedirectUrl>,
        now: Timestamp,
    ) -> (NewEmailCode, MailPayload) {
        let (lifetime, path) = match purpose {
            Purpose::VerifyEmail => (self.lifetimes.verify_link, "verify-link"),
            Purpose::ResetPassword => (self.lifetimes.reset_link, "reset-password-link"),
        };
        let token = LinkToken::new(self.kernel.entropy.bytes());
        // Built from the public URL, never from request headers.
        let link = format!("{}/api/auth/email/{path}?token={}", self.kernel.site.origin(), token.expose());
        let payload = MailPayload { link: Some(link), minutes: minutes(lifetime), ..MailPayload::default() };
        let email_code = NewEmailCode::Link {
            token: NewToken { hash: token.hash(), expires_at: now.plus(lifetime) },
            redirect_to: redirect.map(|url| url.as_str().to_owned()),
        };
        (email_code, payload)
    }
}

fn minutes(lifetime: Duration) -> u32 {
    u32::try_from(lifetime.as_secs().div_ceil(60)).unwrap_or(u32::MAX)
}

/// The MAC of a code, bound to its account and purpose, so that it opens nothing else.
fn code_mac(key: &hmac::Key, email: &EmailKey, purpose: Purpose, code: &EnteredCode) -> CodeMac {
    let mut context = hmac::Context::with_key(key);
    for part in [purpose.as_str(), email.as_str(), code.expose()] {
        context.update(part.as_bytes());
        context.update(&[0]); // none of the parts can have a NUL
    }
    let mut mac = [0; 32];
    mac.copy_from_slice(context.sign().as_ref());
    CodeMac::from_bytes(mac)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use latchkey_domain::codes::SixDigitCode;
    use latchkey_domain::email::Email;

    use super::*;
    use crate::mailbox::code_key;
    use crate::secrets::ServerSecret;

    #[test]
    fn a_code_is_bound_to_account_and_purpose() {
        let key = |byte| code_key(&ServerSecret::new(vec![byte; 32]).unwrap()).unwrap();
        let (ada, eve) = (Email::parse("ada@example.org").unwrap(), Email::parse("eve@example.org").unwrap());
        let code = EnteredCode::SixDigits(SixDigitCode::new(1));
        let mac = code_mac(&key(1), ada.key(), Purpose::VerifyEmail, &code);
        assert_ne!(mac, code_mac(&key(1), eve.key(), Purpose::VerifyEmail, &code));
        assert_ne!(mac, code_mac(&key(1), ada.key(), Purpose::ResetPassword, &code));
        assert_ne!(mac, code_mac(&key(2), ada.key(), Purpose::VerifyEmail, &code));
    }
}
