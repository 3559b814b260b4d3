//! Exchange of a code from the pages: opens an app session from a page session.

use latchkey_domain::user::User;
use latchkey_store::{OpenFromPage, OpenedFromPage, StoreResult};

use super::entry::{self, Opening, Way};
use crate::form::{Decided, Executor, Script};
use crate::tables::users::read_account;
use crate::tables::{audit_events, page_codes, sessions, users};

/// Uses up a code. Opens the app session if the verifier is right, and the page session is still live and has the level
/// that the policy wants. Of concurrent callers only one gets the session.
pub(crate) async fn open<E: Executor>(engine: &E, open: OpenFromPage) -> StoreResult<OpenedFromPage> {
    let mut reads = Script::default();
    users::lock_by_id(&mut reads, open.user_id);
    let code = page_codes::lock(&mut reads, &open.code);
    let live = sessions::find_live(&mut reads, open.page, open.entry.session.created_at);
    engine
        .transact(reads, move |results| {
            let OpenFromPage { user_id, code: hash, code_challenge, page, entry, event, refused } = &open;
            let Some(stored) = results.find(code, page_codes::read_stored)? else {
                return Ok(Decided::Return(OpenedFromPage::Refused));
            };
            let owner = results.find(live, read_account)?.map(|account| account.user);
            let is_right = stored.code_challenge == *code_challenge
                && stored.session_id == *page
                && entry.session.created_at < stored.expires_at;
            let mut writes = Script::default();
            page_codes::delete(&mut writes, hash);
            // Where the policy has become stricter, the pages ask for the second factor: a challenge of the app would
            // forget when the first one was shown.
            let is_enough = |user: &User| Way::of(Some(user), entry) == Way::Session;
            let owner = owner.filter(|user| is_right && user.id == *user_id && is_enough(user));
            let Some(user) = owner else {
                audit_events::record_of(&mut writes, refused.clone(), *user_id)?;
                return Ok(Decided::done(writes, OpenedFromPage::Refused));
            };
            let way = Way::Session;
            entry::open(&mut writes, user.id, entry, way, None)?;
            audit_events::record_in(&mut writes, event.clone(), user.id, entry.session.id)?;
            let opening = Opening::find(&mut writes, user.id, entry, way);
            Ok(Decided::write(writes, move |results| Ok(OpenedFromPage::Entered(opening.entered(results)?))))
        })
        .await
}
