//! Round trips of the acts of admins on one account. The user 3 must exist.

use latchkey_domain::codes::Purpose;
use latchkey_domain::operator::Protection;
use latchkey_store::{AccountAct, AdminUsers, EmailCodes, Limits, ReplacePassword, SendEmailCode};

use super::limit_world::{account_limits, password};
use super::{Measured, at, code, event, mail, next, request, session, user_id};

pub(super) async fn measure(m: &mut Measured) {
    let act = || AccountAct {
        user_id: user_id(3),
        event: event(next()),
        protection: Protection::Operators,
        now: at(4),
    };
    op!(m.end_all_sessions(act()));
    op!(m.end_session(act(), session(1).id));
    let replaced = ReplacePassword { act: act(), password: password("new"), mail: Some(mail(next())) };
    op!(m.replace_password(replaced));
    op!(m.find_profile_of_any(user_id(3)));
    op!(m.clear_profile(act()));
    op!(m.delete_profile(act()));
    let request = request(3, Purpose::ResetPassword, code(3));
    op!(m.send_email_code(SendEmailCode { user_id: user_id(3), request, event: event(next()) }));
    op!(m.lift_limits(&account_limits(), act()));
}
