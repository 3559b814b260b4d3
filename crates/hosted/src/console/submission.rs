//! A form of the console, with or without a file, sent from our own page in the browser that was shown it.

use axum::RequestExt;
use axum::extract::{FromRequest, Request};
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::Act;
use latchkey_http::body::{FormBody, UploadForm, UploadedFile};
use latchkey_http::query::Query;

use super::guest::Guest;
use super::state::Console;
use super::step_up;
use super::stop::Stop;
use super::visit::ConsoleVisit;
use crate::errors::PageError;
use crate::fields::Fields;
use crate::form_token;
use crate::submission::is_own;

/// Most fields of a form: a list of accounts has one for each.
const MOST_FIELDS: usize = 256;

/// A form of an operator who is signed in, which passed the checks of origin and form token. Otherwise 403, and nothing is
/// done.
pub(crate) struct ConsoleSubmission {
    pub(crate) visit: ConsoleVisit,
    pub(crate) fields: Fields,
}

/// A form that may have a file, with the same checks.
pub(crate) enum ConsoleUpload {
    /// The form; without a file if none was chosen, or if the form was kept over a step-up.
    Read(ConsoleSubmission, Option<UploadedFile>),
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
        let guest = request.extract_parts_with_state::<Guest, _>(console).await?;
        let fields = checked(request, console, &guest).await?;
        Ok(Self { guest, fields })
    }
}

impl FromRequest<Console> for ConsoleSubmission {
    type Rejection = Stop;

    async fn from_request(mut request: Request, console: &Console) -> Result<Self, Stop> {
        let visit = request.extract_parts_with_state::<ConsoleVisit, _>(console).await?;
        let fields = checked(request, console, &visit).await?;
        Ok(Self { visit, fields })
    }
}

impl FromRequest<Console> for ConsoleUpload {
    type Rejection = Stop;

    async fn from_request(mut request: Request, console: &Console) -> Result<Self, Stop> {
        if !UploadForm::is_declared(request.headers()) {
            let submission = ConsoleSubmission::from_request(request, console).await?;
            return Ok(Self::Read(submission, None));
        }
        let visit = request.extract_parts_with_state::<ConsoleVisit, _>(console).await?;
        if !is_own(request.headers(), &console.settings) {
            return Err(PageError::stale_form().into());
        }
        match UploadForm::from_request(request, console).await {
            Ok(UploadForm { fields, file }) => {
                let fields = owned(fields, &visit)?;
                Ok(Self::Read(ConsoleSubmission { visit, fields }, file))
            }
            Err(error) if error.code == "PAYLOAD_TOO_LARGE" => Ok(Self::TooLarge(visit)),
            Err(error) => Err(error.into()),
        }
    }
}

/// Reads a form, if it comes from our own page in this browser and session.
async fn checked(request: Request, console: &Console, guest: &Guest) -> Result<Fields, Stop> {
    if !is_own(request.headers(), &console.settings) {
        return Err(PageError::stale_form().into());
    }
    let FormBody(form) = FormBody::up_to(MOST_FIELDS, request, console).await?;
    owned(form, guest)
}

/// Returns the fields of a form whose token is right.
fn owned(form: Query, guest: &Guest) -> Result<Fields, Stop> {
    let token = form.optional(form_token::FIELD)?;
    if !token.is_some_and(|token| guest.owns(&token)) {
        return Err(PageError::stale_form().into());
    }
    Ok(Fields::new(form))
}

impl ConsoleSubmission {
    /// Begins an act: refuses what the operator may not do with the 403 page and an audit event. An act that needs a recent
    /// proof of a factor asks for it first; the form is kept, and submitted again after the proof.
    pub(crate) async fn must(&self, act: Act) -> Result<(), Stop> {
        self.visit.must(act).await?;
        if !act.needs_recent_factor() {
            return Ok(());
        }
        self.must_be_recent().await
    }

    /// Asks for a recent proof of a factor, if one of the accounts is an operator's, and an act on those needs it. Who may not
    /// do it is refused by the use case.
    pub(crate) async fn must_be_recent_for_operators(
        &self,
        act: Act,
        accounts: &[UserId],
    ) -> Result<(), Stop> {
        if !act.needs_recent_factor() || !self.visit.may(act) {
            return Ok(());
        }
        let operators = self.visit.service().operators.list().await?;
        if operators.iter().any(|operator| accounts.contains(&operator.user.id)) {
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
