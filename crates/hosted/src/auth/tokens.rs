//! Tokens of mailed links, on their way to the press of a button. Each is sealed for this browser. One cookie has those of
//! several tabs, and the address of a page names its own, so a tab acts for what it shows.

use std::time::Duration;

use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_http::cookies::Cookie;

use crate::errors::PageError;
use crate::hosted::Cookies;
use crate::sealed::Carried;
use crate::visit::Visit;

/// Query parameter with the name of the token that a page is for.
pub(super) const OF: &str = "of";
/// Time for which a token is kept.
const LIFETIME: Duration = Duration::from_mins(10);
/// Most tokens in the cookie; the oldest goes first.
const MOST: usize = 4;
/// Divides the tokens in the cookie. No token has it.
const BETWEEN: &str = ".";

/// A token with what its page shows.
pub(super) trait Token: Carried {
    fn token(&self) -> &str;
    fn cookie(cookies: &Cookies) -> &Cookie;
}

/// A token that was found in the cookie.
pub(super) struct Found<T> {
    pub(super) value: T,
    pub(super) name: String,
    pub(super) ends: Timestamp,
}

/// Returns the token that the address names. Without a name, the newest that fits.
pub(super) fn find<T: Token>(visit: &Visit, fits: impl Fn(&T) -> bool) -> Option<Found<T>> {
    let named = visit.query.optional(OF).ok()?;
    let mut kept = kept::<T>(visit).into_iter().map(|(_, found)| found);
    match named {
        Some(named) => kept.find(|found| found.name == named),
        None => kept.find(|found| fits(&found.value)),
    }
}

/// Keeps a token for its page; returns its name.
pub(super) fn keep<T: Token>(visit: &mut Visit, value: T) -> Result<String, PageError> {
    let name = name_of(&value);
    let own = visit.seal(visit.now.plus(LIFETIME), value)?;
    let others = kept::<T>(visit).into_iter().filter(|(_, found)| found.name != name);
    let all: Vec<_> = [own].into_iter().chain(others.map(|(sealed, _)| sealed)).take(MOST).collect();
    set::<T>(visit, &all)?;
    Ok(name)
}

/// Removes the tokens that fit.
pub(super) fn forget<T: Token>(visit: &mut Visit, fits: impl Fn(&T) -> bool) -> Result<(), PageError> {
    let before = kept::<T>(visit);
    let left = before.into_iter().filter(|(_, found)| !fits(&found.value));
    let left: Vec<_> = left.map(|(sealed, _)| sealed).collect();
    set::<T>(visit, &left)
}

fn set<T: Token>(visit: &mut Visit, sealed: &[String]) -> Result<(), PageError> {
    let cookie = T::cookie(&visit.hosted.cookies);
    let cookie = if sealed.is_empty() { cookie.clear() } else { cookie.set(&sealed.join(BETWEEN), LIFETIME) };
    visit.set_cookie(cookie)
}

/// Returns the tokens of the cookie that are not too old, the newest first, each with its sealed text.
fn kept<T: Token>(visit: &Visit) -> Vec<(String, Found<T>)> {
    let Some(cookie) = T::cookie(&visit.hosted.cookies).read(visit.headers()) else { return Vec::new() };
    let open = |sealed: &str| {
        let opened = visit.open::<T>(sealed).filter(|opened| opened.ends > visit.now)?;
        let found = Found { name: name_of(&opened.value), value: opened.value, ends: opened.ends };
        Some((sealed.to_owned(), found))
    };
    cookie.expose().split(BETWEEN).filter_map(open).collect()
}

/// Names a token without showing it.
fn name_of<T: Token>(value: &T) -> String {
    hex::encode(&TokenHash::of(value.token().as_bytes()).as_bytes()[..8])
}
