//! Sign-in by a mailed code, or by a mailed link in the browser that requested it.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::codes::{EnteredCode, Purpose};
use latchkey_domain::email::Email;
use latchkey_domain::ids::{MailId, ProfileId, UserId};
use latchkey_domain::profile::{Name, NewProfile};
use latchkey_domain::redirect::RedirectUrl;
use latchkey_domain::session::AuthMethod;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::{LinkToken, TokenHash};
use latchkey_store::{
    CodeAttempt, EmailSignIn, Entry, NewMail, NewSignInLink, NewToken, Newcomer, PresentedLink,
    RequestSignInMail, SignInLink, VerifyOutcome,
};
use serde_json::Value;

use super::Mailbox;
use super::links::LinkAnswer;
use super::redirect_target::{Need, RedirectInput};
use crate::error::{Error, Result};
use crate::kernel::read_challenge;
use crate::metrics::Method;
use crate::refusal::{FEATURE_DISABLED, INVALID_CODE};
use crate::sessions::{Entrance, EntryDraft, SignInClient};
use crate::settings::EmailSignIn as Setting;

/// Data of a request for a mail with a sign-in code.
pub struct SignInMail {
    pub email: Email,
    pub redirect: RedirectInput,
    /// PKCE challenge of the app (method S256), unvalidated. Without it the mail contains no link.
    pub code_challenge: Option<String>,
}

impl Mailbox {
    /// Mails a sign-in code, and a link if the setting permits it and the request has a PKCE challenge and a redirect
    /// target. An address without an account gets them too, if sign-up is open. The response is the same for all
    /// addresses.
    pub async fn send_sign_in(&self, mail: SignInMail, client: &Client) -> Result<()> {
        let setting = self.email_sign_in()?;
        let redirect = mail.redirect.resolve(&self.kernel.settings.load(), Need::Optional)?;
        let challenge = mail.code_challenge.as_deref().map(|text| read_challenge(Some(text))).transpose()?;
        let now = self.kernel.now();
        let (id, key) = (MailId::new(now, self.kernel.id_bytes(now)), mail.email.key());
        let link = challenge.zip(redirect).filter(|_| setting == Setting::CodeAndLink);
        let link = link.map(|(challenge, redirect)| self.new_sign_in_link(challenge, &redirect, now));
        let (link, url) = link.unzip();
        let mac = |code: &EnteredCode| self.code_mac(key, Purpose::SignIn, code);
        let (code, payload) = self.new_code(id, (key, mac), (self.lifetimes.code, url), Some(client), now)?;
        let request = RequestSignInMail {
            is_sign_up_open: self.is_sign_up_open(),
            takes: self.mail_takes(key, Purpose::SignIn, client),
            code,
            link,
            mail: NewMail { id, sealed: self.kernel.seal_payload(id, &payload)? },
            email: mail.email.clone(),
            now,
        };
        let requested = self.kernel.store.request_sign_in_mail(request).await?;
        requested.map_err(|limited| self.kernel.limited(limited, key, client))?;
        self.kernel.mails.wake();
        Ok(())
    }

    fn new_sign_in_link(
        &self,
        code_challenge: TokenHash,
        redirect: &RedirectUrl,
        now: Timestamp,
    ) -> (NewSignInLink, String) {
        let token = LinkToken::new(self.kernel.entropy.bytes());
        let url = self.link("sign-in-link", &token);
        let expires_at = now.plus(self.lifetimes.sign_in_link);
        let token = NewToken { hash: token.hash(), expires_at };
        (NewSignInLink { token, code_challenge, redirect_to: Some(redirect.as_str().to_owned()) }, url)
    }

    /// Checks a sign-in link that a browser opens, and returns a redirect to the app. The link can be opened any number
    /// of times; only the sign-in uses it up.
    pub async fn open_sign_in_link(&self, token: Option<&str>, client: &Client) -> Result<LinkAnswer> {
        let purpose = Purpose::SignIn;
        let Some(token) = token.and_then(LinkToken::parse) else {
            return Ok(self.link_answer(purpose, None, None));
        };
        let found = self.find_sign_in_link(&token, client).await?;
        Ok(self.link_answer(purpose, found.map(|link| link.state).as_ref(), Some(&token)))
    }

    async fn find_sign_in_link(&self, token: &LinkToken, client: &Client) -> Result<Option<SignInLink>> {
        let takes = self.attempt_takes(client);
        Ok(self.kernel.store.find_sign_in_link(token.hash(), &takes, self.kernel.now()).await??)
    }

    /// Opens a session with the token of a mailed link and the PKCE verifier, which only the browser that requested the
    /// link has. Otherwise like [`Self::sign_in_by_code`].
    pub async fn sign_in_by_link(
        &self,
        token: LinkToken,
        verifier: &str,
        name: Option<Name>,
        from: &SignInClient,
    ) -> Result<Entrance> {
        let now = self.kernel.now();
        let entrance = self.open_by_link(token, verifier, name, from, now).await;
        self.kernel.metrics.sign_in(Method::MailLink, now, entrance)
    }

    async fn open_by_link(
        &self,
        token: LinkToken,
        verifier: &str,
        name: Option<Name>,
        from: &SignInClient,
        now: Timestamp,
    ) -> Result<Entrance> {
        if self.email_sign_in()? != Setting::CodeAndLink {
            return Err(Error::Refused(&FEATURE_DISABLED));
        }
        let client = &from.client;
        let Some(SignInLink { email, .. }) = self.find_sign_in_link(&token, client).await? else {
            return Err(Error::Refused(&INVALID_CODE));
        };
        let draft = self.sessions.draft_entry(AuthMethod::OneTimeCode, from, now)?;
        let presented = PresentedLink {
            token: token.hash(),
            email,
            code_challenge: TokenHash::of(verifier.as_bytes()),
            event: self.sessions.signed_in_event(&draft.entry.session, client, now),
            now,
        };
        let sign_in = self.new_sign_in(draft.entry.clone(), name, client, now);
        let outcome = self.kernel.store.sign_in_by_link(presented, sign_in).await?;
        self.signed_in_by_mail(outcome, draft, now)
    }

    /// Opens a session with a mailed code. If the address has no account, one with this name is created; an existing
    /// account keeps its name.
    pub async fn sign_in_by_code(
        &self,
        email: Email,
        code: EnteredCode,
        name: Option<Name>,
        from: &SignInClient,
    ) -> Result<Entrance> {
        let now = self.kernel.now();
        let entrance = self.open_by_code(email, code, name, from, now).await;
        self.kernel.metrics.sign_in(Method::MailCode, now, entrance)
    }

    async fn open_by_code(
        &self,
        email: Email,
        code: EnteredCode,
        name: Option<Name>,
        from: &SignInClient,
        now: Timestamp,
    ) -> Result<Entrance> {
        self.email_sign_in()?;
        let client = &from.client;
        let draft = self.sessions.draft_entry(AuthMethod::OneTimeCode, from, now)?;
        let attempt = CodeAttempt {
            email: email.key().clone(),
            mac: self.code_mac(email.key(), Purpose::SignIn, &code),
            form: code.form(),
            lane: self.code_lane(email.key(), client),
            caller: None,
            takes: self.attempt_takes(client),
            event: self.sessions.signed_in_event(&draft.entry.session, client, now),
            now,
        };
        let sign_in = self.new_sign_in(draft.entry.clone(), name, client, now);
        let outcome = self.kernel.store.sign_in_by_code(attempt, email.clone(), sign_in).await?;
        let outcome = outcome.map_err(|limited| self.kernel.limited(limited, email.key(), client))?;
        self.signed_in_by_mail(outcome, draft, now)
    }

    fn signed_in_by_mail(
        &self,
        outcome: VerifyOutcome,
        draft: EntryDraft,
        now: Timestamp,
    ) -> Result<Entrance> {
        match outcome {
            VerifyOutcome::Entered(entered) => self.sessions.entered(entered, draft, now),
            VerifyOutcome::Refused => Err(Error::Refused(&INVALID_CODE)),
        }
    }

    /// Returns the setting of sign-in by mail, if it is on; otherwise fails with [`FEATURE_DISABLED`].
    fn email_sign_in(&self) -> Result<Setting> {
        match self.kernel.email_sign_in() {
            Setting::Off => Err(Error::Refused(&FEATURE_DISABLED)),
            on => Ok(on),
        }
    }

    fn is_sign_up_open(&self) -> bool {
        !self.kernel.settings.load().values.disable_sign_up
    }

    /// Builds the data of a sign-in by mail, with the account to create if the address has none.
    fn new_sign_in(&self, entry: Entry, name: Option<Name>, client: &Client, now: Timestamp) -> EmailSignIn {
        let event = |kind| self.kernel.event(kind, Actor::User, Some(client), now);
        let mut refused = event(AuditKind::SignInFailed);
        refused.details.insert("reason".to_owned(), Value::from("wrong code or link"));
        let profile = || NewProfile {
            id: ProfileId::new(now, self.kernel.id_bytes(now)),
            name: name.unwrap_or_default(),
            avatar_url: None,
        };
        let newcomer = self.is_sign_up_open().then(|| Newcomer {
            user_id: UserId::new(now, self.kernel.id_bytes(now)),
            profile: self.kernel.site.create_profile_on_sign_up.then(profile),
            locale: client.locale.clone(),
            event: event(AuditKind::SignedUp),
        });
        EmailSignIn { entry, newcomer, verified: event(AuditKind::EmailVerified), refused }
    }
}
