//! `/auth/account/confirm`: the recent sign-in that sensitive changes ask for. A form that lacks it leads here by
//! [`refuse`]. After the answer the person is back at the form, with what was typed, and sends it again.

use axum::routing::get;
use http::StatusCode;
use latchkey_domain::challenge::{ChallengeId, ChallengeKind, ChallengePurpose};
use latchkey_domain::time::Timestamp;
use latchkey_pages::views::{Another, Challenge, ChallengeStep, CodeForm, SendAgain};
use latchkey_pages::{Fault, Form, Problem, View};
use latchkey_service::challenges::{Answer, Answered};
use latchkey_service::refusal::{AUTH_UNAUTHORIZED, INVALID_CHALLENGE, REAUTHENTICATION_REQUIRED};
use latchkey_service::sessions::PageSession;
use serde::{Deserialize, Serialize};

use super::{PATH as OVERVIEW, to_sign_in};
use crate::entrance;
use crate::errors::PageError;
use crate::fields::Fields;
use crate::flow;
use crate::page::Page;
use crate::problem::Rejection;
use crate::sealed::{Carried, Opened};
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};

const PATH: &str = "/auth/account/confirm";
/// Query parameter with the sealed [`Task`].
const TASK: &str = "task";
/// Query parameter of a form with the sealed [`Kept`].
const KEPT: &str = "kept";
/// Query parameter that says what a form does.
const ACT: &str = "act";
/// Query parameter with the kind of the answer.
const KIND: &str = "kind";
/// Fields that are kept for the way back. None of them is secret.
const KEPT_FIELDS: [&str; 5] = ["email", "name", "username", "bio", "avatar_url"];
/// Kinds of answers that this page takes.
const KINDS: [ChallengeKind; 4] =
    [ChallengeKind::Totp, ChallengeKind::RecoveryCode, ChallengeKind::Password, ChallengeKind::EmailCode];

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

/// The form that waits for the answer to a challenge.
#[derive(Clone, Serialize, Deserialize)]
struct Task {
    challenge: String,
    /// Kinds of answers that the challenge accepts, strongest first.
    kinds: Vec<String>,
    /// Path of the page with the form.
    path: String,
    /// What was typed, sealed.
    kept: String,
    /// Time of the last mail that was asked for, in milliseconds since 1970.
    mailed_at: Option<i64>,
}

/// What a person typed into a form.
#[derive(Serialize, Deserialize)]
struct Kept {
    user_id: String,
    fields: Vec<(String, String)>,
}

impl Carried for Task {
    const KIND: &'static str = "task";
}

impl Carried for Kept {
    const KIND: &'static str = "kept";
}

/// Refuses a form of the own account as [`Visit::refuse`] does. If the change needs a recent sign-in, the browser goes
/// there first, and then back to this page, where [`kept`] has what was typed.
pub(super) async fn refuse(
    visit: Visit,
    fields: &Fields,
    rejection: Rejection,
    view: &(dyn View + Sync),
) -> Outcome {
    match visit.session.clone() {
        Some(session) if rejection.is(REAUTHENTICATION_REQUIRED.name) => {
            let kept = keep(&visit, &session, fields)?;
            ask(visit, &session, kept).await
        }
        _ if rejection.is(AUTH_UNAUTHORIZED.name) => to_sign_in(visit),
        _ => visit.refuse(rejection, view),
    }
}

/// Returns what this person typed into a field before the recent sign-in.
pub(super) fn kept(visit: &Visit, field: &str) -> Option<String> {
    let opened = visit.open::<Kept>(&visit.query.optional(KEPT).ok()??)?;
    let is_own = visit.session.as_ref()?.user().id.to_string() == opened.value.user_id;
    let mut fields = opened.value.fields.into_iter().filter(|_| is_own && opened.ends > visit.now);
    fields.find(|(name, _)| name == field).map(|(_, text)| text)
}

fn keep(visit: &Visit, session: &PageSession, fields: &Fields) -> Result<String, PageError> {
    let mut kept = Kept { user_id: session.user().id.to_string(), fields: Vec::new() };
    for name in KEPT_FIELDS {
        kept.fields.push((name.to_owned(), fields.text(name)?));
    }
    visit.seal(visit.now.plus(flow::LIFETIME), kept)
}

/// Begins a challenge of the page session, and sends the browser to it. An account that has nothing to answer with signs
/// in again.
async fn ask(mut visit: Visit, session: &PageSession, kept: String) -> Outcome {
    let path = visit.path().to_owned();
    let from = session.sign_in_client(visit.to_client());
    let begun = visit.service().challenges.reauthenticate(session, &from).await.map_err(Rejection::from);
    let challenge = match begun {
        Ok(challenge) => challenge,
        Err(rejection) if rejection.is(REAUTHENTICATION_REQUIRED.name) => {
            let next = back(&path, &kept, true);
            let email = session.user().email.as_typed().to_owned();
            visit.change_flow(|flow| {
                (flow.next, flow.email, flow.asks_again) = (Some(next), Some(email), true);
            })?;
            return visit.go_to(&visit.href("/auth/sign-in"));
        }
        Err(rejection) if rejection.is(AUTH_UNAUTHORIZED.name) => return to_sign_in(visit),
        Err(rejection) => return visit.refuse(rejection, &over(back(&path, &kept, false))),
    };
    let kinds = challenge.kinds.iter().map(|kind| kind.as_str().to_owned()).collect();
    let task = Task { challenge: challenge.id.expose(), kinds, path, kept, mailed_at: None };
    let text = visit.seal(challenge.expires_at, task)?;
    visit.go_to(&visit.href_with(PATH, &[(TASK, &text)]))
}

/// Returns the address of a form with what was typed.
fn back(path: &str, kept: &str, is_confirmed: bool) -> String {
    let notice = if is_confirmed { "&notice=confirmed" } else { "" };
    format!("{path}?{KEPT}={kept}{notice}")
}

/// The task of a visit, and the kind of answer that it shows.
struct Asked {
    task: Task,
    kind: ChallengeKind,
    /// The sealed task.
    text: String,
    ends: Timestamp,
}

impl Asked {
    /// Reads the task of the query; `None` if it is not one of this browser.
    fn of(visit: &Visit) -> Result<Option<Self>, PageError> {
        let text = visit.query.optional(TASK)?.unwrap_or_default();
        let Some(Opened { value: task, ends }) = visit.open::<Task>(&text) else { return Ok(None) };
        let wanted = visit.query.optional(KIND)?;
        let mut kinds = task.kinds();
        let first = kinds.next();
        let kind = first.into_iter().chain(kinds).find(|kind| Some(kind.as_str()) == wanted.as_deref());
        Ok(kind.or(first).map(|kind| Self { task, kind, text, ends }))
    }

    fn address(&self, visit: &Visit, kind: ChallengeKind) -> String {
        visit.href_with(PATH, &[(TASK, &self.text), (KIND, kind.as_str())])
    }

    fn form(&self, visit: &Visit, act: &str) -> Form {
        visit.form_with(PATH, &[(TASK, &self.text), (KIND, self.kind.as_str()), (ACT, act)])
    }

    fn challenge(&self) -> Result<ChallengeId, PageError> {
        ChallengeId::parse(&self.task.challenge).ok_or_else(PageError::bad_flow)
    }
}

impl Task {
    /// Returns the kinds of answers that this page takes.
    fn kinds(&self) -> impl Iterator<Item = ChallengeKind> {
        self.kinds.iter().filter_map(|kind| ChallengeKind::parse(kind)).filter(|kind| KINDS.contains(kind))
    }

    fn back(&self, is_confirmed: bool) -> String {
        back(&self.path, &self.kept, is_confirmed)
    }
}

async fn show(visit: Visit) -> Outcome {
    let Some(session) = &visit.session else { return to_sign_in(visit) };
    match Asked::of(&visit)? {
        Some(asked) if asked.ends > visit.now => visit.page(&view(&visit, session, &asked)),
        Some(asked) => refuse_late(&visit, &asked),
        None => visit.go_to(OVERVIEW),
    }
}

async fn act(Submission { mut visit, mut fields }: Submission) -> Outcome {
    let Some(session) = visit.session.clone() else { return to_sign_in(visit) };
    let Some(asked) = Asked::of(&visit)? else { return visit.go_to(OVERVIEW) };
    let done = match visit.query.optional(ACT)?.as_deref() {
        Some("send") => send(&visit, &asked).await,
        _ => answer(&mut visit, &session, &asked, &mut fields).await,
    };
    match done {
        Ok(address) => visit.go_to(&address),
        Err(rejection) if rejection.is(INVALID_CHALLENGE.name) => refuse_late(&visit, &asked),
        Err(rejection) => visit.refuse(rejection, &view(&visit, &session, &asked)),
    }
}

/// Mails a code; returns the address of the page that asks for it.
async fn send(visit: &Visit, asked: &Asked) -> Result<String, Rejection> {
    visit.service().challenges.send_code(asked.challenge()?, &visit.to_client()).await?;
    let task = Task { mailed_at: Some(visit.now.as_millis()), ..asked.task.clone() };
    let text = visit.seal(asked.ends, task)?;
    let kind = ChallengeKind::EmailCode.as_str();
    Ok(visit.href_with(PATH, &[(TASK, &text), (KIND, kind)]))
}

/// Answers the challenge; returns the address of the form that waits.
async fn answer(
    visit: &mut Visit,
    session: &PageSession,
    asked: &Asked,
    fields: &mut Fields,
) -> Result<String, Rejection> {
    let kind = asked.kind;
    let is_password = kind == ChallengeKind::Password;
    let password = if is_password { fields.password("password")? } else { None };
    let code = if is_password { None } else { fields.code_text("code")? };
    if fields.has_problems() {
        return Err(fields.rejection());
    }
    let answer = Answer { challenge: asked.challenge()?, kind, code, password, assertion: None };
    let from = session.sign_in_client(visit.to_client());
    let answered = visit.service().challenges.answer(answer, session, &from).await;
    match answered.map_err(|error| worded(error.into(), kind))? {
        Answered::Renewed(signed_in) => {
            entrance::take_session(visit, &signed_in).await?;
            Ok(asked.task.back(true))
        }
        _ => Err(PageError::internal("an answer of a page session did not renew it").into()),
    }
}

/// Words a refusal after the kind of the answer.
fn worded(rejection: Rejection, kind: ChallengeKind) -> Rejection {
    let wrong = |fault| [Problem::at("code", fault)];
    match kind {
        ChallengeKind::Password => rejection.of_password("password"),
        ChallengeKind::EmailCode => {
            rejection.replacing(&Fault::InvalidSecondFactor, &wrong(Fault::InvalidCode))
        }
        _ => rejection.replacing(&Fault::InvalidCode, &wrong(Fault::InvalidSecondFactor)),
    }
}

fn view(visit: &Visit, session: &PageSession, asked: &Asked) -> Challenge {
    let email = || session.user().email.as_typed().to_owned();
    let form = asked.form(visit, "answer");
    let step = match asked.kind {
        ChallengeKind::RecoveryCode => ChallengeStep::RecoveryCode { form },
        ChallengeKind::Password => ChallengeStep::Password { form, email: email() },
        ChallengeKind::EmailCode => {
            let wait = asked.task.mailed_at.and_then(|at| visit.wait_after_mail(at));
            let send = SendAgain { form: asked.form(visit, "send"), wait };
            let code = CodeForm { form, email: email(), has_letters: false, send };
            ChallengeStep::EmailCode { code, is_sent: asked.task.mailed_at.is_some() }
        }
        _ => ChallengeStep::Totp { form },
    };
    let others = asked.task.kinds().filter(|kind| *kind != asked.kind);
    Challenge {
        purpose: ChallengePurpose::Reauthenticate,
        step,
        others: others
            .map(|kind| Another { kind: kind.as_str(), href: asked.address(visit, kind) })
            .collect(),
        cancel: asked.task.back(false),
    }
}

/// Shows that the challenge is over, with the way back to the form.
fn refuse_late(visit: &Visit, asked: &Asked) -> Outcome {
    visit.page_as(StatusCode::UNAUTHORIZED, &over(asked.task.back(false)))
}

fn over(start: String) -> Challenge {
    Challenge {
        purpose: ChallengePurpose::Reauthenticate,
        step: ChallengeStep::Over { start },
        others: Vec::new(),
        cancel: OVERVIEW.to_owned(),
    }
}
