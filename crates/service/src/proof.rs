//! Challenges as they are made: a code or a link, the mail that carries it, and what the store keeps of it.

use latchkey_domain::codes::Purpose;
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::MailId;
use latchkey_domain::redirect::RedirectUrl;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::LinkToken;
use latchkey_store::{NewChallenge, NewMail, NewToken};
use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::service::Service;
use crate::settings::EmailMethod;

/// What a mail carries besides its recipient. It is sealed in the outbox, because it opens accounts.
#[derive(Serialize, Deserialize)]
pub(crate) struct MailPayload {
    /// Six digits.
    pub(crate) code: Option<String>,
    /// A link.
    pub(crate) link: Option<String>,
    /// How long they are good, in minutes.
    pub(crate) minutes: u32,
}

/// A challenge and its mail.
pub(crate) struct Proof {
    pub(crate) challenge: NewChallenge,
    pub(crate) mail: NewMail,
}

impl Service {
    /// Makes a challenge for an address, whether or not there is an account: the store decides who gets the mail.
    pub(crate) fn new_proof(
        &self,
        email: &EmailKey,
        purpose: Purpose,
        method: EmailMethod,
        redirect: Option<RedirectUrl>,
        now: Timestamp,
    ) -> Result<Proof> {
        let (challenge, payload) = match method {
            EmailMethod::Code => self.new_code(email, purpose, now),
            EmailMethod::Link => self.new_link(purpose, redirect, now),
        };
        let id = MailId::new(now, self.id_bytes(now));
        let plain = serde_json::to_vec(&payload).map_err(Error::internal)?;
        let sealed = self.keys.seal_mail(&*self.entropy, &id.to_string(), &plain).map_err(Error::internal)?;
        Ok(Proof { challenge, mail: NewMail { id, sealed } })
    }

    fn new_code(&self, email: &EmailKey, purpose: Purpose, now: Timestamp) -> (NewChallenge, MailPayload) {
        let lifetime = self.config.lifetimes.code;
        let code = self.entropy.six_digit_code();
        let mac = self.keys.code_mac(email, purpose, &code);
        let payload =
            MailPayload { code: Some(code.expose().to_owned()), link: None, minutes: minutes(lifetime) };
        (NewChallenge::Code { mac, expires_at: now.plus(lifetime) }, payload)
    }

    fn new_link(
        &self,
        purpose: Purpose,
        redirect: Option<RedirectUrl>,
        now: Timestamp,
    ) -> (NewChallenge, MailPayload) {
        let (lifetime, path) = match purpose {
            Purpose::VerifyEmail => (self.config.lifetimes.verify_link, "verify-link"),
            Purpose::ResetPassword => (self.config.lifetimes.reset_link, "reset-password-link"),
        };
        let token = LinkToken::new(self.entropy.bytes());
        // Built from the public URL, never from request headers.
        let link = format!("{}/api/auth/email/{path}?token={}", self.config.origin(), token.expose());
        let payload = MailPayload { code: None, link: Some(link), minutes: minutes(lifetime) };
        let challenge = NewChallenge::Link {
            token: NewToken { hash: token.hash(), expires_at: now.plus(lifetime) },
            redirect_to: redirect.map(|url| url.as_str().to_owned()),
        };
        (challenge, payload)
    }
}

fn minutes(lifetime: Duration) -> u32 {
    u32::try_from(lifetime.as_secs().div_ceil(60)).unwrap_or(u32::MAX)
}
