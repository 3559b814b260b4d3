//! A form of the console, with or without a file, sent from our own page in the browser that was shown it.

use axum::RequestExt;
use axum::extract::{FromRequest, Request};
use http::HeaderMap;
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::Act;
use latchkey_http::body::{FormBody, UploadForm, UploadedFile};
use latchkey_http::error::codes::PAYLOAD_TOO_LARGE;
use latchkey_http::query::Query;

use super::guest::Guest;
use super::kept::LeftOut;
use super::state::Console;
use super::stop::Stop;
use super::visit::{Arrival, ConsoleVisit};
use super::{late, step_up};
use crate::errors::PageError;
use crate::fields::Fields;
use crate::form_token;
use crate::submission::is_own;

/// Most fields of a form: a list of accounts has one for each.
pub(super) const MOST_FIELDS: usize = 256;

/// A form of an operator who is signed in, from our own origin. From another one it is 403, and nothing is recorded. Its
/// fields are read once the role permits the act and the form token is right.
pub(crate) struct Sent {
    pub(crate) visit: ConsoleVisit,
    fields: Fields,
    /// True if the form token is right.
    is_own: bool,
}

/// A form whose act the operator may do, and that passed the checks of origin and form token.
pub(crate) struct ConsoleSubmission {
    pub(crate) visit: ConsoleVisit,
    pub(crate) fields: Fields,
}

/// A form that may have a file, with the same checks.
pub(crate) enum ConsoleUpload {
    /// The form; without a file if none was chosen, or if the form was kept over a step-up.
    Read(Sent, Option<UploadedFile>),
    /// The file is too large. Nothing of the form was read, so its token was not checked: it may do nothing.
    TooLarge(ConsoleVisit),
}

/// A form before the sign-in, with the same checks.
pub(super) struct GuestSubmission {
    pub(super) guest: Guest,
    pub(super) fields: Fields,
}

impl FromRequest<Console> for GuestSubmission {
    type Rejection = Stop;

    async fn from_request(mut request: Request, console: &Console) -> Result<Self, Stop> {
        must_be_own(request.headers(), console)?;
        let guest = request.extract_parts_with_state::<Guest, _>(console).await?;
        let FormBody(form) = FormBody::up_to(MOST_FIELDS, request, console).await?;
        if !has_token(&form, &guest)? {
            return Err(PageError::stale_form().into());
        }
        Ok(Self { guest, fields: Fields::new(form) })
    }
}

impl FromRequest<Console> for Sent {
    type Rejection = Stop;

    async fn from_request(mut request: Request, console: &Console) -> Result<Self, Stop> {
        must_be_own(request.headers(), console)?;
        let visit = match request.extract_parts_with_state(console).await? {
            Arrival::SignedIn(visit) => *visit,
            Arrival::Guest(guest, here) => return Err(late::ask(request, console, *guest, &here).await),
        };
        visit.must_open_place().await?;
        let left_out = request.extensions().get::<LeftOut>().cloned();
        let FormBody(form) = FormBody::up_to(MOST_FIELDS, request, console).await?;
        let mut sent = Self::of(visit, form)?;
        let LeftOut(names) = left_out.unwrap_or_default();
        for name in late::SECRETS.into_iter().filter(|secret| names.iter().any(|name| name == secret)) {
            sent.fields.lack(name);
        }
        Ok(sent)
    }
}

impl FromRequest<Console> for ConsoleUpload {
    type Rejection = Stop;

    async fn from_request(mut request: Request, console: &Console) -> Result<Self, Stop> {
        if !UploadForm::is_declared(request.headers()) {
            return Ok(Self::Read(Sent::from_request(request, console).await?, None));
        }
        must_be_own(request.headers(), console)?;
        let visit = match request.extract_parts_with_state(console).await? {
            Arrival::SignedIn(visit) => *visit,
            Arrival::Guest(guest, _) => return Err(late::lost(&guest)),
        };
        visit.must_open_place().await?;
        match UploadForm::from_request(request, console).await {
            Ok(UploadForm { fields, file }) => Ok(Self::Read(Sent::of(visit, fields)?, file)),
            Err(error) if error.code == PAYLOAD_TOO_LARGE.name => Ok(Self::TooLarge(visit)),
            Err(error) => Err(error.into()),
        }
    }
}

/// Refuses a form from another origin, before anything is read: it does not even keep a session alive.
fn must_be_own(headers: &HeaderMap, console: &Console) -> Result<(), PageError> {
    if is_own(headers, &console.settings) { Ok(()) } else { Err(PageError::stale_form()) }
}

/// True if the token of a form is right.
fn has_token(form: &Query, guest: &Guest) -> Result<bool, PageError> {
    let token = form.optional(form_token::FIELD)?;
    Ok(token.is_some_and(|token| guest.owns(&token)))
}

impl Sent {
    fn of(visit: ConsoleVisit, form: Query) -> Result<Self, PageError> {
        let is_own = has_token(&form, &visit)?;
        Ok(Self { visit, fields: Fields::new(form), is_own })
    }

    /// Returns the text of the field that names the act.
    pub(crate) fn act(&self, field: &str) -> Result<String, PageError> {
        self.fields.text(field)
    }

    /// Refuses what the operator may not do with the 403 page and an audit event, whatever the form token; then a form
    /// whose token is wrong.
    pub(crate) async fn permitted(self, act: Act) -> Result<ConsoleSubmission, Stop> {
        let Self { visit, fields, is_own } = self;
        visit.must(act).await?;
        if is_own {
            Ok(ConsoleSubmission { visit, fields })
        } else {
            Err(visit.stop(PageError::stale_form()))
        }
    }

    /// Begins an act: that it is permitted, and recently proved if it needs that.
    pub(crate) async fn must(self, act: Act) -> Result<ConsoleSubmission, Stop> {
        let submission = self.permitted(act).await?;
        submission.must(act).await?;
        Ok(submission)
    }
}

impl ConsoleSubmission {
    /// Refuses what the operator may not do with the 403 page and an audit event. An act that needs a recent proof of a
    /// factor asks for it first; the form is kept, and submitted again after the proof.
    pub(crate) async fn must(&self, act: Act) -> Result<(), Stop> {
        self.visit.must(act).await?;
        if !act.needs_recent_factor() {
            return Ok(());
        }
        self.must_be_recent().await
    }

    /// Asks for a recent proof of a factor if the act needs one and an account concerned is protected. Does nothing if the
    /// role lacks the act: the use case refuses it.
    pub(crate) async fn must_be_recent_for_operators(
        &self,
        act: Act,
        accounts: &[UserId],
    ) -> Result<(), Stop> {
        if !act.needs_recent_factor() || !self.visit.may(act) {
            return Ok(());
        }
        let protected = self.visit.service().operators.list_protected().await?;
        if accounts.iter().any(|id| protected.contains_key(id)) {
            self.must_be_recent().await?;
        }
        Ok(())
    }

    /// Asks for a recent proof of a factor, for an act that needs it in a special case alone.
    pub(crate) async fn must_be_recent(&self) -> Result<(), Stop> {
        if self.visit.service().console.has_recent_factor(self.visit.session()) {
            return Ok(());
        }
        Err(step_up::ask(&self.visit, &self.fields).await)
    }
}
