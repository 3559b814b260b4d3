//! The step-up: a form whose act needs a recent proof of a factor is kept, and submitted again after the proof.

use std::sync::Arc;

use http::StatusCode;
use latchkey_domain::challenge::{ChallengeId, ChallengeKind};
use latchkey_pages::Form;
use latchkey_pages::console::views::{Confirm, Purpose};
use serde::{Deserialize, Serialize};

use super::confirm::{self, KIND, Question};
use super::guest::{Guest, Proved};
use super::kept::KeptForm;
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
#[derive(Serialize, Deserialize)]
struct Kept {
    challenge: String,
    form: KeptForm,
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
    let form = KeptForm::of(visit, visit.user_id().to_string(), visit.here(), fields)?;
    let kept = Kept { challenge: begun.id.expose(), form };
    let cancel = visit.path().to_owned();
    let text = visit.seal(begun.expires_at, kept)?;
    let view = view(visit, &begun.id, None, text, cancel).await?;
    visit.render(StatusCode::FORBIDDEN, &visit.frame(), &view)
}

/// Answers the challenge of a kept form.
pub(super) async fn answer(mut guest: Guest, mut fields: Fields, text: String) -> Outcome {
    let Some(session) = guest.session.clone() else { return Err(to_sign_in(&guest, "/console")) };
    let kept = guest.open::<Kept>(&text).filter(|kept| kept.form.user_id == session.user().id.to_string());
    let kept = kept.ok_or_else(PageError::stale_form)?;
    let id = ChallengeId::parse(&kept.challenge).ok_or_else(PageError::stale_form)?;
    let kind = confirm::kind(&guest)?;
    let cancel = kept.form.path().to_owned();
    if !fields.text(OTHER)?.is_empty() {
        let view = view(&guest, &id, kind, text, cancel).await?;
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
            kept.form.send_again(&guest, Proved(Arc::new(session)))
        }
        Err(rejection) => {
            let rejection = confirm::refused(&guest, rejection, &id, kind).await?;
            let view = view(&guest, &id, kind, text, cancel).await?;
            guest.refuse(rejection, &view)
        }
    }
}

async fn view(
    guest: &Guest,
    id: &ChallengeId,
    kind: Option<ChallengeKind>,
    text: String,
    cancel: String,
) -> Result<Confirm, Stop> {
    let form = |kind: ChallengeKind| -> Form { guest.form_with(confirm::PATH, &[(KIND, kind.as_str())]) };
    let question = Question { id, kind, purpose: Purpose::StepUp, start: cancel.clone(), cancel };
    Ok(Confirm { kept: Some(text), ..question.view(guest, &form).await? })
}
