//! Completion of a sign-in, reauthentication, password reset or undo after a correct answer to a challenge.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::challenge::{ChallengeKind, ChallengePurpose};
use latchkey_domain::client::Client;
use latchkey_domain::codes::Purpose;
use latchkey_domain::email::EmailKey;
use latchkey_domain::page_session::PageToken;
use latchkey_domain::session::{AuthMethod, Session};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::LinkToken;
use latchkey_store::{Completion, Entry, FoundChallenge, NewToken, PageSessionStepUp, UndoWrites};

use super::Challenges;
use crate::error::Result;
use crate::refusal::INVALID_CHALLENGE;
use crate::sessions::{Credential, EntryDraft, Sessions, SignInClient};
use crate::settings::EmailMethod;

/// Tokens that the client gets after a correct answer, in plain text. The store gets only their hashes.
pub(super) enum Pending {
    SignIn(Box<EntryDraft>),
    Renewal { session: Box<Session>, token: PageToken },
    Reset { token: LinkToken, expires_at: Timestamp },
    Nothing,
}

impl Challenges {
    pub(super) fn completion(
        &self,
        found: &FoundChallenge,
        kind: (ChallengeKind, Option<AuthMethod>),
        (credential, from): (Credential<'_>, &SignInClient),
        now: Timestamp,
    ) -> Result<(Completion, Pending)> {
        let (email, client) = (found.user.email.key(), &from.client);
        Ok(match found.purpose {
            ChallengePurpose::SignIn => {
                let methods = found.methods.clone().ok_or(&INVALID_CHALLENGE)?;
                let from = from.for_side(Some(found.opened_for)).ok_or(&INVALID_CHALLENGE)?;
                let draft = self.sessions.draft_raised(methods, kind, &from, now)?;
                let (provider, guard) = (found.provider.as_ref(), self.passwords.guard(email, client));
                let Entry { session, challenge, .. } = &draft.entry;
                let completed = self.sessions.completed_sign_in(session, provider, guard, client, now)?;
                let next = Box::new(challenge.clone());
                (Completion::SignIn(Box::new(completed), next), Pending::SignIn(Box::new(draft)))
            }
            ChallengePurpose::Reauthenticate => {
                let session = found.session_id.ok_or(&INVALID_CHALLENGE)?;
                let event = self.kernel.event(AuditKind::Reauthenticated, Actor::User, Some(client), now);
                let Credential::Page(page) = credential else {
                    return Ok((Completion::Reauthenticate(session, event, None), Pending::Nothing));
                };
                let token = PageToken::new(self.kernel.entropy.bytes());
                let raised = Sessions::raise(page.session().clone(), kind, now);
                let step_up = PageSessionStepUp {
                    token: token.hash(),
                    methods: raised.methods.clone(),
                    level: raised.level,
                    at: now,
                };
                let pending = Pending::Renewal { session: Box::new(raised), token };
                (Completion::Reauthenticate(session, event, Some(Box::new(step_up))), pending)
            }
            ChallengePurpose::Reset => {
                let token = LinkToken::new(self.kernel.entropy.bytes());
                let expires_at = now.plus(self.passwords.lifetimes.exchanged_reset);
                let new = NewToken { hash: token.hash(), expires_at };
                (Completion::Reset(new), Pending::Reset { token, expires_at })
            }
            ChallengePurpose::Undo => {
                let email = found.undo_email.as_ref().ok_or(&INVALID_CHALLENGE)?;
                let writes = self.undo_writes(email, client, now)?;
                (Completion::Undo(Box::new(writes)), Pending::Nothing)
            }
        })
    }

    /// Builds the rows that an undo adds: audit event, mails, and the code or link for a password reset. The request
    /// has no redirect target, so a link needs the default one; without a default the mail has a code.
    pub(crate) fn undo_writes(
        &self,
        email: &EmailKey,
        client: &Client,
        now: Timestamp,
    ) -> Result<UndoWrites> {
        let settings = self.kernel.settings();
        let redirect = settings.default_redirect.clone();
        let method = match &redirect {
            Some(_) => settings.values.reset_password_method,
            None => EmailMethod::Code,
        };
        let purpose = Purpose::ResetPassword;
        let reset = self.mailbox.new_code_mail(email, purpose, method, redirect, Some(client), now)?;
        Ok(UndoWrites {
            email: email.clone(),
            event: self.kernel.event(AuditKind::Undone, Actor::User, Some(client), now),
            reset: reset.email_code,
            reset_mail: reset.mail,
            mail: self.kernel.required_notification(Some(client), None, now)?,
            // The address that the undo removes may be an attacker's. The mail to it therefore does not state device
            // and network.
            left_mail: self.kernel.required_notification(None, None, now)?,
            now,
        })
    }
}
