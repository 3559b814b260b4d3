//! `/console/confirm`: a factor, as the second step of a sign-in, or as the step-up that a kept form waits for.

use axum::routing::get;
use http::HeaderMap;
use latchkey_domain::challenge::{ChallengeId, ChallengeKind};
use latchkey_pages::Form;
use latchkey_pages::console::views::{Confirm, ConfirmStep, ConfirmWay, Purpose};
use latchkey_service::Error;
use latchkey_service::challenges::ShownChallenge;
use latchkey_service::console::ConsoleEntrance;
use latchkey_service::refusal::INVALID_CHALLENGE;
use latchkey_service::sessions::Challenge;
use serde::{Deserialize, Serialize};

use super::carried::{self, InCookie};
use super::guest::{Guest, href};
use super::page::Page;
use super::rejection::Rejection;
use super::stop::{Outcome, Stop};
use super::submission::GuestSubmission;
use super::{late, sign_in, step_up};
use crate::auth::challenge;
use crate::ceremony;
use crate::errors::PageError;
use crate::fields::Fields;
use crate::problem;
use crate::sealed::Carried;

pub(super) const PATH: &str = "/console/confirm";
/// Query parameter with the kind of the answer.
pub(super) const KIND: &str = "kind";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

/// The challenge of a sign-in, and the page that it leads to.
#[derive(Serialize, Deserialize)]
struct Asked {
    challenge: String,
    next: String,
}

impl Carried for Asked {
    const KIND: &'static str = "console-asked";
}

impl InCookie for Asked {
    const COOKIE: &'static str = "latchkey_operator_asked";
}

/// Sends the browser to the challenge of a sign-in. A cookie carries its id. A kept form is too large for one, so its page
/// is shown at once and carries it along.
pub(super) async fn ask(
    mut guest: Guest,
    challenge: &Challenge,
    next: String,
    kept: Option<String>,
) -> Outcome {
    ceremony::prepare(guest.service(), &challenge.id, &challenge.kinds).await?;
    let asked = Asked { challenge: challenge.id.expose(), next };
    let lifetime = challenge.expires_at.since(guest.now);
    carried::keep(&mut guest, lifetime, asked)?;
    if kept.is_none() {
        return guest.go_to(PATH);
    }
    let view = view(&guest, &challenge.id, kept).await?;
    guest.page(&view)
}

async fn show(guest: Guest, headers: HeaderMap) -> Outcome {
    let Some((id, _)) = asked(&guest, &headers) else { return guest.go_to(sign_in::PATH) };
    let view = view(&guest, &id, None).await?;
    guest.page(&view)
}

async fn act(headers: HeaderMap, GuestSubmission { guest, mut fields }: GuestSubmission) -> Outcome {
    let (text, kept) = (step_up::carried(&guest, &fields)?, late::carried(&guest, &fields)?);
    // A late form that expired meanwhile is neither: the sign-in goes on without it.
    let is_step_up = guest.session.is_some() || step_up::is_kept(&guest, &text);
    if !text.is_empty() && kept.is_none() && is_step_up {
        return step_up::answer(guest, fields, text).await;
    }
    let Some((id, next)) = asked(&guest, &headers) else { return guest.go_to(sign_in::PATH) };
    if !fields.text(step_up::OTHER)?.is_empty() {
        let kind = kind(&guest)?.ok_or_else(PageError::bad_flow)?;
        if kept.is_none() {
            return guest.go_to(&href(PATH, &[(KIND, kind.as_str())]));
        }
        let view = view(&guest, &id, kept).await?;
        return guest.page(&view);
    }
    match answer(&guest, &mut fields, &id).await {
        Ok(entrance) => sign_in::enter(guest, entrance, next, kept).await,
        Err(rejection) => {
            let rejection = refused(&guest, rejection, &id, kind(&guest)?).await?;
            let view = view(&guest, &id, kept).await?;
            guest.refuse(rejection, &view)
        }
    }
}

async fn answer(
    guest: &Guest,
    fields: &mut Fields,
    id: &ChallengeId,
) -> Result<ConsoleEntrance, problem::Rejection> {
    let kind = kind(guest)?.ok_or_else(PageError::bad_flow)?;
    let answer = challenge::read(fields, id, kind)?;
    Ok(guest.service().console.answer(answer, guest.sign_in(), &guest.to_client()).await?)
}

/// Returns the challenge that this browser is asked, and the page that it leads to.
fn asked(guest: &Guest, headers: &HeaderMap) -> Option<(ChallengeId, String)> {
    let asked = carried::find::<Asked>(guest, headers)?;
    Some((ChallengeId::parse(&asked.challenge)?, asked.next))
}

/// Removes the challenge from this browser, because it is answered.
pub(super) fn forget(guest: &mut Guest) -> Result<(), PageError> {
    carried::forget::<Asked>(guest)
}

/// Returns the kind of answer that the query names.
pub(super) fn kind(guest: &Guest) -> Result<Option<ChallengeKind>, PageError> {
    Ok(guest.query.optional(KIND)?.as_deref().and_then(ChallengeKind::parse))
}

/// Words a refused answer after its kind. A wrong answer by passkey used its options up, so new ones are made.
pub(super) async fn refused(
    guest: &Guest,
    rejection: problem::Rejection,
    id: &ChallengeId,
    kind: Option<ChallengeKind>,
) -> Result<Rejection, Stop> {
    let Some(kind) = kind else { return Ok(rejection.into()) };
    if kind == ChallengeKind::Passkey {
        ceremony::prepare(guest.service(), id, &[kind]).await?;
    }
    Ok(challenge::worded(rejection, kind).into())
}

async fn view(guest: &Guest, id: &ChallengeId, kept: Option<String>) -> Result<Confirm, Stop> {
    let form = |kind: ChallengeKind| guest.form_with(PATH, &[(KIND, kind.as_str())]);
    let question = Question {
        id,
        kind: kind(guest)?,
        purpose: Purpose::SignIn,
        start: sign_in::PATH.to_owned(),
        cancel: sign_in::PATH.to_owned(),
    };
    Ok(Confirm { kept, ..question.view(guest, &form).await? })
}

/// A challenge as a page shows it.
pub(super) struct Question<'a> {
    pub(super) id: &'a ChallengeId,
    /// Kind of answer that the person chose; `None` for the strongest.
    pub(super) kind: Option<ChallengeKind>,
    pub(super) purpose: Purpose,
    /// Page that leads to a new challenge.
    pub(super) start: String,
    pub(super) cancel: String,
}

impl Question<'_> {
    /// Builds the view. `form` returns the form of a kind of answer.
    pub(super) async fn view(
        self,
        guest: &Guest,
        form: &(dyn Fn(ChallengeKind) -> Form + Sync),
    ) -> Result<Confirm, Stop> {
        let shown = match guest.service().console.inspect(self.id).await {
            Ok(shown) => Some(shown),
            Err(Error::Refused(refusal)) if *refusal == INVALID_CHALLENGE => None,
            Err(error) => return Err(error.into()),
        };
        let step = shown.map(|shown| self.step(guest, shown, form)).transpose()?.flatten();
        let (step, others) = step.unwrap_or((ConfirmStep::Over { start: self.start }, Vec::new()));
        Ok(Confirm {
            purpose: self.purpose,
            step,
            others,
            kept: None,
            lacks_file: false,
            cancel: self.cancel,
        })
    }

    fn step(
        &self,
        guest: &Guest,
        mut shown: ShownChallenge,
        form: &dyn Fn(ChallengeKind) -> Form,
    ) -> Result<Option<(ConfirmStep, Vec<ConfirmWay>)>, PageError> {
        let passkey = shown.passkey_options.take().filter(|_| guest.console.has_passkeys());
        shown.kinds.retain(|kind| *kind != ChallengeKind::Passkey || passkey.is_some());
        let named = self.kind.filter(|kind| shown.kinds.contains(kind));
        let Some(kind) = named.or(shown.kinds.first().copied()) else { return Ok(None) };
        let email = shown.user.email.as_typed().to_owned();
        let step = match (kind, passkey) {
            (ChallengeKind::Passkey, Some(options)) => {
                ConfirmStep::Passkey { passkey: ceremony::answer(form(kind), options)? }
            }
            (ChallengeKind::RecoveryCode, _) => ConfirmStep::RecoveryCode { form: form(kind) },
            (ChallengeKind::Password, _) => ConfirmStep::Password { form: form(kind), email },
            _ => ConfirmStep::Totp { form: form(kind) },
        };
        let others = shown.kinds.iter().filter(|other| **other != kind);
        let others = others.map(|other| ConfirmWay { kind: other.as_str(), form: form(*other) });
        Ok(Some((step, others.collect())))
    }
}
