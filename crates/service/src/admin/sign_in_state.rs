//! The answer to the question why a user cannot sign in.

use latchkey_domain::account_limits::HeldLimit;
use latchkey_domain::audit::AuditKind;
use latchkey_domain::ids::UserId;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::obstacle::{Obstacle, SignInFacts, VerificationMail};
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_store::{AccountFactors, ListOwnEvents, ListedMail, MAIL_RETENTION, MailState};

use super::Admin;
use crate::error::Result;
use crate::settings::EmailSignIn;

/// Number of a user's last mails among which the last one for verification is looked for.
pub(super) const MAILS: u32 = 100;

/// The sign-in state of a user.
pub struct SignInState {
    pub user: User,
    /// Obstacles, those that block every sign-in first.
    pub obstacles: Vec<Obstacle>,
}

impl SignInState {
    /// True if a sign-in is possible, from some client at least.
    #[must_use]
    pub fn can_sign_in(&self) -> bool {
        can_sign_in(&self.obstacles)
    }
}

pub(super) fn can_sign_in(obstacles: &[Obstacle]) -> bool {
    !obstacles.iter().any(Obstacle::is_blocking)
}

/// What was read of an account, from which its obstacles follow.
pub(super) struct Read<'a> {
    pub(super) account: &'a AccountFactors,
    pub(super) limits: &'a [HeldLimit],
    /// Mails of the last 30 days, newest first.
    pub(super) mails: &'a [ListedMail],
    /// Time since which the account has its address.
    pub(super) address_since: Timestamp,
    pub(super) now: Timestamp,
}

impl Admin {
    /// Says why a user cannot sign in, or that nothing is in the way.
    pub async fn why_no_sign_in(&self, id: UserId) -> Result<SignInState> {
        let now = self.kernel.now();
        let account = self.factors.of_user(id).await?;
        let (limits, mails, address_since) = tokio::try_join!(
            self.limits_of(&account.user, now),
            self.mails_of(id, now, MAILS),
            self.address_since(&account.user)
        )?;
        let read = Read { account: &account, limits: &limits, mails: &mails, address_since, now };
        let obstacles = self.obstacles(&read);
        Ok(SignInState { user: account.user, obstacles })
    }

    pub(super) fn obstacles(&self, read: &Read<'_>) -> Vec<Obstacle> {
        let AccountFactors { user, factors } = read.account;
        let values = &self.kernel.settings().values;
        let facts = SignInFacts {
            user,
            must_verify: values.require_email_verification,
            offer: &self.factors.sign_in_offer(),
            policy: values.second_factor,
            has_code_factor: !factors.totp.is_empty() || factors.recovery_codes_left > 0,
            address_since: read.address_since,
            last_mail: last_verification(user, read.mails),
            limits: read.limits,
            has_live_code: self.has_live_code(user, read),
            by_link: self.kernel.email_sign_in() == EmailSignIn::CodeAndLink,
        };
        facts.obstacles()
    }

    /// True if a mail has a code for a sign-in that has not expired.
    fn has_live_code(&self, user: &User, read: &Read<'_>) -> bool {
        let lifetime = self.passwords.mailbox.code_lifetime();
        let is_usable = |mail: &ListedMail| {
            mail.kind == MailKind::SignIn
                && mail.email.key() == user.email.key()
                && matches!(mail.state, MailState::Queued | MailState::Sent)
                && read.now < mail.created_at.plus(lifetime)
        };
        read.mails.iter().any(is_usable)
    }

    pub(super) async fn mails_of(&self, id: UserId, now: Timestamp, limit: u32) -> Result<Vec<ListedMail>> {
        Ok(self.kernel.store.list_mails_of(id, now.minus(MAIL_RETENTION), limit).await?)
    }

    /// Returns the time of the last change of the address, or that of the account's creation.
    pub(super) async fn address_since(&self, user: &User) -> Result<Timestamp> {
        if user.email_verified {
            return Ok(user.created_at);
        }
        let only = Some(AuditKind::EmailChanged);
        let (since, user_id) = (user.created_at, user.id);
        let list = ListOwnEvents { user_id, only, since, before: None, limit: 1 };
        let page = self.kernel.store.list_own_events(list).await?;
        let changed = page.and_then(|page| page.events.first().map(|event| event.at));
        Ok(changed.unwrap_or(user.created_at))
    }
}

/// Returns the fate of the last mail by which the present address can be verified.
fn last_verification(user: &User, mails: &[ListedMail]) -> Option<VerificationMail> {
    let is_last = |mail: &&ListedMail| mail.kind == MailKind::Verify && mail.email.key() == user.email.key();
    let mail = mails.iter().find(is_last)?;
    let at = mail.ended_at.unwrap_or(mail.created_at);
    match mail.state {
        MailState::Queued => Some(VerificationMail::Queued { since: mail.created_at }),
        MailState::Sent => Some(VerificationMail::Sent { at }),
        MailState::Dead => Some(VerificationMail::Dead { at }),
        MailState::Decoy => None,
    }
}
