//! Round trips of changes of a password by its owner.

use latchkey_store::{ChangePassword, Sessions, SetPassword};

use super::{Measured, at, event, guard, key, mail, next, password, session, takes, user_id};

pub(crate) async fn measure(m: &mut Measured) {
    let change = ChangePassword {
        user_id: user_id(1),
        checked: password("new"),
        password: password("newer"),
        keep: session(1).id,
        page_token: None,
        guard: Some(guard()),
        event: event(next()),
        mail: Some(mail(next())),
        now: at(11),
    };
    op!(m.begin_password_change(session(1).id, &key(1), &takes(), Some(&guard()), at(11))).unwrap();
    op!(m.change_password(change)).unwrap();
    let set = SetPassword {
        user_id: user_id(1),
        password: password("first"),
        keep: session(1).id,
        page_token: None,
        event: event(next()),
        mail: Some(mail(next())),
        now: at(11),
    };
    op!(m.set_password(set), "refused");
}
