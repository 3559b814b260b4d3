//! Round trips of the operations on page sessions.

use latchkey_domain::page_session::{NewPageSession, ReplacedPageSession};
use latchkey_domain::seen_device::SeenDevice;
use latchkey_domain::session::{NewSession, NewSessionKind};
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    Accounts, EndedSession, NewPageCode, OpenFromPage, PageSessionUse, PageSessions, Sessions, SignIn,
};

use latchkey_store_suite::conformance::numbered::client;

use super::{Measured, account, at, entry, event, next, session, token, user_id};

/// Numbers of the account, of its page sessions, and of an app session.
const OWNER: u64 = 900;
const PAGE: u64 = 901;
const NEXT_PAGE: u64 = 902;
const APP: u64 = 903;

/// Page session of a number, whose token is the number's token.
fn page(number: u64, replaces: Option<Box<ReplacedPageSession>>) -> NewSession {
    let kind = NewSessionKind::Pages(NewPageSession { browser: browser(), replaces });
    NewSession { kind, refresh: token(number), ..session(number) }
}

fn browser() -> TokenHash {
    token(OWNER)
}

fn code(number: u64) -> NewPageCode {
    NewPageCode {
        code: token(number + 2_000),
        code_challenge: token(number),
        session_id: session(NEXT_PAGE).id,
        redirect_to: "https://app.example.org/".to_owned(),
        created_at: at(3),
        expires_at: at(60),
    }
}

fn open(code: &NewPageCode, code_challenge: TokenHash) -> OpenFromPage {
    let kind = NewSessionKind::App { opened_from: Some(code.session_id) };
    OpenFromPage {
        user_id: user_id(OWNER),
        page: code.session_id,
        code: code.code,
        code_challenge,
        entry: entry(NewSession { kind, created_at: at(4), ..session(APP) }),
        event: event(next()),
        refused: event(next()),
    }
}

pub(super) async fn measure(measured: &mut Measured) {
    let m = measured;
    let owner = account(OWNER);
    m.store.create_account_and_enter(owner.clone(), entry(page(PAGE, None))).await.unwrap();
    op!(m.find_page_session(token(PAGE), browser(), at(1)));
    let (id, idle_expires_at) = (session(PAGE).id, at(1_000));
    let used = PageSessionUse {
        id,
        user_id: owner.id,
        at: at(2),
        idle_expires_at,
        client: client(),
        seen: Some(SeenDevice::of(&client())),
    };
    op!(m.store_page_session_use(used));
    let replaced = Box::new(ReplacedPageSession { id, user_id: user_id(OWNER), event: event(next()) });
    let sign_in = SignIn {
        user_id: owner.id,
        checked: owner.password.unwrap(),
        rehashed: None,
        entry: entry(page(NEXT_PAGE, Some(replaced))),
        guard: None,
        event: event(next()),
    };
    op!(m.sign_in(sign_in), "in place of a page session");

    let (good, bad) = (code(1), code(2));
    op!(m.save_page_code(good.clone()));
    op!(m.save_page_code(bad.clone()));
    op!(m.find_page_code(good.code, at(4)));
    op!(m.open_from_page(open(&good, good.code_challenge)));
    op!(m.open_from_page(open(&bad, token(3))), "wrong verifier");
    op!(m.open_from_page(open(&bad, token(2))), "unknown code");
    let which = EndedSession::WithOpenedFrom(user_id(OWNER), session(NEXT_PAGE).id);
    op!(m.end_sessions(which, event(next()), at(5)), "with apps");
}
