//! Round trips of the operations on changes of an address.

use latchkey_domain::codes::{CodeForm, CodeMac};
use latchkey_domain::email_change::EmailChangeId;
use latchkey_store::{
    Accounts, BeginEmailChange, ConfirmEmailChange, EmailChangeWrites, EmailChanges, NewCode, NewEmailCode,
    NewToken, ShownCode, SideCode,
};
use latchkey_store_suite::conformance::numbered::LANE;

use super::{Measured, account, at, code, email, entry, event, key, mail, next, session, takes};
use super::{token, user_id};

/// Number of the account and its session.
const OWNER: u64 = 560;

fn side(number: u8) -> SideCode {
    let NewEmailCode::Code(code) = code(number) else { unreachable!("a code") };
    SideCode { code: NewCode { expires_at: at(600), ..code }, mail: mail(next()) }
}

fn begin() -> BeginEmailChange {
    BeginEmailChange {
        user_id: user_id(OWNER),
        session_id: session(OWNER).id,
        id: EmailChangeId::new(at(0), [5; 10]),
        email: key(OWNER),
        new_email: email(OWNER + 1),
        takes: takes(),
        to_new: side(1),
        to_current: side(2),
        expires_at: at(600),
        event: event(next()),
        now: at(0),
    }
}

fn confirm(new: u8, current: Option<u8>) -> ConfirmEmailChange {
    let shown = |code: u8| ShownCode::Code(CodeMac::from_bytes([code; 32]), CodeForm::SixDigits);
    ConfirmEmailChange {
        user_id: user_id(OWNER),
        session_id: session(OWNER).id,
        id: EmailChangeId::new(at(0), [5; 10]),
        email: key(OWNER),
        new: Some(shown(new)),
        current: current.map(shown),
        lane: LANE,
        known_for: None,
        takes: takes(),
        writes: EmailChangeWrites {
            event: event(next()),
            removed: event(next()),
            to_old: Some(mail(next())),
            to_new: Some(mail(next())),
            undo: Some(NewToken { hash: token(next()), expires_at: at(10_000) }),
        },
        now: at(1),
    }
}

pub(crate) async fn measure(measured: &mut Measured) {
    let m = measured;
    m.store.create_account_and_enter(account(OWNER), entry(session(OWNER))).await.unwrap();
    op!(m.begin_email_change(begin())).unwrap();
    op!(m.cancel_email_change(user_id(OWNER), session(OWNER).id, event(next()), at(0)));
    op!(m.begin_email_change(begin()), "again").unwrap();
    op!(m.confirm_email_change(confirm(9, Some(2))), "wrong").unwrap();
    op!(m.confirm_email_change(confirm(1, None)), "changed").unwrap();
}
