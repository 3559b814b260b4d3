//! Helpers of the cases, each of which makes one call of the store, or the request for it: changes of an
//! address by its owner.

use std::time::Duration;

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::{CodeForm, CodeMac};
use latchkey_domain::email_change::{EmailChange, EmailChangeId, Side};
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;

use super::fixtures::{LONG, STRANGER, World, days, email, key, lane, long, mac};
use latchkey_store::{
    BeginEmailChange, BegunEmailChange, ConfirmEmailChange, ConfirmedEmailChange, EmailChangeWrites, NewCode,
    ShownCode, SideCode,
};

/// Number that identifies the code mailed to the new address ([`super::fixtures::mac`]).
pub(super) const NEW: u8 = 21;
/// Number that identifies the code mailed to the current address ([`super::fixtures::mac`]).
pub(super) const CURRENT: u8 = 22;

/// An account with the password `secret`: its address, and the session in which its owner changes
/// the address.
#[derive(Clone, Copy)]
pub(super) struct Mover {
    pub(super) user: UserId,
    pub(super) session: SessionId,
    pub(super) name: &'static str,
}

impl World {
    /// Creates a verified account with a session.
    pub(super) async fn mover(&self, name: &'static str, now: Timestamp) -> Mover {
        let user = self.verified(name, now).await.id;
        Mover { user, session: self.open_session(user, now).await.id, name }
    }

    /// Makes a request to change the email address, sent from this host.
    pub(super) fn email_change(&self, of: Mover, to: &str, host: u8, now: Timestamp) -> BeginEmailChange {
        let expires_at = now.plus(Duration::from_mins(30));
        let side = |code: u8| SideCode {
            code: NewCode {
                mac: mac(code),
                long_mac: long(mac(code)),
                long_sealed: LONG.to_vec(),
                lane: lane(&key(of.name), host),
                expires_at,
            },
            mail: self.mail(now),
        };
        BeginEmailChange {
            user_id: of.user,
            session_id: of.session,
            id: self.id(now, EmailChangeId::new),
            email: key(of.name),
            new_email: email(to),
            takes: Vec::new(),
            to_new: side(NEW),
            to_current: side(CURRENT),
            expires_at,
            event: self.event(AuditKind::EmailChangeStarted, now),
            now,
        }
    }

    /// Begins a change of address.
    pub(super) async fn begun(&self, of: Mover, to: &str, now: Timestamp) -> (EmailChangeId, Vec<Side>) {
        let begin = self.email_change(of, to, STRANGER, now);
        let id = begin.id;
        match self.begin_email_change(begin).await.unwrap().unwrap() {
            BegunEmailChange::Begun(needs) => (id, needs),
            other => panic!("{other:?}"),
        }
    }

    /// Makes a request, sent from this host, to complete a change of address by the codes mailed to the new
    /// and the current address.
    pub(super) fn entering(
        &self,
        of: Mover,
        id: EmailChangeId,
        (new, current): (Option<CodeMac>, Option<CodeMac>),
        host: u8,
        now: Timestamp,
    ) -> ConfirmEmailChange {
        let shown = |code: Option<CodeMac>| code.map(|mac| ShownCode::Code(mac, CodeForm::SixDigits));
        ConfirmEmailChange {
            user_id: of.user,
            session_id: of.session,
            id,
            email: key(of.name),
            new: shown(new),
            current: shown(current),
            lane: lane(&key(of.name), host),
            known_for: Some(days(30)),
            takes: Vec::new(),
            writes: EmailChangeWrites {
                event: self.event(AuditKind::EmailChanged, now),
                removed: self.event(AuditKind::UserDeleted, now),
                to_old: Some(self.mail(now)),
                to_new: Some(self.mail(now)),
                undo: Some(self.new_token(now, days(7))),
            },
            now,
        }
    }

    pub(super) async fn entered(
        &self,
        of: Mover,
        id: EmailChangeId,
        codes: (Option<u8>, Option<u8>),
        now: Timestamp,
    ) -> ConfirmedEmailChange {
        let codes = (codes.0.map(mac), codes.1.map(mac));
        self.confirm_email_change(self.entering(of, id, codes, STRANGER, now)).await.unwrap().unwrap()
    }

    /// Changes the address of an account; returns the undo token and the account at its new address.
    pub(super) async fn moved(&self, of: Mover, to: &'static str, now: Timestamp) -> (TokenHash, Mover) {
        let (id, _) = self.begun(of, to, now).await;
        let confirm = self.entering(of, id, (Some(mac(NEW)), Some(mac(CURRENT))), STRANGER, now);
        let undo = confirm.writes.undo.unwrap().hash;
        let outcome = self.confirm_email_change(confirm).await.unwrap().unwrap();
        assert!(matches!(outcome, ConfirmedEmailChange::Changed(_)), "{outcome:?}");
        (undo, Mover { name: to, ..of })
    }

    /// Returns the change of address that the owner sees in the account, if one is not completed yet.
    pub(super) async fn open_change(&self, of: Mover, now: Timestamp) -> Option<EmailChange> {
        self.find_own_account(of.session, now).await.unwrap().unwrap().email_change
    }

    /// Claims the mails that are due, and returns their kinds and recipients, sorted.
    pub(super) async fn told(&self, now: Timestamp) -> Vec<(MailKind, String)> {
        let mails = self.mails(now).await.into_iter();
        let mut told: Vec<_> =
            mails.map(|mail| (mail.kind, mail.recipient.email.key().as_str().to_owned())).collect();
        told.sort();
        told
    }
}

/// Returns the address `name`@example.org as text, as in [`World::told`].
pub(super) fn to(name: &str) -> String {
    key(name).as_str().to_owned()
}
