//! The exchange of a code from the pages: opens an app session with the sign-in of the page session.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::session::{NewSession, NewSessionKind};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::{LinkToken, TokenHash};
use latchkey_store::{FoundPageCode, LiveSession, OpenFromPage, OpenedFromPage};
use serde_json::Value;

use super::OAuth;
use crate::error::{Error, Result};
use crate::refusal::INVALID_OAUTH_CODE;
use crate::sessions::{Entrance, SignInClient};

impl OAuth {
    /// Opens an app session with methods, level and time of the sign-in on the pages. A wrong verifier invalidates the
    /// code.
    pub(super) async fn exchange_page_code(
        &self,
        code: &LinkToken,
        code_challenge: TokenHash,
        from: &SignInClient,
        now: Timestamp,
    ) -> Result<Entrance> {
        let from = from.for_side(None).ok_or(&INVALID_OAUTH_CODE)?;
        let found = self.kernel.store.find_page_code(code.hash(), now).await?.ok_or(&INVALID_OAUTH_CODE)?;
        let FoundPageCode { page: LiveSession { session: page, user }, identity, passkey, redirect_to } =
            found;
        // The list of redirect targets may have changed since the code was issued.
        if self.kernel.settings.load().redirects.check(&redirect_to).is_err() {
            return Err(Error::Refused(&INVALID_OAUTH_CODE));
        }
        let mut draft = self.sessions.draft_entry_of(page.methods.clone(), page.level, &from, now)?;
        draft.entry.session = NewSession {
            kind: NewSessionKind::App { opened_from: Some(page.id) },
            authenticated_at: page.authenticated_at,
            identity,
            passkey,
            // The person signed in in the browser: this client showed no factor, and the mail about a new device was decided
            // on at that sign-in.
            known_for: None,
            new_device: None,
            ..draft.entry.session
        };
        let mut event = self.sessions.signed_in_by(&page.methods, &from.client, now);
        let app = redirect_to.split(['?', '#']).next().unwrap_or_default();
        event.details.insert("app".to_owned(), Value::from(app));
        let mut refused = self.kernel.event(AuditKind::SignInFailed, Actor::User, Some(&from.client), now);
        refused.details.insert("reason".to_owned(), Value::from("code was burnt"));
        let open = OpenFromPage {
            user_id: user.id,
            page: page.id,
            code: code.hash(),
            code_challenge,
            entry: draft.entry.clone(),
            event,
            refused,
        };
        match self.kernel.store.open_from_page(open).await? {
            OpenedFromPage::Entered(entered) => self.sessions.entered(entered, draft, now),
            OpenedFromPage::Refused => Err(Error::Refused(&INVALID_OAUTH_CODE)),
        }
    }
}
