//! `/auth/account/confirm`: the recent sign-in that sensitive changes ask for. A form that lacks it leads here by
//! [`refuse`]. After the answer the person is back at the form, with what was typed, and sends it again.

use axum::routing::get;
use latchkey_domain::challenge::{ChallengeId, ChallengeKind, ChallengePurpose};
use latchkey_pages::View;
use latchkey_pages::views::{Another, Challenge, ChallengeStep, CodeForm, SendAgain};
use latchkey_service::Error;
use latchkey_service::challenges::{Answered, ShownChallenge};
use latchkey_service::refusal::{AUTH_UNAUTHORIZED, INVALID_CHALLENGE, REAUTHENTICATION_REQUIRED};
use latchkey_service::sessions::PageSession;
use serde::{Deserialize, Serialize};

use super::{PATH as OVERVIEW, to_sign_in};
use crate::auth::challenge;
use crate::errors::PageError;
use crate::fields::Fields;
use crate::flow::Kept;
use crate::page::Page;
use crate::problem::Rejection;
use crate::sealed::Carried;
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};
use crate::{ceremony, entrance, flow, form_token};

const PATH: &str = "/auth/account/confirm";
const SIGN_IN: &str = "/auth/sign-in";
/// Query parameter with the sealed [`Task`].
const TASK: &str = "task";
/// Query parameter of a form with the sealed [`Kept`].
const KEPT: &str = "kept";
/// Query parameter that says what a form does.
const ACT: &str = "act";
/// Query parameter with the kind of the answer.
const KIND: &str = "kind";
/// Most characters of an address with what was typed. A request may have 8 KiB, and the sign-in adds to its flow.
const LONGEST_ADDRESS: usize = 6656;
/// Notices of the form to which the person is back.
const CONFIRMED: &str = "confirmed";
const NOT_KEPT: &str = "confirmed_not_kept";
/// Fields that are kept for the way back. None of them is secret.
const KEPT_FIELDS: [&str; 6] = ["email", "name", "username", "bio", "avatar_url", "version"];

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

/// The form that waits for the answer to a challenge.
#[derive(Clone, Serialize, Deserialize)]
struct Task {
    challenge: String,
    /// Id of the page session that is asked.
    session: String,
    /// Path of the page with the form.
    path: String,
    /// What was typed; `None` if nothing was, or too much.
    kept: Option<Kept>,
    /// True if too much was typed to be kept.
    is_too_much: bool,
    /// Time of the last mail that was asked for, in milliseconds since 1970.
    mailed_at: Option<i64>,
}

impl Kept {
    /// Adds it to the address of its form.
    pub(crate) fn add_to(&self, visit: &Visit, address: &str) -> Result<String, PageError> {
        let text = visit.seal(visit.now.plus(flow::LIFETIME), self.clone())?;
        let separator = if address.contains('?') { '&' } else { '?' };
        Ok(format!("{address}{separator}{KEPT}={text}"))
    }
}

impl Carried for Task {
    const KIND: &'static str = "task";
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
            let kept = keep(session.user().id.to_string(), fields)?;
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

/// Sends a form whose session has ended to the sign-in, and then back to its page, where [`kept`] has what was typed.
pub(super) fn late(mut visit: Visit, fields: &Fields, page: &str) -> Outcome {
    let Some(user_id) = visit.late_owner(&fields.text(form_token::FIELD)?) else { return to_sign_in(visit) };
    let kept = keep(user_id, fields)?;
    let address = over_sign_in(&mut visit, page, kept)?;
    visit.go_to(&address)
}

/// Sends a task whose session has ended to the sign-in, and then back to its form.
fn late_task(mut visit: Visit) -> Outcome {
    let Some(Asked { task, .. }) = Asked::of(&visit)? else { return to_sign_in(visit) };
    let address = over_sign_in(&mut visit, &task.path, task.kept)?;
    visit.go_to(&address)
}

/// Returns the address of the sign-in that leads back to a form, with what was typed if that is not too long.
fn over_sign_in(visit: &mut Visit, path: &str, kept: Option<Kept>) -> Result<String, PageError> {
    let next = form(visit, path, Some(CONFIRMED));
    visit.change_flow(|flow| (flow.next, flow.kept) = (Some(next), kept))?;
    if visit.href(SIGN_IN).len() > LONGEST_ADDRESS {
        let next = form(visit, path, Some(NOT_KEPT));
        visit.change_flow(|flow| (flow.next, flow.kept) = (Some(next), None))?;
    }
    Ok(visit.href(SIGN_IN))
}

/// Returns what was typed; `None` if nothing was.
fn keep(user_id: String, fields: &Fields) -> Result<Option<Kept>, PageError> {
    let sent = fields.all()?.into_iter();
    let fields: Vec<_> = sent.filter(|(name, _)| KEPT_FIELDS.contains(&name.as_str())).collect();
    let is_typed = fields.iter().any(|(_, text)| !text.is_empty());
    Ok(is_typed.then_some(Kept { user_id, fields }))
}

/// Begins a challenge of the page session, and sends the browser to it. An account that has nothing to answer with signs
/// in again.
async fn ask(mut visit: Visit, session: &PageSession, kept: Option<Kept>) -> Outcome {
    let path = visit.path().to_owned();
    let from = session.sign_in_client(visit.to_client());
    let begun = visit.service().challenges.reauthenticate(session, &from).await.map_err(Rejection::from);
    let begun = match begun {
        Ok(begun) => begun,
        Err(rejection) if rejection.is(REAUTHENTICATION_REQUIRED.name) => {
            let email = session.user().email.as_typed().to_owned();
            visit.change_flow(|flow| (flow.email, flow.asks_again) = (Some(email), true))?;
            let address = over_sign_in(&mut visit, &path, kept)?;
            return visit.go_to(&address);
        }
        Err(rejection) if rejection.is(AUTH_UNAUTHORIZED.name) => return to_sign_in(visit),
        Err(rejection) => {
            let back = back(&visit, &path, kept.as_ref(), None)?;
            return visit.refuse(rejection, &over(&visit, back));
        }
    };
    ceremony::prepare(visit.service(), &begun.id, &begun.kinds).await?;
    let address = |task: Task| -> Result<String, PageError> {
        let text = visit.seal(begun.expires_at, task)?;
        Ok(visit.href_with(PATH, &[(TASK, &text)]))
    };
    let (challenge, session) = (begun.id.expose(), session.session().id.to_string());
    let task = Task { challenge, session, path, kept, is_too_much: false, mailed_at: None };
    let with_all = address(task.clone())?;
    if with_all.len() <= LONGEST_ADDRESS {
        return visit.go_to(&with_all);
    }
    visit.go_to(&address(Task { kept: None, is_too_much: true, ..task })?)
}

/// Returns the address of a form. It is outside of the flow: the flow of the sign-in that leads back has it, and would have
/// itself twice.
fn form(visit: &Visit, path: &str, notice: Option<&str>) -> String {
    let notice: Vec<_> = notice.into_iter().map(|notice| ("notice", notice)).collect();
    visit.href_outside(path, &notice)
}

/// Returns the address of a form with what was typed, unless that is too long.
fn back(visit: &Visit, path: &str, kept: Option<&Kept>, notice: Option<&str>) -> Result<String, PageError> {
    let plain = form(visit, path, notice);
    let full = kept.map(|kept| kept.add_to(visit, &plain)).transpose()?;
    Ok(full.filter(|full| full.len() <= LONGEST_ADDRESS).unwrap_or(plain))
}

/// The task of a visit.
struct Asked {
    task: Task,
    challenge: ChallengeId,
    /// The sealed task.
    text: String,
}

impl Asked {
    /// Reads the task of the query; `None` if it is not one of this browser.
    fn of(visit: &Visit) -> Result<Option<Self>, PageError> {
        let text = visit.query.optional(TASK)?.unwrap_or_default();
        let opened = visit.open::<Task>(&text);
        Ok(opened.and_then(|opened| {
            let challenge = ChallengeId::parse(&opened.value.challenge)?;
            Some(Self { task: opened.value, challenge, text })
        }))
    }

    /// True if another session than this one is asked: somebody signed in again in another tab.
    fn is_of_another(&self, session: &PageSession) -> bool {
        self.task.session != session.session().id.to_string()
    }

    fn back(&self, visit: &Visit, is_confirmed: bool) -> Result<String, PageError> {
        let notice = if self.task.is_too_much { NOT_KEPT } else { CONFIRMED };
        back(visit, &self.task.path, self.task.kept.as_ref(), is_confirmed.then_some(notice))
    }
}

async fn show(visit: Visit) -> Outcome {
    let Some(session) = &visit.session else { return late_task(visit) };
    match Asked::of(&visit)? {
        Some(asked) if asked.is_of_another(session) => visit.go_to(&asked.back(&visit, false)?),
        Some(asked) => visit.page(&view(&visit, &asked).await?),
        None => visit.go_to(&visit.href(OVERVIEW)),
    }
}

async fn act(Submission { mut visit, mut fields }: Submission) -> Outcome {
    let Some(session) = visit.session.clone() else { return late_task(visit) };
    let Some(asked) = Asked::of(&visit)? else { return visit.go_to(&visit.href(OVERVIEW)) };
    if asked.is_of_another(&session) {
        return visit.go_to(&asked.back(&visit, false)?);
    }
    let done = match visit.query.optional(ACT)?.as_deref() {
        Some("send") => send(&visit, &asked).await,
        _ => answer(&mut visit, &session, &asked, &mut fields).await,
    };
    match done {
        Ok(address) => visit.go_to(&address),
        Err(rejection) => visit.refuse(rejection, &view(&visit, &asked).await?),
    }
}

/// Mails a code; returns the address of the page that asks for it.
async fn send(visit: &Visit, asked: &Asked) -> Result<String, Rejection> {
    visit.service().challenges.send_code(asked.challenge.clone(), &visit.to_client()).await?;
    let task = Task { mailed_at: Some(visit.now.as_millis()), ..asked.task.clone() };
    let text = visit.seal(visit.now.plus(flow::LIFETIME), task)?;
    Ok(visit.href_with(PATH, &[(TASK, &text), (KIND, ChallengeKind::EmailCode.as_str())]))
}

/// Answers the challenge; returns the address of the form that waits.
async fn answer(
    visit: &mut Visit,
    session: &PageSession,
    asked: &Asked,
    fields: &mut Fields,
) -> Result<String, Rejection> {
    let kind = kind(visit)?.ok_or_else(PageError::bad_flow)?;
    let answer = challenge::read(fields, &asked.challenge, kind)?;
    let from = session.sign_in_client(visit.to_client());
    let answered = visit.service().challenges.answer(answer, session, &from).await;
    if answered.is_err() && kind == ChallengeKind::Passkey {
        ceremony::prepare(visit.service(), &asked.challenge, &[kind]).await?; // a wrong answer used the options up
    }
    match answered.map_err(|error| challenge::worded(error.into(), kind))? {
        Answered::Renewed(signed_in) => {
            entrance::take_session(visit, &signed_in).await?;
            Ok(asked.back(visit, true)?)
        }
        _ => Err(PageError::internal("an answer of a page session did not renew it").into()),
    }
}

/// Returns the kind of answer that the query names.
fn kind(visit: &Visit) -> Result<Option<ChallengeKind>, PageError> {
    Ok(visit.query.optional(KIND)?.as_deref().and_then(ChallengeKind::parse))
}

async fn view(visit: &Visit, asked: &Asked) -> Result<Challenge, PageError> {
    match visit.service().challenges.inspect(&asked.challenge).await {
        Ok(shown) => {
            visit.ends_at(shown.expires_at);
            step(visit, asked, shown)
        }
        Err(Error::Refused(refusal)) if *refusal == INVALID_CHALLENGE => {
            Ok(over(visit, asked.back(visit, false)?))
        }
        Err(error) => Err(error.into()),
    }
}

/// Shows the kind of answer that the query names, else the strongest.
fn step(visit: &Visit, asked: &Asked, mut shown: ShownChallenge) -> Result<Challenge, PageError> {
    let passkey = shown.passkey_options.take();
    shown.kinds.retain(|kind| *kind != ChallengeKind::Passkey || passkey.is_some());
    let named = kind(visit)?.filter(|kind| shown.kinds.contains(kind));
    let Some(kind) = named.or(shown.kinds.first().copied()) else {
        return Ok(over(visit, asked.back(visit, false)?));
    };
    let at = |kind: ChallengeKind| [(TASK, asked.text.as_str()), (KIND, kind.as_str())];
    let (form, email) = (visit.form_with(PATH, &at(kind)), shown.user.email.as_typed().to_owned());
    let step = match (kind, passkey) {
        (ChallengeKind::Passkey, Some(options)) => {
            ChallengeStep::Passkey { passkey: ceremony::answer(form, options)? }
        }
        (ChallengeKind::RecoveryCode, _) => ChallengeStep::RecoveryCode { form },
        (ChallengeKind::Password, _) => ChallengeStep::Password { form, email },
        (ChallengeKind::EmailCode, _) => {
            let wait = asked.task.mailed_at.and_then(|at| visit.wait_after_mail(at));
            let send = visit.form_with(PATH, &[at(kind)[0], at(kind)[1], (ACT, "send")]);
            let code = CodeForm { form, email, send: SendAgain { form: send, wait } };
            ChallengeStep::EmailCode { code, is_sent: asked.task.mailed_at.is_some() }
        }
        _ => ChallengeStep::Totp { form },
    };
    let others = shown.kinds.iter().filter(|other| **other != kind);
    let others =
        others.map(|other| Another { kind: other.as_str(), href: visit.href_with(PATH, &at(*other)) });
    let purpose = ChallengePurpose::Reauthenticate;
    Ok(Challenge { purpose, step, others: others.collect(), cancel: asked.back(visit, false)? })
}

/// Shows that the challenge is over. `start` is the address of the form.
fn over(visit: &Visit, start: String) -> Challenge {
    Challenge {
        purpose: ChallengePurpose::Reauthenticate,
        step: ChallengeStep::Over { start },
        others: Vec::new(),
        cancel: visit.href_outside(OVERVIEW, &[]),
    }
}
