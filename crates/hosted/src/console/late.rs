//! A form that comes after the end of its session (WCAG 2.2.5): the sign-in takes the place of its response and carries
//! it along, and it is submitted again once the same operator is signed in.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::response::Response;
use http::StatusCode;
use latchkey_http::body::FormBody;
use latchkey_pages::console::views::SignIn;
use latchkey_service::sessions::ConsoleSignedIn;
use serde::{Deserialize, Serialize};

use super::guest::{Guest, Proved};
use super::kept::{KEPT, KeptForm, LONGEST_KEPT};
use super::sign_in::{self, to_sign_in};
use super::state::Console;
use super::stop::{Outcome, Stop};
use super::submission::MOST_FIELDS;
use super::users::csv;
use super::{export, users};
use crate::errors::PageError;
use crate::fields::Fields;
use crate::form_token;
use crate::sealed::Carried;

/// Time in which the operator can sign in and have the form sent.
const LIFETIME: Duration = Duration::from_mins(30);
/// Fields that are never kept: the operator types them again.
pub(super) const SECRETS: [&str; 3] = ["password", "new_password", "hash_config"];
/// Paths of forms that a file answers. None is kept: the browser would store the file and stay on the sign-in.
const FILES: [&str; 2] = [csv::PATH, export::PATH];

#[derive(Serialize, Deserialize)]
struct Late(KeptForm);

impl Carried for Late {
    const KIND: &'static str = "console-late";
}

/// Answers a form without a session, from our own origin: by the sign-in that keeps it, if this browser was shown it.
pub(super) async fn ask(request: Request, console: &Console, guest: Guest, here: &str) -> Stop {
    match keep(request, console, &guest, here).await {
        Ok(Some(page)) => Stop::Instead(Box::new(page)),
        Ok(None) => to_sign_in(&guest, &page_of(&guest, here)),
        Err(stop) => stop,
    }
}

/// Returns the page that shows a form. That of the list of users as a file has an address that cannot be opened; the list
/// has the same filters.
fn page_of(guest: &Guest, here: &str) -> String {
    match here.strip_prefix(csv::PATH) {
        Some(filters) => format!("{}{filters}", users::PATH),
        None => guest.path().to_owned(),
    }
}

/// Returns the page that keeps a form; `None` if it is not to be kept.
async fn keep(
    request: Request,
    console: &Console,
    guest: &Guest,
    here: &str,
) -> Result<Option<Response>, Stop> {
    if FILES.contains(&guest.path()) {
        return Ok(None);
    }
    let FormBody(form) = FormBody::up_to(MOST_FIELDS, request, console).await?;
    let token = form.optional(form_token::FIELD)?;
    let Some(user_id) = token.and_then(|token| guest.late_owner(&token)) else { return Ok(None) };
    let form = KeptForm::of(user_id, here, &Fields::new(form))?.without(&SECRETS);
    let kept = guest.seal(guest.now.plus(LIFETIME), Late(form))?;
    if kept.len() > LONGEST_KEPT {
        return lost_page(guest).map(Some);
    }
    let view = sign_in::view(guest, guest.path(), String::new(), Some(kept))?;
    guest.page_as(StatusCode::UNAUTHORIZED, &view).map(Some)
}

/// Answers a form with a file: nothing of it is read without a session, so the sign-in says that it is lost.
pub(super) fn lost(guest: &Guest) -> Stop {
    lost_page(guest).map_or_else(|stop| stop, |page| Stop::Instead(Box::new(page)))
}

fn lost_page(guest: &Guest) -> Outcome {
    let view = sign_in::view(guest, guest.path(), String::new(), None)?;
    guest.page_as(StatusCode::UNAUTHORIZED, &SignIn { is_lost: true, ..view })
}

/// Returns the sealed form that a form of the sign-in carries; `None` if it carries none, or one that waits for a step-up.
pub(super) fn carried(guest: &Guest, fields: &Fields) -> Result<Option<String>, PageError> {
    let text = fields.text(KEPT)?;
    Ok(Some(text).filter(|text| guest.open::<Late>(text).is_some()))
}

/// Goes on after the sign-in: submits the form again if its operator signed in, else opens the page that was wanted.
pub(super) async fn go_on(
    mut guest: Guest,
    signed_in: &ConsoleSignedIn,
    kept: Option<String>,
    next: &str,
) -> Outcome {
    let form = kept.and_then(|text| guest.open::<Late>(&text));
    let own = form.filter(|Late(form)| form.user_id == signed_in.user.id.to_string());
    let Some(Late(form)) = own else {
        guest.take(signed_in)?;
        return guest.go_to(next);
    };
    let session = guest.renew(signed_in).await?;
    form.send_again(&guest, Proved(Arc::new(session)))
}
