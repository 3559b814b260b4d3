//! The step-up: a form whose act needs a recent proof of a factor is kept, and submitted again after the proof.

use std::iter;
use std::sync::Arc;

use http::StatusCode;
use latchkey_domain::challenge::{ChallengeId, ChallengeKind};
use latchkey_pages::Form;
use latchkey_pages::console::views::{Confirm, Purpose};
use serde::{Deserialize, Serialize};

use super::confirm::{self, KIND, Question};
use super::guest::{Guest, Proved};
use super::import;
use super::kept::{KEPT, KeptForm, LONGEST_KEPT};
use super::sign_in::to_sign_in;
use super::stop::{Outcome, Stop};
use super::visit::ConsoleVisit;
use crate::auth::challenge;
use crate::ceremony;
use crate::errors::PageError;
use crate::fields::Fields;
use crate::problem;
use crate::sealed::Carried;

/// Field of the buttons that ask for another kind of answer.
pub(super) const OTHER: &str = "other";

/// A form that waits for the answer to a challenge.
#[derive(Clone, Serialize, Deserialize)]
struct Kept {
    challenge: String,
    form: KeptForm,
    /// True if the form was too large to be kept. After the answer the operator fills it in again.
    #[serde(default)]
    is_dropped: bool,
}

impl Carried for Kept {
    const KIND: &'static str = "console-kept";
}

/// Begins the challenge and shows its page in place of the form's response.
pub(super) async fn ask(visit: &ConsoleVisit, fields: &Fields) -> Stop {
    match begin(visit, fields).await {
        Ok(page) => Stop::Instead(Box::new(page)),
        Err(stop) => stop,
    }
}

async fn begin(visit: &ConsoleVisit, fields: &Fields) -> Outcome {
    let client = visit.to_client();
    let begun = visit.service().console.begin_step_up(visit.session(), &client).await?;
    ceremony::prepare(visit.service(), &begun.id, &begun.kinds).await?;
    let form = KeptForm::of(visit.user_id().to_string(), visit.here(), fields)?;
    let mut kept = Kept { challenge: begun.id.expose(), form, is_dropped: false };
    let mut text = visit.seal(begun.expires_at, kept.clone())?;
    if text.len() > LONGEST_KEPT {
        kept = Kept { form: kept.form.without_fields(), is_dropped: true, ..kept };
        text = visit.seal(begun.expires_at, kept.clone())?;
    }
    let view = view(visit, &begun.id, None, &kept, text).await?;
    visit.render(StatusCode::FORBIDDEN, &visit.frame(), &view)
}

/// Returns the sealed form that an answer carries, in a field or in its address; empty without one.
pub(super) fn carried(guest: &Guest, fields: &Fields) -> Result<String, PageError> {
    let text = fields.text(KEPT)?;
    if text.is_empty() { Ok(guest.query.optional(KEPT)?.unwrap_or_default()) } else { Ok(text) }
}

/// True if a form is one that waits for a step-up.
pub(super) fn is_kept(guest: &Guest, text: &str) -> bool {
    guest.open::<Kept>(text).is_some()
}

/// Answers the challenge of a kept form.
pub(super) async fn answer(mut guest: Guest, mut fields: Fields, text: String) -> Outcome {
    let Some(session) = guest.session.clone() else { return Err(to_sign_in(&guest, "/console")) };
    let kept = guest.open::<Kept>(&text).filter(|kept| kept.form.user_id == session.user().id.to_string());
    let kept = kept.ok_or_else(PageError::stale_form)?;
    let id = ChallengeId::parse(&kept.challenge).ok_or_else(PageError::stale_form)?;
    let kind = confirm::kind(&guest)?;
    if !fields.text(OTHER)?.is_empty() {
        let view = view(&guest, &id, kind, &kept, text).await?;
        return guest.page(&view);
    }
    let client = guest.to_client();
    let proved = match challenge::read(&mut fields, &id, kind.ok_or_else(PageError::bad_flow)?) {
        Ok(answer) => {
            let proved = guest.service().console.step_up(answer, &session, &client).await;
            proved.map_err(problem::Rejection::from)
        }
        Err(rejection) => Err(rejection),
    };
    match proved {
        Ok(renewed) => {
            let session = guest.renew(&renewed).await?;
            if kept.is_dropped {
                return guest.go_to(kept.form.path());
            }
            kept.form.send_again(&guest, Proved(Arc::new(session)))
        }
        Err(rejection) => {
            let rejection = confirm::refused(&guest, rejection, &id, kind).await?;
            let view = view(&guest, &id, kind, &kept, text).await?;
            guest.refuse(rejection, &view)
        }
    }
}

async fn view(
    guest: &Guest,
    id: &ChallengeId,
    kind: Option<ChallengeKind>,
    kept: &Kept,
    text: String,
) -> Result<Confirm, Stop> {
    // A page with a sealed form in a field says that what was entered is kept.
    let in_address = Some((KEPT, text.as_str())).filter(|_| kept.is_dropped);
    let form = |kind: ChallengeKind| -> Form {
        let parameters: Vec<_> = iter::once((KIND, kind.as_str())).chain(in_address).collect();
        guest.form_with(confirm::PATH, &parameters)
    };
    let cancel = kept.form.path().to_owned();
    let question = Question { id, kind, purpose: Purpose::StepUp, start: cancel.clone(), cancel };
    let confirm = question.view(guest, &form).await?;
    let lacks_file = import::new::has_file(&kept.form);
    Ok(Confirm { kept: (!kept.is_dropped).then_some(text), lacks_file, ..confirm })
}
