//! signUp: an account, and a session or a proof of the mailbox.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::codes::Purpose;
use latchkey_domain::email::Email;
use latchkey_domain::ids::{ProfileId, UserId};
use latchkey_domain::password::{Password, PasswordHash};
use latchkey_domain::profile::{Name, NewProfile};
use latchkey_domain::session::AuthMethod;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::AppMetadata;
use latchkey_store::{BeginSignUp, CreateOutcome, NewAccount, PendingSignUp, SignUpOutcome};

use super::Accounts;
use crate::error::{Error, Result};
use crate::mailbox::redirect_target::Need;
pub use crate::mailbox::redirect_target::RedirectInput;
use crate::refusal::{BUSY, EMAIL_EXISTS, SIGNUP_DISABLED};
use crate::sessions::SignedIn;
use crate::settings::{EmailMethod, SettingsInForce};

/// Most hashes of a sign-up: one more for each account that appears meanwhile. Each round needs another racer.
const ROUNDS: u32 = 4;

/// A sign-up.
pub struct SignUp {
    /// The address.
    pub email: Email,
    /// The password.
    pub password: Password,
    /// The profile's name, if one was given.
    pub name: Option<Name>,
    /// Redirect target after a verification link.
    pub redirect: RedirectInput,
    /// The token of a cookie that its browser gets where verification is required.
    pub browser: Option<TokenHash>,
    /// The client.
    pub client: Client,
}

/// Outcome of a sign-up.
pub enum SignedUp {
    /// Verification is off: a session.
    SignedIn(Box<SignedIn>),
    /// Verification is on: a mail is on its way, whether or not the address was free.
    VerificationRequired,
}

impl Accounts {
    /// Makes an account. While verification is required, a taken address is answered exactly like a free one.
    pub async fn sign_up(&self, sign_up: SignUp) -> Result<SignedUp> {
        let settings = self.kernel.settings();
        if settings.values.disable_sign_up {
            return Err(Error::Refused(&SIGNUP_DISABLED));
        }
        self.passwords.check_new_password(&settings, "password", &sign_up.password, &sign_up.email)?;
        if settings.values.require_email_verification {
            self.sign_up_pending(sign_up, &settings).await?;
            return Ok(SignedUp::VerificationRequired);
        }
        sign_up.redirect.resolve(&settings, Need::Optional)?;
        let signed_in = self.sign_up_at_once(sign_up).await?;
        Ok(SignedUp::SignedIn(Box::new(signed_in)))
    }

    async fn sign_up_at_once(&self, sign_up: SignUp) -> Result<SignedIn> {
        let now = self.kernel.now();
        let takes = self.takes(&sign_up.client);
        let begun = self.kernel.store.begin_sign_up(sign_up.email.key(), &takes, now).await?;
        match begun.map_err(|limited| self.kernel.limited(limited, sign_up.email.key(), &sign_up.client))? {
            BeginSignUp::Taken(_) | BeginSignUp::Pending(_) => return Err(Error::Refused(&EMAIL_EXISTS)),
            BeginSignUp::Free => {}
        }
        let hash = self.passwords.hasher.hash(sign_up.password).await?;
        let draft = self.sessions.draft_session(AuthMethod::Password, &sign_up.client, now);
        let mut account = self.new_account(sign_up.email, sign_up.name, hash, &sign_up.client, now);
        account.session = Some(draft.session.clone());
        match self.kernel.store.create_account(account).await? {
            CreateOutcome::Created(user) => self.sessions.signed_in(*user, draft, now),
            CreateOutcome::EmailTaken => Err(Error::Refused(&EMAIL_EXISTS)),
        }
    }

    /// One hash and one write, whatever stands at the address.
    async fn sign_up_pending(&self, sign_up: SignUp, settings: &SettingsInForce) -> Result<()> {
        self.kernel.mails.check_transport()?;
        let now = self.kernel.now();
        let method = settings.values.verify_email_method;
        let need = if method == EmailMethod::Link { Need::Required } else { Need::Optional };
        let redirect = sign_up.redirect.resolve(settings, need)?;

        let mut takes = self.takes(&sign_up.client);
        takes.extend(self.mailbox.mail_takes(sign_up.email.key(), Purpose::VerifyEmail, &sign_up.client));
        let begun = self.kernel.store.begin_sign_up(sign_up.email.key(), &takes, now).await?;
        let begun =
            begun.map_err(|limited| self.kernel.limited(limited, sign_up.email.key(), &sign_up.client));
        let mut like = match begun? {
            BeginSignUp::Pending(hash) | BeginSignUp::Taken(hash) => hash,
            BeginSignUp::Free => None,
        };

        for _ in 0..ROUNDS {
            // Under the salt of the account the two passwords can be compared: now, and by one hash at sign-in.
            let hash = self.passwords.hasher.hash_like(sign_up.password.duplicate(), like.as_ref()).await?;
            let (key, redirect) = (sign_up.email.key(), redirect.clone());
            let code_mail = self.mailbox.new_code_mail(
                key,
                Purpose::VerifyEmail,
                method,
                redirect,
                &sign_up.client,
                now,
            )?;
            let (email, name) = (sign_up.email.clone(), sign_up.name.clone());
            let account = self.new_account(email, name, hash, &sign_up.client, now);
            let browser = sign_up.browser;
            let pending =
                PendingSignUp { account, email_code: code_mail.email_code, mail: code_mail.mail, browser };
            match self.kernel.store.sign_up_pending(pending).await? {
                SignUpOutcome::Rehash(hash) => like = Some(hash),
                SignUpOutcome::Created
                | SignUpOutcome::Renewed
                | SignUpOutcome::Contested
                | SignUpOutcome::OwnerTold => {
                    self.kernel.mails.wake();
                    return Ok(());
                }
            }
        }
        Err(Error::Refused(&BUSY))
    }

    fn new_account(
        &self,
        email: Email,
        name: Option<Name>,
        password: PasswordHash,
        client: &Client,
        now: Timestamp,
    ) -> NewAccount {
        let profile = NewProfile {
            id: ProfileId::new(now, self.kernel.id_bytes(now)),
            name: name.unwrap_or_default(),
            avatar_url: None,
        };
        NewAccount {
            id: UserId::new(now, self.kernel.id_bytes(now)),
            email,
            password: Some(password),
            email_verified: false,
            metadata: AppMetadata::default(),
            profile: self.kernel.site.create_profile_on_sign_up.then_some(profile),
            session: None,
            now,
            event: self.kernel.event(AuditKind::SignedUp, Actor::User, Some(client), now),
        }
    }
}
