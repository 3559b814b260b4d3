//! Second step of a change of email address: the user enters the mailed codes.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::codes::EnteredCode;
use latchkey_domain::email::EmailKey;
use latchkey_domain::email_change::{EmailChangeId, Side};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::LinkToken;
use latchkey_store::{
    ConfirmEmailChange, ConfirmedEmailChange, EmailChangeWrites, LiveSession, NewToken, ShownCode,
};

use super::{EmailChangeStep, EmailChanges, EnteredCodes};
use crate::error::{Error, Result};
use crate::kernel::ActFact;
use crate::refusal::{AUTH_UNAUTHORIZED, EMAIL_CHANGE_NOT_FOUND, INVALID_CODE, NEW_EMAIL_EXISTS};
use crate::sessions::authenticate::Caller;

impl EmailChanges {
    /// Checks entered codes of the caller's change of address. Once all required codes were right, the address
    /// changes, the caller's session continues and all others end. A right code counts even if another one in the
    /// same request is wrong.
    pub async fn confirm(
        &self,
        caller: Caller,
        id: EmailChangeId,
        codes: EnteredCodes,
        client: &Client,
    ) -> Result<EmailChangeStep> {
        let now = self.kernel.now();
        let live = self.kernel.store.find_live_session(caller.session_id, now).await?;
        let LiveSession { user, .. } = live.ok_or(&AUTH_UNAUTHORIZED)?;
        let email = user.email.key();
        let confirm = ConfirmEmailChange {
            user_id: caller.user_id,
            session_id: caller.session_id,
            id,
            email: email.clone(),
            new: self.shown(email, (id, Side::New), codes.new.as_deref()),
            current: self.shown(email, (id, Side::Current), codes.current.as_deref()),
            lane: self.mailbox.code_lane(email, client),
            known_for: self.sessions.known_client_age(),
            takes: self.mailbox.attempt_takes(client),
            writes: self.writes(client, now)?,
            now,
        };
        let confirmed = self.kernel.store.confirm_email_change(confirm).await?;
        let confirmed = confirmed.map_err(|limited| self.kernel.limited(limited, email, client))?;
        let refusal = match confirmed {
            ConfirmedEmailChange::Changed(live) => {
                self.kernel.mails.wake();
                let access = self.sessions.app_access_token(&live.user, &live.session, now)?;
                return Ok(EmailChangeStep::Changed { user: Box::new(live.user), access });
            }
            ConfirmedEmailChange::Needs(needs) => return Ok(EmailChangeStep::Needs(needs)),
            ConfirmedEmailChange::Refused => &INVALID_CODE,
            ConfirmedEmailChange::Taken => &NEW_EMAIL_EXISTS,
            // If the address is another by now, the change has ended: every new address ends the changes of an
            // account.
            ConfirmedEmailChange::NotFound | ConfirmedEmailChange::Moved => &EMAIL_CHANGE_NOT_FOUND,
            ConfirmedEmailChange::NoSession => &AUTH_UNAUTHORIZED,
        };
        Err(Error::Refused(refusal))
    }

    /// Computes the MAC of an entered code. A text without the form of a code is refused like a wrong code, but not
    /// counted.
    fn shown(&self, email: &EmailKey, of: (EmailChangeId, Side), text: Option<&str>) -> Option<ShownCode> {
        text.map(|text| match EnteredCode::parse(text) {
            Ok(code) => ShownCode::Code(self.mailbox.side_code_mac(email, of, &code), code.form()),
            Err(_) => ShownCode::Malformed,
        })
    }

    fn writes(&self, client: &Client, now: Timestamp) -> Result<EmailChangeWrites> {
        let token = LinkToken::new(self.kernel.entropy.bytes());
        let expires_at = now.plus(self.lifetimes.undo);
        let has_undo = !self.lifetimes.undo.is_zero();
        let fact = has_undo.then_some(ActFact::Undo(&token, expires_at));
        Ok(EmailChangeWrites {
            event: self.kernel.event(AuditKind::EmailChanged, Actor::User, Some(client), now),
            removed: self.kernel.event(AuditKind::UserDeleted, Actor::User, Some(client), now),
            to_old: self.kernel.required_notification(Some(client), fact, now)?,
            to_new: self.kernel.required_notification(Some(client), None, now)?,
            undo: has_undo.then(|| NewToken { hash: token.hash(), expires_at }),
        })
    }
}
