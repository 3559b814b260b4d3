//! Undo links, which are mailed after some changes of an account and let the owner of the mailbox reverse the change.

use std::sync::Arc;

use latchkey_domain::challenge::ChallengeKind;
use latchkey_domain::client::Client;
use latchkey_domain::codes::EnteredCode;
use latchkey_domain::email::Email;
use latchkey_domain::reason::Reason;
use latchkey_domain::tokens::LinkToken;
use latchkey_store::{UndoOutcome, UseUndoLink};

use crate::challenges::{Answer, Challenges};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::mailbox::Mailbox;
use crate::refusal::{INVALID_CODE, INVALID_SECOND_FACTOR, NO_SECOND_FACTOR_LEFT};
use crate::sessions::{Challenge, Credential, Sessions, SignInClient};

pub use latchkey_store::UndoLink;

/// The use cases of undo links.
pub struct UndoLinks {
    kernel: Arc<Kernel>,
    sessions: Arc<Sessions>,
    mailbox: Arc<Mailbox>,
    challenges: Arc<Challenges>,
}

/// Outcome of using a valid undo link.
pub enum Undone {
    /// The change was reversed.
    Done,
    /// Nothing was reversed yet. The challenge asks for a second factor first.
    Challenged(Challenge),
}

impl UndoLinks {
    pub(crate) const fn new(
        kernel: Arc<Kernel>,
        sessions: Arc<Sessions>,
        mailbox: Arc<Mailbox>,
        challenges: Arc<Challenges>,
    ) -> Self {
        Self { kernel, sessions, mailbox, challenges }
    }

    /// Returns the change that a link would reverse; `None` if the link is invalid. Changes nothing.
    pub async fn look(&self, token: LinkToken, client: &Client) -> Result<Option<UndoLink>> {
        let takes = self.mailbox.attempt_takes(client);
        Ok(self.kernel.store.find_undo(token.hash(), &takes, self.kernel.now()).await??)
    }

    /// Reverses the change that a mail reported. `email` is the address that the user typed; the mail must have gone to
    /// it. If a second factor is needed, `code` is a code of an authenticator app or a recovery code; without `code`,
    /// the outcome is a challenge.
    pub async fn undo(
        &self,
        token: LinkToken,
        email: Email,
        code: Option<String>,
        from: &SignInClient,
    ) -> Result<Undone> {
        let kind = code.as_deref().map(kind_of).transpose()?;
        let (client, now) = (&from.client, self.kernel.now());
        let (id, challenge) = self.sessions.draft_challenge(from, now);
        let expires_at = challenge.expires_at;
        let link = UseUndoLink {
            token: token.hash(),
            takes: self.mailbox.attempt_takes(client),
            challenge,
            rules: self.sessions.factor_rules(),
            writes: self.challenges.undo_writes(email.key(), client, now)?,
        };
        let outcome = self.kernel.store.undo(link).await?;
        let kinds = match outcome.map_err(|limited| self.kernel.limited(limited, email.key(), client))? {
            UndoOutcome::Undone => {
                self.kernel.mails.wake();
                return Ok(Undone::Done);
            }
            UndoOutcome::Refused => return Err(Error::Refused(&INVALID_CODE)),
            UndoOutcome::Challenged(kinds) if kinds.is_empty() => {
                return Err(Error::Refused(&NO_SECOND_FACTOR_LEFT));
            }
            UndoOutcome::Challenged(kinds) => kinds,
        };
        let Some(kind) = kind else {
            return Ok(Undone::Challenged(Challenge { id, kinds, expires_at }));
        };
        if !kinds.contains(&kind) {
            return Err(Error::Refused(&INVALID_SECOND_FACTOR));
        }
        let answer = Answer { challenge: id, kind, code, password: None, assertion: None };
        self.challenges.answer(answer, Credential::Bearer(None), from).await?;
        Ok(Undone::Done)
    }
}

/// Returns the kind of a second-factor code: six digits are a TOTP code, sixteen characters are a recovery code.
fn kind_of(code: &str) -> Result<ChallengeKind> {
    match EnteredCode::parse(code) {
        Ok(EnteredCode::SixDigits(_)) => Ok(ChallengeKind::Totp),
        Ok(EnteredCode::Long(_)) => Ok(ChallengeKind::RecoveryCode),
        Err(_) => {
            let problem = "must be six digits, or a recovery code";
            Err(Error::validation("code", Reason::InvalidFormat, problem))
        }
    }
}
