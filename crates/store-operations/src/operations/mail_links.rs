//! Operations on mailed links: inspection, and verification of the email address.

use latchkey_domain::codes::Purpose;
use latchkey_domain::email_verification::{Verification, VerifiedFrom};
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::Take;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;
use latchkey_store::{
    Browser, Consent, Entry, LimitedResult, LinkState, LinkStatus, NewMail, OpenLink, OpenedLink,
    StoreResult, TokenAttempt, VerifyOutcome,
};

use super::guards::take_and_read;
use super::prove_mailbox::{Proven, prove};
use super::refresh::allows_refresh;
use super::takes;
use super::verify_code::{enter_verified, side_of_caller};
use crate::form::{Decided, Executor, Results, Script, Slot};
use crate::tables::link_tokens::{self, Token, TokenKind};
use crate::tables::users::Account;
use crate::tables::{audit_events, codes, profiles, sessions, sign_up_attempts};

/// Handles of the statements that read a presented token, its account and its profile.
#[derive(Clone, Copy)]
pub(crate) struct TokenSlots {
    token: Slot,
    profile: Slot,
}

impl TokenSlots {
    /// Adds the statements that lock the row of a token's user, and read token, account and profile.
    pub(crate) fn lock(reads: &mut Script, hash: TokenHash) -> Self {
        link_tokens::lock_user(reads, hash);
        Self { token: link_tokens::find_token(reads, hash), profile: link_tokens::find_profile(reads, hash) }
    }

    pub(crate) fn token(self, results: &Results<'_>, purpose: Purpose) -> StoreResult<Option<Token>> {
        link_tokens::token(results, self.token, purpose)
    }

    /// Combines the account of the token with its profile, as [`prove`] needs them.
    pub(crate) fn proven(self, results: &Results<'_>, account: Account) -> StoreResult<Proven> {
        Ok(Proven { account, profile: profiles::profile(results, self.profile)? })
    }

    fn verify_link(self, results: &Results<'_>) -> StoreResult<Option<Token>> {
        Ok(self.token(results, Purpose::VerifyEmail)?.filter(|token| token.kind == TokenKind::Link))
    }
}

/// Takes tokens from the rate limits, and reads a link or reset token of this purpose, valid or not.
async fn find<E: Executor>(
    engine: &E,
    hash: TokenHash,
    purpose: Purpose,
    takes: &[Take],
    now: Timestamp,
) -> LimitedResult<Option<Token>> {
    let mut script = Script::default();
    let limit = takes::take(&mut script, takes, now);
    let found = link_tokens::find_token(&mut script, hash);
    let finish = move |results: &Results<'_>| {
        Ok(match takes::limited(results, limit)? {
            Some(limited) => Err(limited),
            None => Ok(link_tokens::token(results, found, purpose)?),
        })
    };
    take_and_read(engine, script, finish).await
}

/// Returns the state of a mailed link. Changes nothing, except that it takes tokens from the rate limits.
pub(crate) async fn inspect<E: Executor>(
    engine: &E,
    hash: TokenHash,
    purpose: Purpose,
    takes: &[Take],
    now: Timestamp,
) -> LimitedResult<OpenedLink> {
    let found = find(engine, hash, purpose, takes, now).await?;
    Ok(found.map(|token| match token {
        Some(token) if token.kind == TokenKind::Link => {
            OpenedLink::Known(LinkState { status: token.facts.status(now), redirect_to: token.redirect_to })
        }
        _ => OpenedLink::Unknown,
    }))
}

/// Verifies an email address by the link that a browser opens, unless the owner must confirm on the page first.
pub(crate) async fn open<E: Executor>(engine: &E, link: OpenLink) -> LimitedResult<OpenedLink> {
    let now = link.now;
    let mut reads = Script::default();
    let limit = takes::take(&mut reads, &link.takes, now);
    let presented = TokenSlots::lock(&mut reads, link.token);
    let cookies = Cookies::find(&mut reads, &link);
    engine
        .transact(reads, move |results| {
            if let Some(limited) = takes::limited(results, limit)? {
                return Ok(Decided::Return(Err(limited)));
            }
            let mut writes = Script::default();
            let Some(token) = presented.verify_link(results)? else {
                return Ok(Decided::done(writes, Ok(OpenedLink::Unknown)));
            };
            let status = token.facts.status(now);
            if status == LinkStatus::Good && !token.account.user.email_verified {
                let id = token.account.user.id;
                let side = cookies.side(results, &link, id)?;
                if link.consent == Consent::Unasked && token.account.standing().needs_confirmation(side) {
                    let redirect_to = token.redirect_to;
                    return Ok(Decided::done(writes, Ok(OpenedLink::Asks { redirect_to })));
                }
                let proven = presented.proven(results, token.account)?;
                verify_with(&mut writes, (link.token, &proven, side), link.mail.as_ref(), now);
                audit_events::record_of(&mut writes, link.event.clone(), id)?;
            }
            let known = OpenedLink::Known(LinkState { status, redirect_to: token.redirect_to });
            Ok(Decided::done(writes, Ok(known)))
        })
        .await
}

/// Handles of the statements that check a browser's refresh cookie and sign-up cookie.
#[derive(Clone, Copy)]
struct Cookies {
    session: Option<Slot>,
    sign_up: Option<Slot>,
}

impl Cookies {
    fn find(reads: &mut Script, link: &OpenLink) -> Self {
        let Browser { refresh, sign_up } = &link.browser;
        Self {
            session: refresh.as_ref().map(|refresh| sessions::find_by_family(reads, &refresh.family)),
            sign_up: sign_up
                .as_ref()
                .map(|browser| sign_up_attempts::find_browser(reads, link.token, browser, link.now)),
        }
    }

    /// Returns `Inside` if the browser that opened the link sent a valid refresh cookie of the account or the cookie
    /// of its sign-up, otherwise `Outside`.
    fn side(self, results: &Results<'_>, link: &OpenLink, account: UserId) -> StoreResult<VerifiedFrom> {
        if let Some(sign_up) = self.sign_up
            && results.any(sign_up)?
        {
            return Ok(VerifiedFrom::Inside);
        }
        if let (Some(session), Some(refresh)) = (self.session, &link.browser.refresh)
            && let Some(found) = results.find(session, sessions::read_refreshable)?
            && found.user.id == account
            && allows_refresh(&found, refresh, link.now)
        {
            return Ok(VerifiedFrom::Inside);
        }
        Ok(VerifiedFrom::Outside)
    }
}

/// Verifies an email address by a link's token sent to the API, and opens a session. The time of the verification is
/// the creation time of the session.
pub(crate) async fn verify<E: Executor>(
    engine: &E,
    attempt: TokenAttempt,
    entry: Entry,
) -> LimitedResult<VerifyOutcome> {
    let TokenAttempt { token: hash, email, caller, takes, event } = attempt;
    let now = entry.session.created_at;
    let mut reads = Script::default();
    let limit = takes::take(&mut reads, &takes, now);
    let presented = TokenSlots::lock(&mut reads, hash);
    let caller = caller.map(|caller| sessions::find_owner(&mut reads, caller, now));
    let is_of = move |user: &User| email.as_ref().is_none_or(|email| email == user.email.key());
    engine
        .transact(reads, move |results| {
            if let Some(limited) = takes::limited(results, limit)? {
                return Ok(Decided::Return(Err(limited)));
            }
            let mut writes = Script::default();
            let is_news = |token: &Token| {
                let user = &token.account.user;
                token.facts.status(now) == LinkStatus::Good && !user.email_verified && is_of(user)
            };
            let Some(token) = presented.verify_link(results)?.filter(is_news) else {
                return Ok(Decided::done(writes, Ok(VerifyOutcome::Refused)));
            };
            let id = token.account.user.id;
            let side = side_of_caller(results, caller, id)?;
            let proven = presented.proven(results, token.account)?;
            let mail = entry.session.account_cleared.as_ref();
            verify_with(&mut writes, (hash, &proven, side), mail, now);
            let opening = enter_verified(&mut writes, &proven, &entry, event.clone())?;
            Ok(Decided::write(writes, move |results| {
                Ok(Ok(VerifyOutcome::Entered(opening.entered(results)?)))
            }))
        })
        .await
}

fn verify_with(
    writes: &mut Script,
    (hash, proven, side): (TokenHash, &Proven, VerifiedFrom),
    mail: Option<&NewMail>,
    now: Timestamp,
) {
    codes::delete_code(writes, proven.account.user.email.key().as_str(), Purpose::VerifyEmail);
    link_tokens::use_token(writes, hash, now);
    prove(writes, proven, Verification::Link(side), mail, now);
}
