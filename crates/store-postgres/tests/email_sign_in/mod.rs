//! Round trips of the operations of sign-in by mail.

use latchkey_store::{
    Accounts, EmailSignIn, EmailSignIns, NewCode, NewEmailCode, NewSignInLink, NewToken, Newcomer,
    PresentedLink, RequestSignInMail,
};

use super::{
    Measured, account, at, attempt, code, email, entry, event, mail, next, session, takes, token, user_id,
};

/// Number of an account, and of an address without one.
const OWNER: u64 = 570;
const NEWCOMER: u64 = 571;

fn request(number: u64) -> RequestSignInMail {
    let NewEmailCode::Code(code) = code(1) else { unreachable!("a code") };
    RequestSignInMail {
        email: email(number),
        is_sign_up_open: true,
        takes: takes(),
        code: NewCode { expires_at: at(600), ..code },
        link: Some(NewSignInLink {
            token: NewToken { hash: token(number), expires_at: at(600) },
            code_challenge: token(1),
            redirect_to: None,
        }),
        mail: mail(next()),
        now: at(0),
    }
}

fn sign_in(number: u64) -> EmailSignIn {
    let newcomer = Newcomer {
        user_id: user_id(number),
        profile: account(number).profile,
        locale: None,
        event: event(next()),
    };
    EmailSignIn {
        entry: entry(session(number)),
        newcomer: Some(newcomer),
        verified: event(next()),
        refused: event(next()),
    }
}

fn presented(challenge: u64) -> PresentedLink {
    PresentedLink {
        token: token(OWNER),
        email: email(OWNER),
        code_challenge: token(challenge),
        event: event(next()),
        now: at(1),
    }
}

pub(crate) async fn measure(measured: &mut Measured) {
    let m = measured;
    m.store.create_account(account(OWNER)).await.unwrap();
    op!(m.request_sign_in_mail(request(OWNER))).unwrap();
    op!(m.request_sign_in_mail(request(NEWCOMER)), "unknown address").unwrap();
    op!(m.find_sign_in_link(token(OWNER), &takes(), at(1))).unwrap();
    op!(m.sign_in_by_link(presented(2), sign_in(OWNER)), "wrong");
    op!(m.sign_in_by_code(attempt(OWNER, 9), email(OWNER), sign_in(OWNER)), "wrong").unwrap();
    op!(m.sign_in_by_code(attempt(OWNER, 1), email(OWNER), sign_in(OWNER)), "right").unwrap();
    m.store.request_sign_in_mail(request(OWNER + 2)).await.unwrap().unwrap();
    let by_link = PresentedLink { token: token(OWNER + 2), email: email(OWNER + 2), ..presented(1) };
    op!(m.sign_in_by_link(by_link, sign_in(OWNER + 2)), "right");
    op!(m.sign_in_by_code(attempt(NEWCOMER, 1), email(NEWCOMER), sign_in(NEWCOMER)), "new account").unwrap();
}
