//! The enrolment of a second factor at a sign-in: a passkey or an authenticator app, then the recovery codes.

use latchkey_domain::challenge::ChallengeId;
use latchkey_pages::views::{Enroll, EnrollStep, RecoveryCodes};
use latchkey_service::Error;
use latchkey_service::factors::{ConfirmedTotp, FactorEnroller, TwoStepOn};
use latchkey_service::passkeys::Registered;
use latchkey_service::refusal::FACTOR_NOT_FOUND;

use super::{ACT, PATH, next, says, start};
use crate::errors::PageError;
use crate::fields::Fields;
use crate::problem::Rejection;
use crate::set_up::{self, SetUp};
use crate::visit::{Outcome, Visit};
use crate::{ceremony, entrance};

/// Query parameter of the choice, in place of the set-up that was begun.
const CHOOSE: &str = "choose";

pub(super) async fn act(
    visit: &mut Visit,
    fields: &mut Fields,
    id: &ChallengeId,
    act: &str,
) -> Result<String, Rejection> {
    match act {
        "totp" => {
            let begun = visit.service().factors.begin_totp(enroller(id), None).await?;
            set_up::keep_totp(visit, &id.expose(), &begun)?;
            Ok(visit.href(PATH))
        }
        "code" => match confirm(visit, fields, id).await? {
            Some(on) => turned_on(visit, on).await,
            None => Ok(visit.href_with(PATH, &[(CHOOSE, "1")])),
        },
        "passkey" => turned_on(visit, register(visit, fields, id).await?).await,
        _ => Err(PageError::not_found().into()),
    }
}

/// Confirms the authenticator app; `None` if the set-up expired or had too many wrong codes.
async fn confirm(
    visit: &Visit,
    fields: &mut Fields,
    id: &ChallengeId,
) -> Result<Option<TwoStepOn>, Rejection> {
    let set_up = SetUp::find(visit, &id.expose());
    let Some(factor) = set_up.and_then(|set_up| set_up.factor()) else { return Ok(None) };
    let Some(code) = fields.totp("code")? else { return Err(fields.rejection()) };
    let from = visit.sign_in_client(visit.flow().keep());
    match visit.service().factors.confirm_totp(enroller(id), factor, code, &from).await {
        Ok(ConfirmedTotp::TurnedOn(on, _)) => Ok(Some(on)),
        Ok(ConfirmedTotp::Added(_)) => Err(left_off().into()),
        Err(Error::Refused(refusal)) if *refusal == FACTOR_NOT_FOUND => Ok(None),
        Err(error) => Err(error.into()),
    }
}

async fn register(visit: &Visit, fields: &mut Fields, id: &ChallengeId) -> Result<TwoStepOn, Rejection> {
    let Some(registration) = fields.registration()? else { return Err(fields.rejection()) };
    let ceremony = fields.text(ceremony::ID)?;
    let from = visit.sign_in_client(visit.flow().keep());
    let passkeys = &visit.service().passkeys;
    match passkeys.register(enroller(id), &ceremony, registration, None, &from).await? {
        Registered::TurnedOn(on, _) => Ok(on),
        Registered::Added(_) => Err(left_off().into()),
    }
}

/// Takes the session, and goes to the page of the recovery codes.
async fn turned_on(visit: &mut Visit, on: TwoStepOn) -> Result<String, Rejection> {
    let session = entrance::take(visit, on.opened).await?;
    set_up::keep_codes(visit, session.user().id, &on.recovery_codes)?;
    says(visit, "codes")
}

pub(super) fn show_codes(visit: &Visit) -> Outcome {
    match set_up::codes(visit) {
        Some(codes) => visit.page(&RecoveryCodes { codes, next: next(visit) }),
        None => visit.go_to(&visit.href("/auth/sign-in")),
    }
}

pub(super) async fn view(visit: &Visit, id: &ChallengeId) -> Result<Enroll, PageError> {
    let form = |act| visit.form_with(PATH, &[(ACT, act)]);
    if let Some(set_up) = SetUp::find(visit, &id.expose())
        && visit.query.optional(CHOOSE)?.is_none()
    {
        let setup = set_up.shown(form("code"), visit.href_with(PATH, &[(CHOOSE, "1")]));
        return Ok(Enroll { step: EnrollStep::Totp { setup } });
    }
    let passkey = match ceremony::enrolment(visit.service(), id).await {
        Ok(begun) => Some(ceremony::registration(form("passkey"), begun)?),
        Err(Error::Refused(_)) => None,
        Err(error) => return Err(error.into()),
    };
    Ok(Enroll { step: EnrollStep::Choose { passkey, totp: form("totp"), cancel: start(visit) } })
}

fn enroller(id: &ChallengeId) -> FactorEnroller {
    FactorEnroller::Challenge(id.clone())
}

fn left_off() -> PageError {
    PageError::internal("an enrolment at a sign-in left two-step sign-in off")
}
