//! Sign-in by passkey, which counts as both factors, and the request options for an answer to a challenge.

use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::challenge::ChallengeId;
use latchkey_domain::client::Client;
use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::passkey::{CredentialId, Passkey, RpId, Transports};
use latchkey_domain::reason::Reason;
use latchkey_domain::session::AuthMethod;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;
use latchkey_store::{
    FoundChallenge, FoundPasskey, PasskeyOptions, PasskeyRefusal, PasskeySignIn, SignInWithPasskey,
};
use serde_json::Value;

use super::Passkeys;
use super::ceremony::{Ceremony, CeremonyKind};
use super::response::Assertion;
use crate::error::{Error, Result};
use crate::metrics::Method;
use crate::refusal::{
    EMAIL_NOT_VERIFIED, INVALID_CHALLENGE, INVALID_PASSKEY, Refusal, UNKNOWN_PASSKEY, USER_BANNED,
};
use crate::sessions::{Entrance, SignInClient};

/// A sign-in that has begun, with the data for the browser.
pub struct BegunSignIn {
    /// Id of the ceremony, which the client returns with the response.
    pub ceremony_id: String,
    pub options: RequestOptions,
    pub expires_at: Timestamp,
}

/// Request options for the browser (WebAuthn section 5.5).
pub struct RequestOptions {
    pub rp_id: RpId,
    pub challenge: [u8; 32],
    /// The passkeys that the browser may use; empty if it may use any discoverable passkey.
    pub allow: Vec<(CredentialId, Transports)>,
}

impl Passkeys {
    /// Begins a sign-in. Nothing is looked up or written for `email`: it is sealed into the ceremony, and the passkey must
    /// be of the account with that address.
    pub fn begin_sign_in(&self, email: Option<&Email>, client: &Client) -> Result<BegunSignIn> {
        let rp_id = self.check_offered()?;
        let now = self.kernel.now();
        let (limit, rate) = ("passkey options, per address", self.limits.options_address);
        self.kernel.limits.take_here(limit, rate, client.address, now)?;
        let bound_to = binding(email.map(Email::key));
        let ceremony = Ceremony::begin(CeremonyKind::SignIn, bound_to, &*self.kernel.entropy, now);
        Ok(BegunSignIn {
            ceremony_id: self.ceremonies.seal(&ceremony, &*self.kernel.entropy)?,
            expires_at: ceremony.expires_at,
            options: RequestOptions { rp_id, challenge: ceremony.challenge, allow: Vec::new() },
        })
    }

    /// Opens a session of level 2 (two factors) for an assertion by a passkey, without a further factor.
    pub async fn sign_in(
        &self,
        ceremony_id: &str,
        assertion: Assertion,
        from: &SignInClient,
    ) -> Result<Entrance> {
        let now = self.kernel.now();
        let entrance = self.open(ceremony_id, assertion, from, now).await;
        self.kernel.metrics.sign_in(Method::Passkey, now, entrance)
    }

    async fn open(
        &self,
        ceremony_id: &str,
        assertion: Assertion,
        from: &SignInClient,
        now: Timestamp,
    ) -> Result<Entrance> {
        let rp_id = self.check_offered()?;
        let client = &from.client;
        let ceremony = self.ceremonies.open(ceremony_id, now);
        let Some(ceremony) = ceremony.filter(|one| one.kind == CeremonyKind::SignIn) else {
            return Err(self.fail(None, &INVALID_PASSKEY, client, now).await?);
        };
        let completed = ceremony.completed();
        let found = self.kernel.store.find_passkey(&assertion.id, &rp_id, completed.hash).await?;
        let (passkey, user) = match found {
            FoundPasskey::Usable(found) => *found,
            FoundPasskey::Unknown => return Err(self.fail(None, &UNKNOWN_PASSKEY, client, now).await?),
            FoundPasskey::CeremonyUsed => return Err(self.fail(None, &INVALID_PASSKEY, client, now).await?),
        };
        let is_meant = [binding(None), binding(Some(user.email.key()))].contains(&ceremony.bound_to);
        let shown = self.verify_assertion(&assertion, &passkey, &ceremony.challenge)?;
        let Some(shown) = shown.filter(|_| is_meant) else {
            return Err(self.fail(Some(&user), &INVALID_PASSKEY, client, now).await?);
        };
        if !self.sessions.may_open(Some(user.id), &from.opens, now).await? {
            return Err(self.fail(Some(&user), &INVALID_PASSKEY, client, now).await?);
        }
        let method = AuthMethod::of_passkey(passkey.passkey.is_backup_eligible);
        let draft = self.sessions.draft_passkey_entry(method, from, now)?;
        let sign_in = SignInWithPasskey {
            ceremony: completed,
            shown,
            rp_id,
            entry: draft.entry.clone(),
            guard: self.passwords.guard(user.email.key(), client),
            must_verify: self.kernel.settings.load().values.require_email_verification,
            event: self.sessions.signed_in_event(&draft.entry.session, client, now),
            refusal: self.refusal(client, now)?,
        };
        let refusal = match self.kernel.store.sign_in_with_passkey(sign_in).await? {
            PasskeySignIn::Entered(entered) => return self.sessions.entered(entered, draft, now),
            PasskeySignIn::Refused => {
                self.kernel.mails.wake();
                &INVALID_PASSKEY
            }
            PasskeySignIn::CeremonyUsed => &INVALID_PASSKEY,
            PasskeySignIn::Gone => &UNKNOWN_PASSKEY,
            PasskeySignIn::Banned => &USER_BANNED,
            PasskeySignIn::Unverified => &EMAIL_NOT_VERIFIED,
        };
        Err(self.fail(Some(&user), refusal, client, now).await?)
    }

    /// Returns request options for an answer to a challenge of kind `passkey`. They replace earlier ones.
    pub async fn challenge_options(&self, challenge: &ChallengeId) -> Result<RequestOptions> {
        let terms = self.sessions.challenge_terms(self.kernel.now());
        let options = PasskeyOptions(self.kernel.entropy.bytes());
        let saved = self.kernel.store.save_passkey_options(challenge.hash(), options, terms.clone()).await?;
        let Some(passkeys) = saved else {
            let found = self.kernel.store.find_challenge(challenge.hash(), terms).await?;
            found.ok_or(&INVALID_CHALLENGE)?;
            let problem = "is of a challenge that no passkey answers";
            return Err(Error::validation("challengeId", Reason::NotAllowed, problem));
        };
        Ok(self.request_options(options, passkeys).ok_or(&INVALID_CHALLENGE)?)
    }

    /// Returns the request options that were issued last for a challenge; `None` if there were none.
    pub(crate) fn issued_options(&self, found: &FoundChallenge) -> Option<RequestOptions> {
        let passkeys = found.passkeys.iter().map(|stored| stored.passkey.clone());
        self.request_options(found.passkey_options?, passkeys)
    }

    fn request_options(
        &self,
        options: PasskeyOptions,
        passkeys: impl IntoIterator<Item = Passkey>,
    ) -> Option<RequestOptions> {
        let allow = passkeys.into_iter().map(|one| (one.credential_id, one.transports)).collect();
        Some(RequestOptions { rp_id: self.relying_party.id.clone()?, challenge: options.0, allow })
    }

    /// Builds audit event and mail about a passkey that may have been copied.
    pub(crate) fn refusal(&self, client: &Client, now: Timestamp) -> Result<PasskeyRefusal> {
        Ok(PasskeyRefusal {
            event: self.kernel.event(AuditKind::PasskeyRefused, Actor::User, Some(client), now),
            mail: self.kernel.required_notification(Some(client), None, now)?,
        })
    }

    /// Counts a failed answer against the limit per client address on codes and links. `account` is the address of the
    /// account, if it is known.
    pub(crate) async fn count_failure(
        &self,
        account: Option<&EmailKey>,
        client: &Client,
        now: Timestamp,
    ) -> Result<()> {
        let taken = self.kernel.store.take(&self.passwords.mailbox.attempt_takes(client), now).await?;
        taken.map_err(|limited| match account {
            Some(email) => self.kernel.limited(limited, email, client),
            None => limited.into(),
        })
    }

    /// Counts and records a failed sign-in, and returns the error for the client. If the passkey is right but its
    /// account may not sign in, nothing is counted.
    async fn fail(
        &self,
        user: Option<&User>,
        refusal: &'static Refusal,
        client: &Client,
        now: Timestamp,
    ) -> Result<Error> {
        let may_not = refusal == &USER_BANNED || refusal == &EMAIL_NOT_VERIFIED;
        if !may_not {
            self.count_failure(user.map(|user| user.email.key()), client, now).await?;
        }
        let reason = if may_not { "account may not sign in" } else { "wrong passkey" };
        let event = self.kernel.event(AuditKind::SignInFailed, Actor::User, Some(client), now);
        let mut event = AuditEvent { user_id: user.map(|user| user.id), ..event };
        event.details.insert("reason".to_owned(), Value::from(reason));
        self.kernel.store.record_event(event).await?;
        Ok(Error::Refused(refusal))
    }
}

/// Returns the hash of the address that a sign-in is begun for; without an address, a hash of the empty text.
fn binding(email: Option<&EmailKey>) -> TokenHash {
    TokenHash::of(email.map_or("", EmailKey::as_str).as_bytes())
}
