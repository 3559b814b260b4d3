//! Creation of email codes and link tokens, with their mails and the hashed form that is stored.

use aws_lc_rs::hmac;
use latchkey_domain::client::{Client, ClientAddress};
use latchkey_domain::codes::{CodeMac, EnteredCode, Purpose};
use latchkey_domain::email::EmailKey;
use latchkey_domain::email_change::{EmailChangeId, Side};
use latchkey_domain::guess_limits;
use latchkey_domain::ids::MailId;
use latchkey_domain::redirect::RedirectUrl;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::LinkToken;
use latchkey_store::{CodeLane, NewCode, NewEmailCode, NewMail, NewToken, SideCode};
use std::time::Duration;

use super::Mailbox;
use crate::error::Result;
use crate::kernel::MailPayload;
use crate::secrets::code_mac;
use crate::settings::EmailMethod;

/// Address of a request by an admin, which is known to no account.
const NOWHERE: ClientAddress = ClientAddress::UNSPECIFIED;

/// An email code or link token, and its mail.
pub(crate) struct CodeMail {
    pub(crate) email_code: NewEmailCode,
    pub(crate) mail: NewMail,
}

impl Mailbox {
    /// Creates an email code or link token for an address, whether or not the address has an account, with
    /// its mail. The store operation that writes them decides whether the mail is sent. `client` is `None` for an admin, whom
    /// the mail does not mention.
    pub(crate) fn new_code_mail(
        &self,
        email: &EmailKey,
        purpose: Purpose,
        method: EmailMethod,
        redirect: Option<RedirectUrl>,
        client: Option<&Client>,
        now: Timestamp,
    ) -> Result<CodeMail> {
        let id = MailId::new(now, self.kernel.id_bytes(now));
        let (email_code, payload) = match method {
            EmailMethod::Code => {
                let mac = |code: &EnteredCode| self.code_mac(email, purpose, code);
                let (code, payload) =
                    self.new_code(id, (email, mac), (self.lifetimes.code, None), client, now)?;
                (NewEmailCode::Code(code), payload)
            }
            EmailMethod::Link => self.new_link(purpose, redirect, client, now),
        };
        Ok(CodeMail { email_code, mail: NewMail { id, sealed: self.kernel.seal_payload(id, &payload)? } })
    }

    /// Computes the MAC of a code for an address and purpose. The database stores the MAC instead of the
    /// code.
    pub(crate) fn code_mac(&self, email: &EmailKey, purpose: Purpose, code: &EnteredCode) -> CodeMac {
        mac_of(&self.code_key, &[purpose.as_str(), email.as_str()], code)
    }

    /// Computes the MAC of a code that proves the old or the new address of a change. `email` is the current address of
    /// the account. The code is valid for this change only.
    pub(crate) fn side_code_mac(
        &self,
        email: &EmailKey,
        (change, side): (EmailChangeId, Side),
        code: &EnteredCode,
    ) -> CodeMac {
        let scope = [side.purpose().as_str(), email.as_str(), &change.to_string()];
        mac_of(&self.code_key, &scope, code)
    }

    /// Creates a code for the old or the new address of a change, with its mail. `email` is the current address of the
    /// account. The store operation decides who gets the mail.
    pub(crate) fn new_side_code(
        &self,
        email: &EmailKey,
        of: (EmailChangeId, Side),
        lifetime: Duration,
        client: &Client,
        now: Timestamp,
    ) -> Result<SideCode> {
        let id = MailId::new(now, self.kernel.id_bytes(now));
        let mac = |code: &EnteredCode| self.side_code_mac(email, of, code);
        let (code, payload) = self.new_code(id, (email, mac), (lifetime, None), Some(client), now)?;
        Ok(SideCode { code, mail: NewMail { id, sealed: self.kernel.seal_payload(id, &payload)? } })
    }

    /// Returns the data that determine which counter of wrong codes applies to a client. An account has two: one for
    /// clients known to the account, and one for all others. Each of these two groups of clients is called a lane.
    pub(crate) fn code_lane(&self, email: &EmailKey, client: &Client) -> CodeLane {
        self.code_lane_of(email, client.address)
    }

    fn code_lane_of(&self, email: &EmailKey, address: ClientAddress) -> CodeLane {
        CodeLane { client: guess_limits::known_client(email, address), budget: self.limits.code_budget() }
    }

    /// Creates two codes for one mail: one of six digits, and one of sixteen characters. The store operation selects
    /// the long one if the client's lane ([`Self::code_lane`]) has used up its wrong attempts of the day. The returned
    /// mail data contain the six digits; those with the long code are sealed in the returned code. `mac` computes the
    /// MAC that is stored for a code. `link` is added to the mail, if there is one.
    pub(super) fn new_code(
        &self,
        id: MailId,
        (email, mac): (&EmailKey, impl Fn(&EnteredCode) -> CodeMac),
        (lifetime, link): (Duration, Option<String>),
        client: Option<&Client>,
        now: Timestamp,
    ) -> Result<(NewCode, MailPayload)> {
        let payload = |code| MailPayload {
            code: Some(code),
            link: link.clone(),
            minutes: minutes(lifetime),
            ..MailPayload::for_client(client)
        };
        let (six_digits, long) = (self.kernel.entropy.six_digit_code(), self.kernel.entropy.long_code());
        let (plain, long_plain) = (payload(six_digits.expose().to_owned()), payload(long.expose_grouped()));
        let code = NewCode {
            mac: mac(&EnteredCode::SixDigits(six_digits)),
            long_mac: mac(&EnteredCode::Long(long)),
            long_sealed: self.kernel.seal_payload(id, &long_plain)?,
            lane: self.code_lane_of(email, client.map_or(NOWHERE, |client| client.address)),
            expires_at: now.plus(lifetime),
        };
        Ok((code, plain))
    }

    fn new_link(
        &self,
        purpose: Purpose,
        redirect: Option<RedirectUrl>,
        client: Option<&Client>,
        now: Timestamp,
    ) -> (NewEmailCode, MailPayload) {
        let (lifetime, path) = match purpose {
            Purpose::VerifyEmail => (self.lifetimes.verify_link, "verify-link"),
            // Mails for the other purposes contain a code alone, or their use case makes the link itself.
            Purpose::ResetPassword
            | Purpose::Reauthenticate
            | Purpose::SignIn
            | Purpose::EmailChangeNew
            | Purpose::EmailChangeCurrent => (self.lifetimes.reset_link, "reset-password-link"),
        };
        let token = LinkToken::new(self.kernel.entropy.bytes());
        let link = self.link(path, &token);
        let payload =
            MailPayload { link: Some(link), minutes: minutes(lifetime), ..MailPayload::for_client(client) };
        let email_code = NewEmailCode::Link {
            token: NewToken { hash: token.hash(), expires_at: now.plus(lifetime) },
            redirect_to: redirect.map(|url| url.as_str().to_owned()),
        };
        (email_code, payload)
    }

    /// Returns the URL of a mailed link. It is built from the public URL, never from request headers.
    pub(super) fn link(&self, path: &str, token: &LinkToken) -> String {
        format!("{}/api/auth/email/{path}?token={}", self.kernel.site.origin(), token.expose())
    }
}

fn minutes(lifetime: Duration) -> u32 {
    u32::try_from(lifetime.as_secs().div_ceil(60)).unwrap_or(u32::MAX)
}

/// Computes the MAC of a code, over the code and its scope, such as address and purpose. The code is
/// therefore valid for no other scope.
fn mac_of(key: &hmac::Key, scope: &[&str], code: &EnteredCode) -> CodeMac {
    let parts = scope.iter().copied().chain([code.expose()]);
    // A NUL separates the parts, none of which contains one.
    code_mac(key, parts.flat_map(|part| [part.as_bytes(), &[0]]))
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
        let mac = |key: &hmac::Key, email: &Email, purpose: Purpose| {
            mac_of(key, &[purpose.as_str(), email.key().as_str()], &code)
        };
        let ours = mac(&key(1), &ada, Purpose::VerifyEmail);
        assert_ne!(ours, mac(&key(1), &eve, Purpose::VerifyEmail));
        assert_ne!(ours, mac(&key(1), &ada, Purpose::ResetPassword));
        assert_ne!(ours, mac(&key(2), &ada, Purpose::VerifyEmail));
    }
}
