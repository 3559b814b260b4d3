//! Requests for an email code or link, and invalidation of the codes and links of a user.

use latchkey_domain::codes::{CodeForm, Purpose};
use latchkey_domain::email_verification::may_receive_code;
use latchkey_domain::ids::UserId;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_store::{LimitedResult, NewCode, NewEmailCode, RequestEmailCode, SendEmailCode, SentEmailCode};

use super::code_lanes::{AskReads, Asked, mail_of};
use super::takes;
use crate::form::{Decided, Executor, Script};
use crate::tables::audit_events;
use crate::tables::codes::{self, CodeInLane};
use crate::tables::outbox::{self, Address};
use crate::tables::users::{self, Account};
use crate::tables::{challenges, email_changes, link_tokens, page_codes};

/// Writes a code or link and its mail. If no mail may be sent to the address, the same statements write rows that are
/// never sent, so that response times are equal.
pub(crate) async fn request<E: Executor>(engine: &E, request: RequestEmailCode) -> LimitedResult<()> {
    let mut reads = Script::default();
    let limit = takes::take(&mut reads, &request.takes, request.now);
    users::lock_by_key_at_constant_cost(&mut reads, &request.email);
    let found = users::find_by_key_at_constant_cost(&mut reads, &request.email);
    let lane = AskReads::find(&mut reads, &request.email, request.purpose, &request.email_code);
    engine
        .transact(reads, move |results| {
            if let Some(limited) = takes::limited(results, limit)? {
                return Ok(Decided::Return(Err(limited)));
            }
            let account = users::account_of_key(results, found, &request.email)?;
            let asked = lane.asked(results, &request.email_code, request.now)?;
            Ok(Decided::done(writes_of(&request, account.as_ref(), asked), Ok(())))
        })
        .await
}

/// Writes a code or link and its mail for an admin. Nothing is written if the account may not have the mail.
pub(crate) async fn send<E: Executor>(engine: &E, send: SendEmailCode) -> LimitedResult<SentEmailCode> {
    let SendEmailCode { user_id, request, event } = send;
    let mut reads = Script::default();
    let limit = takes::take(&mut reads, &request.takes, request.now);
    users::lock_by_id(&mut reads, user_id);
    let found = users::find_by_id(&mut reads, user_id);
    let lane = AskReads::find(&mut reads, &request.email, request.purpose, &request.email_code);
    engine
        .transact(reads, move |results| {
            if let Some(limited) = takes::limited(results, limit)? {
                return Ok(Decided::Return(Err(limited)));
            }
            let account = users::account(results, found)?;
            let account = account.filter(|account| *account.user.email.key() == request.email);
            if eligible(&request, account.as_ref()).is_none() {
                return Ok(Decided::Return(Ok(SentEmailCode::Refused)));
            }
            let asked = lane.asked(results, &request.email_code, request.now)?;
            let mut writes = writes_of(&request, account.as_ref(), asked);
            audit_events::record_of(&mut writes, event.clone(), user_id)?;
            Ok(Decided::done(writes, Ok(SentEmailCode::Sent)))
        })
        .await
}

/// Returns the user of an account that may have the mail.
fn eligible<'a>(request: &RequestEmailCode, account: Option<&'a Account>) -> Option<&'a User> {
    let may_receive = |user: &&User| may_receive_code(request.purpose, user.email_verified, user.is_banned());
    account.map(|account| &account.user).filter(may_receive)
}

fn writes_of(request: &RequestEmailCode, account: Option<&Account>, asked: Asked) -> Script {
    let RequestEmailCode { email, purpose, email_code, mail, now, .. } = request;
    let eligible = eligible(request, account);
    let address = eligible.map_or(Address::Decoy(email), |user| Address::Of(user.id, &user.email));
    let kind = match purpose {
        Purpose::VerifyEmail => MailKind::Verify,
        Purpose::ResetPassword => MailKind::Reset,
        Purpose::Reauthenticate => MailKind::Reauthenticate,
        Purpose::SignIn => MailKind::SignIn,
        Purpose::EmailChangeNew | Purpose::EmailChangeCurrent => MailKind::EmailChange,
    };
    let mut writes = Script::default();
    write(&mut writes, email.as_str(), *purpose, address.user_id(), (email_code, asked), *now);
    outbox::write(&mut writes, &mail_of(email_code, mail, asked), kind, address, *now);
    writes
}

/// Writes a link or code, and invalidates the one it replaces. An address has at most one valid link for each
/// purpose, and two valid codes: one for clients known to the account and one for all others. A link or code without
/// a user is never valid.
pub(crate) fn write(
    writes: &mut Script,
    key: &str,
    purpose: Purpose,
    user_id: Option<UserId>,
    (email_code, asked): (&NewEmailCode, Asked),
    now: Timestamp,
) {
    match email_code {
        NewEmailCode::Code(code) => {
            write_code(writes, key, purpose, user_id, (code, asked), now);
            link_tokens::supersede_links(writes, key, purpose, now);
        }
        NewEmailCode::Link { token, redirect_to } => {
            codes::delete_code(writes, key, purpose);
            link_tokens::supersede_links(writes, key, purpose, now);
            link_tokens::insert_link(writes, key, purpose, user_id, token, redirect_to.as_deref(), now);
        }
    }
}

/// Writes a code. It replaces the code of the same email address, purpose and group of clients (known to the account,
/// or others).
pub(crate) fn write_code(
    writes: &mut Script,
    key: &str,
    purpose: Purpose,
    user_id: Option<UserId>,
    (code, Asked { lane, form }): (&NewCode, Asked),
    now: Timestamp,
) {
    let mac = if form == CodeForm::Long { &code.long_mac } else { &code.mac };
    let code = CodeInLane { lane, form, mac, expires_at: code.expires_at };
    codes::save_code(writes, key, purpose, user_id, &code, now);
}

/// Invalidates all codes, link tokens and reset tokens of a user that are neither used nor expired, and deletes the
/// user's challenges, change of address, and codes by which an app gets a session from a page session.
pub(crate) fn end_all_of(writes: &mut Script, user_id: UserId, now: Timestamp) {
    email_changes::delete_of(writes, user_id);
    challenges::delete_all_of(writes, user_id);
    codes::delete_all_codes_of(writes, user_id);
    page_codes::delete_all_of(writes, user_id, now);
    link_tokens::supersede_all_tokens_of(writes, user_id, now);
}
