//! Sign-up: creates an account, and opens a session or mails a code or link for verification.

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
use latchkey_store::{BeginSignUp, NewAccount, PendingSignUp, SignUpOutcome};

use super::Accounts;
use crate::error::{Error, Result};
use crate::mailbox::redirect_target::Need;
pub use crate::mailbox::redirect_target::RedirectInput;
use crate::metrics::EntranceOutcome;
use crate::refusal::{BUSY, EMAIL_EXISTS, SIGNUP_DISABLED};
use crate::sessions::{Entrance, SignInClient};
use crate::settings::{EmailMethod, SettingsInForce};

/// Maximum number of password hashes that one sign-up computes. The hash must have the salt that is stored
/// for the address, and a concurrent sign-up may change that salt; the hash is then computed again.
const ROUNDS: u32 = 4;

/// The data of a sign-up request.
pub struct SignUp {
    pub email: Email,
    pub password: Password,
    pub name: Option<Name>,
    /// The redirect target of the verification link.
    pub redirect: RedirectInput,
    /// Hash of the token in the cookie that binds the sign-up to its browser; `None` without such a cookie.
    pub browser: Option<TokenHash>,
    pub client: SignInClient,
}

pub enum SignedUp {
    /// Verification is off. A session is open, or a challenge asks for a second factor.
    Entered(Entrance),
    /// Verification is on. A mail is written, whether or not the address already has an account.
    VerificationRequired,
}

impl Accounts {
    /// Creates an account. While verification is required, the response does not reveal whether the address already has
    /// one.
    pub async fn sign_up(&self, sign_up: SignUp) -> Result<SignedUp> {
        let outcome = |signed_up: &SignedUp| match signed_up {
            SignedUp::Entered(entrance) => EntranceOutcome::of(entrance),
            SignedUp::VerificationRequired => EntranceOutcome::Pending,
        };
        self.kernel.metrics.sign_up(outcome, self.create(sign_up).await)
    }

    /// Creates the account of an address to which an operator gave a role. Sign-up may be disabled for others. The address is
    /// verified by a mailed code in any case, and the response is that of every sign-up.
    pub(crate) async fn sign_up_named(&self, sign_up: SignUp) -> Result<()> {
        let outcome = |(): &()| EntranceOutcome::Pending;
        let settings = self.kernel.settings();
        self.passwords.check_new_password(&settings, "password", &sign_up.password, &sign_up.email)?;
        let created = self.sign_up_pending(sign_up, EmailMethod::Code, &settings).await;
        self.kernel.metrics.sign_up(outcome, created)
    }

    async fn create(&self, sign_up: SignUp) -> Result<SignedUp> {
        let settings = self.kernel.settings();
        if settings.values.disable_sign_up {
            return Err(Error::Refused(&SIGNUP_DISABLED));
        }
        self.passwords.check_new_password(&settings, "password", &sign_up.password, &sign_up.email)?;
        if settings.values.require_email_verification {
            let method = settings.values.verify_email_method;
            self.sign_up_pending(sign_up, method, &settings).await?;
            return Ok(SignedUp::VerificationRequired);
        }
        sign_up.redirect.resolve(&settings, Need::Optional)?;
        self.sign_up_at_once(sign_up).await.map(SignedUp::Entered)
    }

    async fn sign_up_at_once(&self, sign_up: SignUp) -> Result<Entrance> {
        let now = self.kernel.now();
        let takes = self.takes(&sign_up.client.client);
        let begun = self.kernel.store.begin_sign_up(sign_up.email.key(), &takes, now).await?;
        match begun
            .map_err(|limited| self.kernel.limited(limited, sign_up.email.key(), &sign_up.client.client))?
        {
            BeginSignUp::Taken(_) | BeginSignUp::Pending(_) => return Err(Error::Refused(&EMAIL_EXISTS)),
            BeginSignUp::Free => {}
        }
        let hash = self.passwords.hasher.hash(sign_up.password).await?;
        let draft = self.sessions.draft_entry(AuthMethod::Password, &sign_up.client, now)?;
        let account = self.new_account(sign_up.email, sign_up.name, hash, &sign_up.client.client, now);
        let account = NewAccount { browser: sign_up.browser, ..account };
        match self.kernel.store.create_account_and_enter(account, draft.entry.clone()).await? {
            Some(entered) => self.sessions.entered(entered, draft, now),
            None => Err(Error::Refused(&EMAIL_EXISTS)),
        }
    }

    /// Signs up while verification is required. One hash is computed and one store operation is called,
    /// whether the address is free, has an account that was never verified (pending), or has any other
    /// account.
    async fn sign_up_pending(
        &self,
        sign_up: SignUp,
        method: EmailMethod,
        settings: &SettingsInForce,
    ) -> Result<()> {
        self.kernel.mails.check_transport()?;
        let now = self.kernel.now();
        let need = if method == EmailMethod::Link { Need::Required } else { Need::Optional };
        let redirect = sign_up.redirect.resolve(settings, need)?;

        let mut takes = self.takes(&sign_up.client.client);
        takes.extend(self.mailbox.mail_takes(
            sign_up.email.key(),
            Purpose::VerifyEmail,
            &sign_up.client.client,
        ));
        let begun = self.kernel.store.begin_sign_up(sign_up.email.key(), &takes, now).await?;
        let begun = begun
            .map_err(|limited| self.kernel.limited(limited, sign_up.email.key(), &sign_up.client.client));
        let mut like = match begun? {
            BeginSignUp::Pending(hash) | BeginSignUp::Taken(hash) => hash,
            BeginSignUp::Free => None,
        };

        for _ in 0..ROUNDS {
            // The hash gets the salt of the existing account's hash. Equal passwords then have equal hashes, and a
            // later sign-in compares with both by computing one hash.
            let hash = self.passwords.hasher.hash_like(sign_up.password.duplicate(), like.as_ref()).await?;
            let (key, redirect) = (sign_up.email.key(), redirect.clone());
            let code_mail = self.mailbox.new_code_mail(
                key,
                Purpose::VerifyEmail,
                method,
                redirect,
                Some(&sign_up.client.client),
                now,
            )?;
            let (email, name) = (sign_up.email.clone(), sign_up.name.clone());
            let account = self.new_account(email, name, hash, &sign_up.client.client, now);
            let account = NewAccount { browser: sign_up.browser, ..account };
            let pending = PendingSignUp { account, email_code: code_mail.email_code, mail: code_mail.mail };
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
            locale: client.locale.clone(),
            browser: None,
            now,
            event: self.kernel.event(AuditKind::SignedUp, Actor::User, Some(client), now),
        }
    }
}
