//! Challenges as they are made: a code or a link, the mail that carries it, and what the store keeps of it.

use latchkey_domain::client::Client;
use latchkey_domain::codes::{EnteredCode, Purpose};
use latchkey_domain::email::EmailKey;
use latchkey_domain::guess_limits;
use latchkey_domain::ids::MailId;
use latchkey_domain::redirect::RedirectUrl;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::LinkToken;
use latchkey_store::{CodeLane, NewChallenge, NewCode, NewMail, NewToken};
use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::notices::ActPayload;
use crate::service::Service;
use crate::settings::EmailMethod;

/// What a mail carries besides its recipient. It is sealed in the outbox, because it opens accounts.
#[derive(Serialize, Deserialize)]
pub(crate) struct MailPayload {
    /// Six digits, or sixteen characters in groups.
    pub(crate) code: Option<String>,
    /// A link.
    pub(crate) link: Option<String>,
    /// How long they are good, in minutes.
    pub(crate) minutes: u32,
    /// The act that the mail tells of.
    #[serde(default)]
    pub(crate) act: Option<ActPayload>,
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
        client: &Client,
        now: Timestamp,
    ) -> Result<Proof> {
        let id = MailId::new(now, self.id_bytes(now));
        let (challenge, payload) = match method {
            EmailMethod::Code => self.new_code(id, email, purpose, client, now)?,
            EmailMethod::Link => self.new_link(purpose, redirect, now),
        };
        Ok(Proof { challenge, mail: NewMail { id, sealed: self.seal_payload(id, &payload)? } })
    }

    /// A mail that carries this.
    pub(crate) fn sealed_mail(&self, payload: &MailPayload, now: Timestamp) -> Result<NewMail> {
        let id = MailId::new(now, self.id_bytes(now));
        Ok(NewMail { id, sealed: self.seal_payload(id, payload)? })
    }

    /// The facts that tell the store the lane of a client.
    pub(crate) fn code_lane(&self, email: &EmailKey, client: &Client) -> CodeLane {
        CodeLane {
            client: guess_limits::known_client(email, client.address),
            budget: self.config.code_budget,
        }
    }

    fn seal_payload(&self, id: MailId, payload: &MailPayload) -> Result<Vec<u8>> {
        let plain = serde_json::to_vec(payload).map_err(Error::internal)?;
        self.keys.seal_mail(&*self.entropy, &id.to_string(), &plain).map_err(Error::internal)
    }

    /// Both forms of a code, and the payload with six digits: the store picks one by the lane.
    fn new_code(
        &self,
        id: MailId,
        email: &EmailKey,
        purpose: Purpose,
        client: &Client,
        now: Timestamp,
    ) -> Result<(NewChallenge, MailPayload)> {
        let lifetime = self.config.lifetimes.code;
        let payload =
            |code| MailPayload { code: Some(code), link: None, minutes: minutes(lifetime), act: None };
        let (six_digits, long) = (self.entropy.six_digit_code(), self.entropy.long_code());
        let (plain, long_plain) = (payload(six_digits.expose().to_owned()), payload(long.expose_grouped()));
        let code = NewCode {
            mac: self.keys.code_mac(email, purpose, &EnteredCode::SixDigits(six_digits)),
            long_mac: self.keys.code_mac(email, purpose, &EnteredCode::Long(long)),
            long_sealed: self.seal_payload(id, &long_plain)?,
            lane: self.code_lane(email, client),
            expires_at: now.plus(lifetime),
        };
        Ok((NewChallenge::Code(code), plain))
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
        let payload = MailPayload { code: None, link: Some(link), minutes: minutes(lifetime), act: None };
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
