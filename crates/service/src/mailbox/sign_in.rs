//! Sign-in by a mailed code.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::codes::{EnteredCode, Purpose};
use latchkey_domain::email::Email;
use latchkey_domain::ids::{MailId, ProfileId, UserId};
use latchkey_domain::profile::{Name, NewProfile};
use latchkey_domain::session::AuthMethod;
use latchkey_domain::time::Timestamp;
use latchkey_store::{CodeAttempt, EmailSignIn, Entry, NewMail, Newcomer, RequestSignInMail, VerifyOutcome};
use serde_json::Value;

use super::Mailbox;
use super::redirect_target::{Need, RedirectInput};
use crate::error::{Error, Result};
use crate::refusal::{FEATURE_DISABLED, INVALID_CODE};
use crate::sessions::{Entrance, SignInClient};
use crate::settings::EmailSignIn as Setting;

impl Mailbox {
    /// Mails a sign-in code. An address without an account gets it too, if sign-up is open. The response is the same for
    /// all addresses.
    pub async fn send_sign_in(&self, email: Email, redirect: RedirectInput, client: &Client) -> Result<()> {
        self.email_sign_in()?;
        redirect.resolve(&self.kernel.settings.load(), Need::Optional)?;
        let now = self.kernel.now();
        let (id, key) = (MailId::new(now, self.kernel.id_bytes(now)), email.key());
        let mac = |code: &EnteredCode| self.code_mac(key, Purpose::SignIn, code);
        let (code, payload) = self.new_code(id, (key, mac), self.lifetimes.code, client, now)?;
        let request = RequestSignInMail {
            is_sign_up_open: self.is_sign_up_open(),
            takes: self.mail_takes(key, Purpose::SignIn, client),
            code,
            mail: NewMail { id, sealed: self.kernel.seal_payload(id, &payload)? },
            email: email.clone(),
            now,
        };
        let requested = self.kernel.store.request_sign_in_mail(request).await?;
        requested.map_err(|limited| self.kernel.limited(limited, email.key(), client))?;
        self.kernel.mails.wake();
        Ok(())
    }

    /// Opens a session with a mailed code. An address without an account gets one, with this name; an account keeps its
    /// own.
    pub async fn sign_in_by_code(
        &self,
        email: Email,
        code: EnteredCode,
        name: Option<Name>,
        from: &SignInClient,
    ) -> Result<Entrance> {
        self.email_sign_in()?;
        let (client, now) = (&from.client, self.kernel.now());
        let draft = self.sessions.draft_entry(AuthMethod::OneTimeCode, from, now);
        let attempt = CodeAttempt {
            email: email.key().clone(),
            mac: self.code_mac(email.key(), Purpose::SignIn, &code),
            form: code.form(),
            lane: self.code_lane(email.key(), client),
            caller: None,
            takes: self.attempt_takes(client),
            event: self.sessions.signed_in_event(&draft.entry.session.methods, client, now),
            now,
        };
        let sign_in = self.new_sign_in(draft.entry.clone(), name, client, now);
        let outcome = self.kernel.store.sign_in_by_code(attempt, email.clone(), sign_in).await?;
        match outcome.map_err(|limited| self.kernel.limited(limited, email.key(), client))? {
            VerifyOutcome::Entered(entered) => self.sessions.entered(entered, draft, now),
            VerifyOutcome::Refused => Err(Error::Refused(&INVALID_CODE)),
        }
    }

    /// Returns the setting of sign-in by mail; fails with [`FEATURE_DISABLED`] if it is off.
    fn email_sign_in(&self) -> Result<Setting> {
        match self.kernel.email_sign_in() {
            Setting::Off => Err(Error::Refused(&FEATURE_DISABLED)),
            on => Ok(on),
        }
    }

    fn is_sign_up_open(&self) -> bool {
        !self.kernel.settings.load().values.disable_sign_up
    }

    /// Builds a sign-in, with the account that it creates if the address has none.
    fn new_sign_in(&self, entry: Entry, name: Option<Name>, client: &Client, now: Timestamp) -> EmailSignIn {
        let event = |kind| self.kernel.event(kind, Actor::User, Some(client), now);
        let mut refused = event(AuditKind::SignInFailed);
        refused.details.insert("reason".to_owned(), Value::from("wrong code"));
        let profile = || NewProfile {
            id: ProfileId::new(now, self.kernel.id_bytes(now)),
            name: name.unwrap_or_default(),
            avatar_url: None,
        };
        let newcomer = self.is_sign_up_open().then(|| Newcomer {
            user_id: UserId::new(now, self.kernel.id_bytes(now)),
            profile: self.kernel.site.create_profile_on_sign_up.then(profile),
            event: event(AuditKind::SignedUp),
        });
        EmailSignIn { entry, newcomer, verified: event(AuditKind::EmailVerified), refused }
    }
}
