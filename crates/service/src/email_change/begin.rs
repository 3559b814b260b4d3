//! First step of a change of email address: codes are mailed to the addresses whose mailboxes the user must
//! prove to control.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::email::Email;
use latchkey_domain::email_change::{EmailChangeId, Side};
use latchkey_domain::reason::Reason;
use latchkey_store::{BeginEmailChange, BegunEmailChange as BeginOutcome};

use super::{BegunEmailChange, EmailChanges};
use crate::error::{Error, Result};
use crate::refusal::{AUTH_UNAUTHORIZED, BUSY};
use crate::sessions::FreshCaller;

impl EmailChanges {
    /// Begins a change of the caller's email address. It replaces an earlier one. The response is the same whether the
    /// new address is free, taken or reserved; the store operation decides who gets which mail.
    pub async fn begin(
        &self,
        caller: &FreshCaller,
        new_email: Email,
        client: &Client,
    ) -> Result<BegunEmailChange> {
        let (now, email) = (self.kernel.now(), caller.user().email.key());
        if new_email.key() == email {
            let problem = "must differ from the address of the account";
            return Err(Error::validation("newEmail", Reason::NotAllowed, problem));
        }
        self.kernel.mails.check_transport()?;
        let id = EmailChangeId::new(now, self.kernel.id_bytes(now));
        let lifetime = self.lifetimes.change;
        let code = |side| self.mailbox.new_side_code(email, (id, side), lifetime, client, now);
        // Tokens are taken for the current address too, even if it gets no mail. Otherwise changes could follow each
        // other without limit.
        let mut takes = self.mailbox.mail_takes(new_email.key(), Side::New.purpose(), client);
        takes.extend(self.mailbox.recipient_takes(email, Side::Current.purpose()));
        let expires_at = now.plus(lifetime);
        let begin = BeginEmailChange {
            user_id: caller.caller().user_id,
            session_id: caller.caller().session_id,
            id,
            email: email.clone(),
            new_email,
            takes,
            to_new: code(Side::New)?,
            to_current: code(Side::Current)?,
            expires_at,
            event: self.kernel.event(AuditKind::EmailChangeStarted, Actor::User, Some(client), now),
            now,
        };
        let outcome = self.kernel.store.begin_email_change(begin).await?;
        match outcome.map_err(|limited| self.kernel.limited(limited, email, client))? {
            BeginOutcome::Begun(needs) => {
                self.kernel.mails.wake();
                Ok(BegunEmailChange { id, needs, expires_at })
            }
            BeginOutcome::Moved => Err(Error::Refused(&BUSY)),
            BeginOutcome::NoSession => Err(Error::Refused(&AUTH_UNAUTHORIZED)),
        }
    }
}
