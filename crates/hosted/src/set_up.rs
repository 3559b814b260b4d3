//! Secrets of new second factors, on their way to the page that shows them: the key of an authenticator app, and
//! recovery codes. A form makes them and leads to that page, so a sealed cookie carries them for ten minutes.

use std::time::Duration;

use latchkey_domain::factors::FactorId;
use latchkey_domain::ids::UserId;
use latchkey_domain::long_code::LongCode;
use latchkey_http::cookies::Cookie;
use latchkey_pages::Form;
use latchkey_pages::views::TotpSetup;
use latchkey_service::factors::BegunTotp;
use serde::{Deserialize, Serialize};

use crate::errors::PageError;
use crate::hosted::Cookies;
use crate::sealed::Carried;
use crate::visit::Visit;

/// Lifetime of the cookies: that of an authenticator app that is not confirmed.
const LIFETIME: Duration = Duration::from_mins(10);

/// An authenticator app that is not confirmed yet.
#[derive(Serialize, Deserialize)]
pub(crate) struct SetUp {
    /// The session or challenge in which the set-up was begun.
    owner: String,
    factor: String,
    secret: String,
    uri: String,
}

impl Carried for SetUp {
    const KIND: &'static str = "totp";
}

/// New recovery codes of an account.
#[derive(Serialize, Deserialize)]
struct Codes {
    /// Id of the user.
    owner: String,
    /// The codes, in groups.
    codes: Vec<String>,
}

impl Carried for Codes {
    const KIND: &'static str = "recovery-codes";
}

impl SetUp {
    /// Returns the set-up that this owner began in this browser.
    pub(crate) fn find(visit: &Visit, owner: &str) -> Option<Self> {
        read::<Self>(visit, |cookies| &cookies.totp).filter(|set_up| set_up.owner == owner)
    }

    pub(crate) fn factor(&self) -> Option<FactorId> {
        self.factor.parse().ok()
    }

    /// Returns the set-up as pages show it, the key in groups of four.
    pub(crate) fn shown(self, form: Form, back: String) -> TotpSetup {
        TotpSetup { form, uri: self.uri, secret: grouped(&self.secret), back }
    }
}

/// Returns the key of an authenticator app in groups of four.
pub(crate) fn grouped(secret: &str) -> String {
    let groups: Vec<_> = secret.as_bytes().chunks(4).map(String::from_utf8_lossy).collect();
    groups.join(" ")
}

/// Keeps an authenticator app for the page on which it is confirmed.
pub(crate) fn keep_totp(visit: &mut Visit, owner: &str, begun: &BegunTotp) -> Result<(), PageError> {
    let set_up = SetUp {
        owner: owner.to_owned(),
        factor: begun.factor_id.to_string(),
        secret: begun.secret.clone(),
        uri: begun.uri.clone(),
    };
    keep(visit, |cookies| &cookies.totp, set_up)
}

/// Keeps the recovery codes of a user for the page that shows them.
pub(crate) fn keep_codes(visit: &mut Visit, owner: UserId, codes: &[LongCode]) -> Result<(), PageError> {
    let codes = codes.iter().map(LongCode::expose_grouped).collect();
    keep(visit, |cookies| &cookies.codes, Codes { owner: owner.to_string(), codes })
}

/// Returns the recovery codes that the signed-in user made in this browser. Nobody else who sits at it gets to see them.
pub(crate) fn codes(visit: &Visit) -> Option<Vec<String>> {
    let owner = visit.session.as_ref()?.user().id.to_string();
    let made = read::<Codes>(visit, |cookies| &cookies.codes)?;
    (made.owner == owner).then_some(made.codes)
}

/// Removes the recovery codes from this browser.
pub(crate) fn forget_codes(visit: &mut Visit) -> Result<(), PageError> {
    let cookie = visit.hosted.cookies.codes.clear();
    visit.set_cookie(cookie)
}

fn keep<T: Carried>(visit: &mut Visit, cookie: fn(&Cookies) -> &Cookie, value: T) -> Result<(), PageError> {
    let sealed = visit.seal(visit.now.plus(LIFETIME), value)?;
    let cookie = cookie(&visit.hosted.cookies).set(&sealed, LIFETIME);
    visit.set_cookie(cookie)
}

fn read<T: Carried>(visit: &Visit, cookie: fn(&Cookies) -> &Cookie) -> Option<T> {
    let sealed = cookie(&visit.hosted.cookies).read(visit.headers())?;
    let opened = visit.open::<T>(sealed.expose())?;
    (opened.ends > visit.now).then_some(opened.value)
}
