//! `/auth/account/two-step`: two-step sign-in of the own account, with its authenticator apps and recovery codes.

use axum::routing::get;
use latchkey_domain::challenge::SecondFactorPolicy;
use latchkey_domain::factors::{FactorId, MAX_TOTP_FACTORS, TotpFactor};
use latchkey_pages::When;
use latchkey_pages::views::{Next, RecoveryCodes, Totp, TwoStep, TwoStepState};
use latchkey_service::Error;
use latchkey_service::factors::{ConfirmedTotp, FactorEnroller, TwoStepOn, TwoStepSet};
use latchkey_service::refusal::FACTOR_NOT_FOUND;
use latchkey_service::sessions::PageSession;

use super::{confirm, offers_two_step, to_sign_in};
use crate::entrance;
use crate::errors::PageError;
use crate::fields::Fields;
use crate::page::Page;
use crate::problem::Rejection;
use crate::set_up::{self, SetUp};
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};

const PATH: &str = "/auth/account/two-step";
/// Query parameter that says what a form does.
const ACT: &str = "act";
/// Query parameter of the page to show: the set-up that was begun, or new recovery codes.
const SHOWS: &str = "shows";
const SETUP: &str = "setup";
const CODES: &str = "codes";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

async fn show(visit: Visit) -> Outcome {
    let Some(session) = &visit.session else { return to_sign_in(visit) };
    if let Some(codes) = set_up::codes(&visit).filter(|_| shows(&visit, CODES)) {
        let next = Next::Act(visit.form_with(PATH, &[(ACT, "noted")]));
        return visit.page(&RecoveryCodes { codes, next });
    }
    visit.page(&view(&visit, session).await?)
}

async fn act(Submission { mut visit, mut fields }: Submission) -> Outcome {
    let Some(session) = visit.session.clone() else { return to_sign_in(visit) };
    match change(&mut visit, &session, &mut fields).await {
        Ok(shown) => {
            let parameters: Vec<_> = shown.into_iter().collect();
            visit.go_to(&visit.href_with(PATH, &parameters))
        }
        Err(rejection) => {
            let view = view(&visit, &session).await?;
            confirm::refuse(visit, &fields, rejection, &view).await
        }
    }
}

/// Parameter of the page that follows, if it has one.
type Shown = Result<Option<(&'static str, &'static str)>, Rejection>;

/// Does what the form asks for.
async fn change(visit: &mut Visit, session: &PageSession, fields: &mut Fields) -> Shown {
    match visit.query.optional(ACT)?.as_deref() {
        Some("begin") => begin(visit, session).await,
        Some("code") => confirm_app(visit, session, fields).await,
        Some("remove") => remove(visit, session, fields).await,
        Some("renew") => renew(visit, session).await,
        Some("on") => turn(visit, session, true).await,
        Some("off") => turn(visit, session, false).await,
        Some("noted") => {
            set_up::forget_codes(visit)?;
            Ok(None)
        }
        _ => Err(PageError::not_found().into()),
    }
}

async fn begin(visit: &mut Visit, session: &PageSession) -> Shown {
    let fresh = visit.service().sessions.fresh(session).await?;
    let begun = visit.service().factors.begin_totp(FactorEnroller::Fresh(fresh), None).await?;
    set_up::keep_totp(visit, &owner(session), &begun)?;
    Ok(Some((SHOWS, SETUP)))
}

/// Confirms the authenticator app by its first code. A set-up that expired begins anew.
async fn confirm_app(visit: &mut Visit, session: &PageSession, fields: &mut Fields) -> Shown {
    let set_up = SetUp::find(visit, &owner(session));
    let Some(factor) = set_up.and_then(|set_up| set_up.factor()) else { return Ok(None) };
    let Some(code) = fields.totp("code")? else { return Err(fields.rejection()) };
    let from = session.sign_in_client(visit.to_client());
    let enroller = FactorEnroller::Session(session.caller());
    match visit.service().factors.confirm_totp(enroller, factor, code, &from).await {
        Ok(ConfirmedTotp::TurnedOn(on, _)) => turned_on(visit, on).await,
        Ok(ConfirmedTotp::Added(_)) => Ok(Some(("notice", "totp_added"))),
        Err(Error::Refused(refusal)) if *refusal == FACTOR_NOT_FOUND => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Removes the authenticator app that the form names. One that is removed already is no problem.
async fn remove(visit: &Visit, session: &PageSession, fields: &Fields) -> Shown {
    let fresh = visit.service().sessions.fresh(session).await?;
    let id: FactorId = fields.text("id")?.parse().map_err(|_| PageError::not_found())?;
    match visit.service().factors.remove_totp(&fresh, id, &visit.to_client()).await {
        Ok(()) => Ok(Some(("notice", "totp_removed"))),
        Err(Error::Refused(refusal)) if *refusal == FACTOR_NOT_FOUND => Ok(None),
        Err(error) => Err(error.into()),
    }
}

async fn renew(visit: &mut Visit, session: &PageSession) -> Shown {
    let fresh = visit.service().sessions.fresh(session).await?;
    let codes = visit.service().factors.replace_recovery_codes(&fresh, &visit.to_client()).await?;
    set_up::keep_codes(visit, session.user().id, &codes)?;
    Ok(Some((SHOWS, CODES)))
}

async fn turn(visit: &mut Visit, session: &PageSession, enabled: bool) -> Shown {
    let fresh = visit.service().sessions.fresh(session).await?;
    let from = session.sign_in_client(visit.to_client());
    match visit.service().factors.set_two_step(&fresh, enabled, &from).await? {
        TwoStepSet::TurnedOn(on) => turned_on(visit, on).await,
        TwoStepSet::TurnedOff => Ok(Some(("notice", "two_step_off"))),
        TwoStepSet::Unchanged => Ok(None),
    }
}

/// Takes the session in place of the one that ended, and goes to the page of the recovery codes.
async fn turned_on(visit: &mut Visit, on: TwoStepOn) -> Shown {
    let session = entrance::take(visit, on.opened).await?;
    set_up::keep_codes(visit, session.user().id, &on.recovery_codes)?;
    Ok(Some((SHOWS, CODES)))
}

fn owner(session: &PageSession) -> String {
    session.session().id.to_string()
}

fn shows(visit: &Visit, what: &str) -> bool {
    visit.query.optional(SHOWS).ok().flatten().as_deref() == Some(what)
}

async fn view(visit: &Visit, session: &PageSession) -> Result<TwoStep, PageError> {
    let form = |act| visit.form_with(PATH, &[(ACT, act)]);
    if let Some(set_up) = SetUp::find(visit, &owner(session))
        && (shows(visit, SETUP) || visit.query.optional(ACT)?.as_deref() == Some("code"))
    {
        let setup = set_up.shown(form("code"), visit.href(PATH));
        return Ok(TwoStep { state: TwoStepState::Setup { setup } });
    }
    let account = visit.service().factors.account(session).await?;
    let is_offered = offers_two_step(visit);
    if !account.user.has_two_step() {
        let has_passkey = is_offered && visit.service().passkeys.has_usable(&account.user);
        let (totp, turn_on) = (is_offered.then(|| form("begin")), has_passkey.then(|| form("on")));
        return Ok(TwoStep { state: TwoStepState::Off { totp, turn_on } });
    }
    let is_required = visit.service().settings().values.second_factor == SecondFactorPolicy::Required;
    let factors = account.factors;
    let state = TwoStepState::On {
        add: (is_offered && factors.totp.len() < MAX_TOTP_FACTORS as usize).then(|| form("begin")),
        totp: factors.totp.iter().map(shown).collect(),
        remove: form("remove"),
        codes_left: u64::from(factors.recovery_codes_left),
        renew: form("renew"),
        off: (!is_required).then(|| form("off")),
    };
    Ok(TwoStep { state })
}

fn shown(factor: &TotpFactor) -> Totp {
    Totp {
        id: factor.id.to_string(),
        name: factor.name.as_str().to_owned(),
        created: When(factor.created_at),
        last_used: factor.last_used_at.map(When),
    }
}
