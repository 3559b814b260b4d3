//! Requests for a mail with a sign-in code and, if requested, a sign-in link.

use latchkey_domain::codes::Purpose;
use latchkey_domain::email_verification::may_receive_code;
use latchkey_domain::mail_kind::MailKind;
use latchkey_store::{LimitedResult, NewCode, RequestSignInMail};

use super::code_lanes::{Asked, LaneReads, mail_of_code};
use super::{request_code, takes};
use crate::form::{Decided, Executor, Script};
use crate::tables::outbox::{self, Address};
use crate::tables::{link_tokens, undo_tokens, users};

/// Writes a code, a link and their mail. If no mail may be sent to the address, the same statements
/// write rows that are never sent, so that response times are equal.
pub(crate) async fn request<E: Executor>(engine: &E, request: RequestSignInMail) -> LimitedResult<()> {
    let (key, now) = (request.email.key(), request.now);
    let mut reads = Script::default();
    let limit = takes::take(&mut reads, &request.takes, now);
    users::lock_by_key_at_constant_cost(&mut reads, key);
    let found = users::find_by_key_at_constant_cost(&mut reads, key);
    let reservation = undo_tokens::find_reservation(&mut reads, key, None, now);
    let lane = LaneReads::find(&mut reads, key, Purpose::SignIn, &request.code.lane);
    engine
        .transact(reads, move |results| {
            if let Some(limited) = takes::limited(results, limit)? {
                return Ok(Decided::Return(Err(limited)));
            }
            let account = users::account_of_key(results, found, request.email.key())?;
            let is_free = request.is_sign_up_open && !undo_tokens::is_reserved(results, reservation)?;
            let address = match account.as_ref().map(|account| &account.user) {
                Some(user) if may_receive_code(Purpose::SignIn, user.email_verified, user.is_banned()) => {
                    Address::Of(user.id, &user.email)
                }
                None if is_free => Address::Unknown(&request.email),
                _ => Address::Decoy(request.email.key()),
            };
            let asked = lane.asked(results, &request.code, request.now)?;
            Ok(Decided::done(writes_of(&request, address, asked), Ok(())))
        })
        .await
}

fn writes_of(request: &RequestSignInMail, address: Address<'_>, asked: Asked) -> Script {
    let RequestSignInMail { email, code, link, mail, now, .. } = request;
    // A row that is never sent has no user, like the code for an address without an account, and is
    // never valid.
    let is_decoy = matches!(address, Address::Decoy(_));
    let code = NewCode { expires_at: if is_decoy { *now } else { code.expires_at }, ..code.clone() };
    let (key, owner) = (email.key().as_str(), address.user_id());
    let mut writes = Script::default();
    request_code::write_code(&mut writes, key, Purpose::SignIn, owner, (&code, asked), *now);
    link_tokens::supersede_links_in_lane(&mut writes, key, Purpose::SignIn, asked.lane, *now);
    if let Some(link) = link {
        link_tokens::create_sign_in_link(&mut writes, email, owner, asked.lane, link, *now);
    }
    outbox::write(&mut writes, &mail_of_code(&code, mail, asked), MailKind::SignIn, address, *now);
    writes
}
