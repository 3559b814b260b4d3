//! Round trips of the operations by which users manage their own accounts.

use latchkey_domain::ids::EventId;
use latchkey_domain::locale::Locale;
use latchkey_store::{
    Accounts, Audit, DeleteAccount, Deletions, DueDeletion, FinishedDeletion, ListOwnEvents, NewToken,
    Sessions, UndoLinks,
};

use super::{Measured, account, at, entry, event, mail, next, session, token, user_id};

/// Number of the account.
const OWNER: u64 = 500;

pub(super) async fn measure(measured: &mut Measured) {
    let m = measured;
    let (user_id, session_id) = (user_id(OWNER), session(OWNER).id);
    m.store.create_account_and_enter(account(OWNER), entry(session(OWNER))).await.unwrap();
    op!(m.set_locale(user_id, &Locale::parse("de").unwrap()));
    op!(m.rename_session(user_id, session_id, None, at(1)));
    let list = |before| ListOwnEvents { user_id, only: None, since: at(-1), before, limit: 10 };
    op!(m.list_own_events(list(None)));
    op!(m.list_own_events(list(Some(EventId::new(at(0), [0; 10])))), "later page");
    op!(m.list_reserved_emails(user_id, at(1)));
    deletions(m).await;
}

async fn deletions(measured: &mut Measured) {
    let m = measured;
    let delete = DeleteAccount {
        user_id: user_id(OWNER),
        session_id: session(OWNER).id,
        deletes_at: at(10),
        event: event(next()),
        mail: Some(mail(next())),
        undo: Some(NewToken { hash: token(next()), expires_at: at(10) }),
        now: at(2),
    };
    op!(m.delete_account(delete));
    let due = op!(m.list_due_deletions(at(10)));
    let finished = |due: DueDeletion| FinishedDeletion {
        user_id: due.user_id,
        event: event(next()),
        mail: Some(mail(next())),
    };
    op!(m.finish_deletions(due.into_iter().map(finished).collect(), at(10)));
}
