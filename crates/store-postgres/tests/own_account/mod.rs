//! Round trips of the operations by which users manage their own accounts.

use latchkey_domain::ids::EventId;
use latchkey_store::{Accounts, Audit, ListOwnEvents, Sessions};

use super::{Measured, account, at, entry, session, user_id};

/// Number of the account.
const OWNER: u64 = 500;

pub(super) async fn measure(measured: &mut Measured) {
    let m = measured;
    let (user_id, session_id) = (user_id(OWNER), session(OWNER).id);
    m.store.create_account_and_enter(account(OWNER), entry(session(OWNER))).await.unwrap();
    op!(m.rename_session(user_id, session_id, None, at(1)));
    let list = |before| ListOwnEvents { user_id, only: None, since: at(-1), before, limit: 10 };
    op!(m.list_own_events(list(None)));
    op!(m.list_own_events(list(Some(EventId::new(at(0), [0; 10])))), "later page");
}
