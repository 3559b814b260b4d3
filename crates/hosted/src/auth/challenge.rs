//! `/auth/challenge`: the second factor of a sign-in or password reset, the restoral of an account in deletion, and the
//! enrolment of a factor that the operator requires (`enroll`). The flow has the id of the challenge.

use axum::routing::get;
use latchkey_domain::challenge::{ChallengeId, ChallengeKind, ChallengePurpose};
use latchkey_pages::views::{Another, Challenge, ChallengeStep, CodesLeft, Next};
use latchkey_pages::{Fault, Problem, View, When};
use latchkey_service::Error;
use latchkey_service::challenges::{Answer, Answered, ShownChallenge};
use latchkey_service::refusal::INVALID_CHALLENGE;
use latchkey_service::sessions::{Credential, Entrance};

use super::{reset, sign_in};
use crate::errors::PageError;
use crate::fields::Fields;
use crate::page::Page;
use crate::problem::Rejection;
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};
use crate::{ceremony, entrance, set_up};

mod enroll;

const PATH: &str = "/auth/challenge";
/// Query parameter of the kind of answer.
const KIND: &str = "kind";
/// Query parameter that says what a form does beside answering.
const ACT: &str = "act";
/// Query parameter of what a completed sign-in has to say before it goes on.
const SAYS: &str = "says";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

async fn show(visit: Visit) -> Outcome {
    match (visit.query.optional(SAYS)?.as_deref(), asked(&visit)) {
        (Some("codes"), _) => enroll::show_codes(&visit),
        (Some("codes_left"), _) => show_codes_left(&visit).await,
        (_, Some(id)) => visit.page(&*view(&visit, &id).await?),
        (_, None) => visit.go_to(&visit.href("/auth/sign-in")),
    }
}

async fn act(Submission { mut visit, mut fields }: Submission) -> Outcome {
    let act = visit.query.optional(ACT)?;
    if act.as_deref() == Some("next") {
        return go_on(visit).await;
    }
    let id = asked(&visit).ok_or_else(PageError::bad_flow)?;
    let done = match act.as_deref() {
        Some(act) => enroll::act(&mut visit, &mut fields, &id, act).await,
        None => answer(&mut visit, &mut fields, &id).await,
    };
    match done {
        Ok(address) => visit.go_to(&address),
        Err(rejection) => visit.refuse(rejection, &*view(&visit, &id).await?),
    }
}

async fn answer(visit: &mut Visit, fields: &mut Fields, id: &ChallengeId) -> Result<String, Rejection> {
    let kind = kind(visit)?.ok_or_else(PageError::bad_flow)?;
    let answer = read(fields, id, kind)?;
    let from = visit.sign_in_client(visit.flow().keep());
    let answered = visit.service().challenges.answer(answer, Credential::Bearer(None), &from).await;
    if answered.is_err() && kind == ChallengeKind::Passkey {
        ceremony::prepare(visit.service(), id, &[kind]).await?; // a wrong answer used the options up
    }
    match answered.map_err(|error| worded(error.into(), kind))? {
        Answered::Entered(Entrance::SignedIn(opened)) if kind == ChallengeKind::RecoveryCode => {
            entrance::take(visit, opened).await?;
            says(visit, "codes_left")
        }
        Answered::Entered(entered) => entrance::enter(visit, entered, visit.flow().keep()).await,
        Answered::Reset { token, .. } => reset::go_on(visit, &token),
        _ => Err(PageError::internal("an answer on the pages completed what begins elsewhere").into()),
    }
}

/// Reads the answer of a form.
pub(crate) fn read(fields: &mut Fields, id: &ChallengeId, kind: ChallengeKind) -> Result<Answer, Rejection> {
    let mut answer = Answer { challenge: id.clone(), kind, code: None, password: None, assertion: None };
    let is_read = match kind {
        ChallengeKind::Totp | ChallengeKind::RecoveryCode | ChallengeKind::EmailCode => {
            answer.code = fields.code_text("code")?;
            answer.code.is_some()
        }
        ChallengeKind::Passkey => {
            answer.assertion = fields.assertion()?;
            answer.assertion.is_some()
        }
        ChallengeKind::Password => {
            answer.password = fields.password("password")?;
            answer.password.is_some()
        }
        _ => true,
    };
    if is_read { Ok(answer) } else { Err(fields.rejection()) }
}

/// Words a refusal after the kind of the answer.
pub(crate) fn worded(rejection: Rejection, kind: ChallengeKind) -> Rejection {
    let at_code = |fault| [Problem::at("code", fault)];
    match kind {
        ChallengeKind::Password => rejection.of_password("password"),
        ChallengeKind::EmailCode => {
            rejection.replacing(&Fault::InvalidSecondFactor, &at_code(Fault::InvalidCode))
        }
        ChallengeKind::RecoveryCode => {
            let wrong = at_code(Fault::InvalidRecoveryCode);
            rejection.replacing(&Fault::InvalidCode, &wrong).replacing(&Fault::InvalidSecondFactor, &wrong)
        }
        ChallengeKind::Passkey => {
            rejection.replacing(&Fault::InvalidSecondFactor, &[Problem::whole(Fault::InvalidPasskey)])
        }
        _ => rejection.replacing(&Fault::InvalidCode, &at_code(Fault::InvalidSecondFactor)),
    }
}

/// Goes to the page that says something before the sign-in goes on. Its sign-in is done, so it is not asked for again.
fn says(visit: &mut Visit, what: &str) -> Result<String, Rejection> {
    visit.change_flow(|flow| {
        flow.asked = None;
        (flow.asks_again, flow.max_age) = (false, None);
    })?;
    Ok(visit.href_with(PATH, &[(SAYS, what)]))
}

async fn go_on(mut visit: Visit) -> Outcome {
    match sign_in::resume(&visit).await {
        Ok(address) => {
            set_up::forget_codes(&mut visit)?;
            visit.go_to(&address)
        }
        Err(_) => visit.go_to(&visit.href("/auth/sign-in")),
    }
}

fn next(visit: &Visit) -> Next {
    Next::Act(visit.form_with(PATH, &[(ACT, "next")]))
}

async fn show_codes_left(visit: &Visit) -> Outcome {
    let Some(session) = &visit.session else { return visit.go_to(&visit.href("/auth/sign-in")) };
    let account = visit.service().factors.account(session).await?;
    let left = u64::from(account.factors.recovery_codes_left);
    visit.page(&CodesLeft { left, next: next(visit) })
}

/// Returns the challenge of the flow.
fn asked(visit: &Visit) -> Option<ChallengeId> {
    ChallengeId::parse(&visit.flow().asked.as_ref()?.challenge)
}

/// Returns the kind of answer that the query names.
fn kind(visit: &Visit) -> Result<Option<ChallengeKind>, PageError> {
    Ok(visit.query.optional(KIND)?.as_deref().and_then(ChallengeKind::parse))
}

async fn view(visit: &Visit, id: &ChallengeId) -> Result<Box<dyn View + Send>, PageError> {
    let inspected = visit.service().challenges.inspect(id).await;
    if let Ok(shown) = &inspected {
        visit.ends_at(shown.expires_at);
    }
    match inspected {
        Ok(shown) if shown.kinds == [ChallengeKind::Enroll] => Ok(Box::new(enroll::view(visit, id).await?)),
        Ok(shown) => Ok(Box::new(challenge(visit, shown)?)),
        Err(Error::Refused(refusal)) if *refusal == INVALID_CHALLENGE => Ok(Box::new(over(visit))),
        Err(error) => Err(error.into()),
    }
}

/// Shows the kind of answer that the query names, else the strongest.
fn challenge(visit: &Visit, mut shown: ShownChallenge) -> Result<Challenge, PageError> {
    let passkey = shown.passkey_options.take();
    shown.kinds.retain(|kind| *kind != ChallengeKind::Passkey || passkey.is_some());
    let named = kind(visit)?.filter(|kind| shown.kinds.contains(kind));
    let Some(kind) = named.or(shown.kinds.first().copied()) else { return Ok(over(visit)) };
    let form = visit.form_with(PATH, &[(KIND, kind.as_str())]);
    let step = match (kind, passkey, shown.user.deletes_at) {
        (ChallengeKind::Passkey, Some(options), _) => {
            ChallengeStep::Passkey { passkey: ceremony::answer(form, options)? }
        }
        (ChallengeKind::RecoveryCode, ..) => ChallengeStep::RecoveryCode { form },
        (ChallengeKind::Restore, _, Some(at)) => ChallengeStep::Restore { form, deletes: When(at) },
        _ => ChallengeStep::Totp { form },
    };
    let others = shown.kinds.iter().filter(|other| **other != kind).map(|other| Another {
        kind: other.as_str(),
        href: visit.href_with(PATH, &[(KIND, other.as_str())]),
    });
    Ok(Challenge { purpose: shown.purpose, step, others: others.collect(), cancel: start(visit) })
}

/// The challenge was used, has expired or has too many wrong answers.
fn over(visit: &Visit) -> Challenge {
    let step = ChallengeStep::Over { start: start(visit) };
    Challenge { purpose: ChallengePurpose::SignIn, step, others: Vec::new(), cancel: start(visit) }
}

/// Returns the address of the page that leads to a new challenge.
fn start(visit: &Visit) -> String {
    visit.href(visit.flow().asked.as_ref().map_or("/auth/sign-in", |asked| &asked.start))
}
