//! Ways to sign in, and the limits that close them.

use super::SignInFacts;
use crate::account_limits::HeldLimit;
use crate::code_window::Lane;
use crate::sign_in_offer::SignInOffer;
use crate::user::User;

/// Ways in which an account could sign in now, were there no limits.
#[expect(clippy::struct_excessive_bools, reason = "an account has any of the ways")]
pub(super) struct Ways {
    password: bool,
    passkey: bool,
    provider: bool,
    mail: bool,
    /// True if every way but the passkey needs a code of an authenticator app, or a recovery code.
    needs_code: bool,
    /// True if every way but the passkey needs a second factor.
    is_two_step: bool,
}

impl SignInFacts<'_> {
    pub(super) fn ways(&self) -> Ways {
        let user = self.user;
        // The mail verifies the address; nothing else opens an account that must be verified.
        let is_open = user.email_verified || !self.must_verify;
        let of_provider = SignInOffer { rp_id: None, by_email: false, ..self.offer.clone() };
        let without_password = User { has_password: false, ..user.clone() };
        Ways {
            password: is_open && self.has_open_password(),
            passkey: is_open && self.has_passkey(),
            provider: is_open && of_provider.admits(&without_password),
            mail: self.offer.by_email,
            needs_code: user.has_two_step() && !self.has_passkey(),
            is_two_step: user.has_two_step(),
        }
    }
}

impl Ways {
    /// True if there is a way, and limits close every way to all clients.
    pub(super) fn are_closed(&self, facts: &SignInFacts<'_>) -> bool {
        let has_way = self.password || self.passkey || self.provider || self.mail;
        has_way && Lane::ALL.iter().all(|lane| self.are_closed_to(*lane, facts))
    }

    fn are_closed_to(&self, lane: Lane, facts: &SignInFacts<'_>) -> bool {
        let is_refused =
            |of: fn(&HeldLimit) -> bool| facts.limits.iter().any(|held| of(held) && held.refuses(lane));
        if self.passkey {
            return false; // no limit of an account is about passkeys, which are second factors too
        }
        if self.needs_code && is_refused(HeldLimit::is_of_second_factors) {
            return true;
        }
        let no_code = |held: &HeldLimit| held.is_of_sign_in_codes() && !held.spares_next_code;
        let no_mail = is_refused(HeldLimit::is_of_sign_in_mails) && !facts.has_live_code;
        let is_mail_closed = no_mail || (is_refused(no_code) && !facts.by_link);
        !self.provider
            && (!self.password || is_refused(HeldLimit::is_of_passwords))
            && (!self.mail || is_mail_closed)
    }

    /// True if a sign-in of the account meets the limit. Those of mails count where no other way is open.
    pub(super) fn meet(&self, held: &HeldLimit, is_closed: bool) -> bool {
        let is_mail_alone = self.mail && !self.password && !self.passkey && !self.provider;
        let is_of_mail = held.is_of_sign_in_codes() || held.is_of_sign_in_mails();
        (held.is_of_passwords() && self.password)
            || (held.is_of_second_factors() && self.is_two_step)
            || (is_of_mail && self.mail && (is_mail_alone || is_closed))
    }
}
