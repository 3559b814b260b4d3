//! `/console/activate`: an account that got a grant activates it by its one-time link, a first factor and a second one,
//! which it may add here. For an address without an account the link makes it. The token of the link goes from the address into a sealed cookie, as do the secrets of a new
//! factor. The cookie goes when the person leaves the page of the recovery codes.

use std::time::Duration;

use axum::routing::get;
use http::{HeaderMap, StatusCode};
use latchkey_domain::challenge::{ChallengeId, ChallengeKind};
use latchkey_domain::email::Email;
use latchkey_domain::long_code::LongCode;
use latchkey_domain::time::Timestamp;
use latchkey_pages::console::views::{Activate, ActivateStep, Confirm, Purpose};
use latchkey_pages::views::{PasskeyForm, PasswordRules, SendAgain, TotpSetup};
use latchkey_pages::{Form, Wait};
use latchkey_service::Error;
use latchkey_service::console::{ActivationLogin, ActivationStep, EnrolledFactor};
use latchkey_service::factors::BegunTotp;
use latchkey_service::sessions::Challenge;
use serde::{Deserialize, Serialize};

use super::carried::{self, InCookie};
use super::confirm::{self, KIND, Question};
use super::guest::{Guest, href};
use super::page::Page;
use super::rejection::Rejection;
use super::sign_in::{self, OVERVIEW};
use super::stop::{Outcome, Stop};
use super::submission::GuestSubmission;
use crate::auth::challenge;
use crate::errors::PageError;
use crate::fields::Fields;
use crate::sealed::Carried;
use crate::{ceremony, problem, set_up};

const PATH: &str = "/console/activate";
/// Query parameter with the token of the link.
const TOKEN: &str = "token";
/// Query parameter that says what a form does.
const ACT: &str = "act";
/// Query parameter with the earlier step that the person went back to.
const AT: &str = "at";
/// Values of [`AT`]: the sign-in, and the choice of a factor to add.
const SIGN_IN: &str = "sign-in";
const FACTOR: &str = "factor";
/// Lifetime of the cookie after each step: that of an authenticator app that is not confirmed.
const LIFETIME: Duration = Duration::from_mins(10);

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

/// An activation on its way.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Activation {
    token: String,
    /// True if an account was made by the link, and waits for the mailed code.
    is_made: bool,
    /// Time of the last mail, in milliseconds since 1970.
    mailed_at: i64,
    /// The challenge that asks for a second factor.
    challenge: Option<String>,
    /// True if the challenge asks to add one.
    enrols: bool,
    app: Option<App>,
    /// Recovery codes of an account that added a factor.
    codes: Vec<String>,
    /// The account of the recovery codes.
    owner: Option<String>,
}

impl Carried for Activation {
    const KIND: &'static str = "console-activation";
}

impl InCookie for Activation {
    const COOKIE: &'static str = "latchkey_console_activation";
}

/// An authenticator app that is not confirmed yet.
#[derive(Clone, Serialize, Deserialize)]
struct App {
    factor: String,
    secret: String,
    uri: String,
}

async fn show(mut guest: Guest, headers: HeaderMap) -> Outcome {
    if let Some(token) = guest.query.optional(TOKEN)? {
        let address = keep(&mut guest, Activation { token, ..Activation::default() })?;
        return guest.go_to(&address);
    }
    let Some(activation) = activation(&guest, &headers)? else {
        return guest.page(&Activate { step: ActivateStep::Dead });
    };
    page(&guest, &activation, String::new(), None).await
}

async fn act(headers: HeaderMap, GuestSubmission { mut guest, mut fields }: GuestSubmission) -> Outcome {
    let Some(activation) = activation(&guest, &headers)? else {
        return guest.page_as(StatusCode::BAD_REQUEST, &Activate { step: ActivateStep::Dead });
    };
    if !fields.text(super::step_up::OTHER)?.is_empty() {
        let kind = confirm::kind(&guest)?.ok_or_else(PageError::bad_flow)?;
        return guest.go_to(&href(PATH, &[(KIND, kind.as_str())]));
    }
    let typed = fields.text("email")?;
    let act = guest.query.optional(ACT)?.unwrap_or_default();
    let done = match act.as_str() {
        "noted" => forget(&mut guest),
        "create" => create(&mut guest, &mut fields, activation.clone()).await,
        "again" => send_again(&mut guest, activation.clone()).await,
        "verify" => verify(&mut guest, &mut fields, activation.clone()).await,
        "totp" => begin_totp(&mut guest, activation.clone()).await,
        "register" => register(&mut guest, &mut fields, activation.clone()).await,
        "code" => confirm_totp(&mut guest, &mut fields, activation.clone()).await,
        "answer" => answer(&mut guest, &mut fields, activation.clone()).await,
        _ => sign_in(&mut guest, &mut fields, activation.clone(), &act).await,
    };
    match done {
        Ok(address) => guest.go_to(&address),
        Err(rejection) => page(&guest, &activation, typed, Some(rejection)).await,
    }
}

async fn sign_in(
    guest: &mut Guest,
    fields: &mut Fields,
    activation: Activation,
    act: &str,
) -> Result<String, Rejection> {
    let login = if act == "passkey" {
        let Some(assertion) = fields.assertion()? else { return Err(fields.rejection().into()) };
        ActivationLogin::Passkey { ceremony_id: fields.text(ceremony::ID)?, assertion }
    } else {
        let (email, password) = (fields.email("email")?, fields.password("password")?);
        let (Some(email), Some(password)) = (email, password) else { return Err(fields.rejection().into()) };
        ActivationLogin::Password { email, password }
    };
    let client = guest.to_client();
    let console = &guest.console.service.clone().console;
    let step = console.begin_activation(&activation.token, login, guest.sign_in(), &client).await?;
    follow(guest, activation, step).await
}

/// Makes the account of the link's address. Whether it has one already, the response does not tell.
async fn create(guest: &mut Guest, fields: &mut Fields, activation: Activation) -> Result<String, Rejection> {
    let Some(password) = fields.password("password")? else { return Err(fields.rejection().into()) };
    let client = guest.to_client();
    let service = guest.console.service.clone();
    let least = service.settings().values.password_min_length;
    let made = service.console.create_account(&activation.token, password, guest.sign_in(), &client).await;
    made.map_err(|error| Rejection::from(error).with_least(least))?;
    let next = mailed(guest, activation);
    Ok(keep(guest, next)?)
}

async fn send_again(guest: &mut Guest, activation: Activation) -> Result<String, Rejection> {
    let client = guest.to_client();
    guest.service().console.send_code_again(&activation.token, &client).await?;
    let next = mailed(guest, activation);
    Ok(keep(guest, next)?)
}

fn mailed(guest: &Guest, activation: Activation) -> Activation {
    Activation { is_made: true, mailed_at: guest.now.as_millis(), ..activation }
}

/// Verifies the address of the new account, and goes on to its second factor.
async fn verify(guest: &mut Guest, fields: &mut Fields, activation: Activation) -> Result<String, Rejection> {
    let Some(code) = fields.code("code")? else { return Err(fields.rejection().into()) };
    let client = guest.to_client();
    let console = &guest.console.service.clone().console;
    let step = console.verify_account(&activation.token, code, guest.sign_in(), &client).await?;
    follow(guest, activation, step).await
}

async fn answer(guest: &mut Guest, fields: &mut Fields, activation: Activation) -> Result<String, Rejection> {
    let (id, kind) = (challenge_of(&activation)?, confirm::kind(guest)?.ok_or_else(PageError::bad_flow)?);
    let client = guest.to_client();
    let console = &guest.console.service.clone().console;
    let step = match challenge::read(fields, &id, kind) {
        Ok(answer) => console
            .answer_activation(&activation.token, answer, guest.sign_in(), &client)
            .await
            .map_err(problem::Rejection::from),
        Err(rejection) => Err(rejection),
    };
    match step {
        Ok(step) => follow(guest, activation, step).await,
        Err(rejection) => Err(confirm::refused(guest, rejection, &id, Some(kind)).await?),
    }
}

/// Goes on after a first or second factor: to the challenge, or into the console.
async fn follow(
    guest: &mut Guest,
    activation: Activation,
    step: ActivationStep,
) -> Result<String, Rejection> {
    match step {
        ActivationStep::Activated(signed_in) => {
            guest.take(&signed_in)?;
            forget(guest)
        }
        ActivationStep::Challenged(Challenge { id, kinds, .. }) => {
            ceremony::prepare(guest.service(), &id, &kinds).await?;
            let (challenge, enrols) = (Some(id.expose()), kinds == [ChallengeKind::Enroll]);
            Ok(keep(guest, Activation { challenge, enrols, ..activation })?)
        }
    }
}

async fn begin_totp(guest: &mut Guest, activation: Activation) -> Result<String, Rejection> {
    let id = challenge_of(&activation)?;
    let BegunTotp { factor_id, secret, uri, .. } = guest.service().console.begin_enrolment(id).await?;
    let app = Some(App { factor: factor_id.to_string(), secret, uri });
    Ok(keep(guest, Activation { app, ..activation })?)
}

async fn confirm_totp(
    guest: &mut Guest,
    fields: &mut Fields,
    activation: Activation,
) -> Result<String, Rejection> {
    let id = challenge_of(&activation)?;
    let factor = activation.app.as_ref().and_then(|app| app.factor.parse().ok());
    let factor = factor.ok_or_else(PageError::bad_flow)?;
    let Some(code) = fields.totp("code")? else { return Err(fields.rejection().into()) };
    let client = guest.to_client();
    let console = &guest.console.service.clone().console;
    let enrolled =
        console.confirm_enrolment(&activation.token, (id, factor, code), guest.sign_in(), &client).await?;
    enrolled_in(guest, &enrolled)
}

async fn register(
    guest: &mut Guest,
    fields: &mut Fields,
    activation: Activation,
) -> Result<String, Rejection> {
    let id = challenge_of(&activation)?;
    let Some(registration) = fields.registration()? else { return Err(fields.rejection().into()) };
    let (ceremony, client) = (fields.text(ceremony::ID)?, guest.to_client());
    let console = &guest.console.service.clone().console;
    let enrolled = console
        .confirm_passkey_enrolment(&activation.token, (id, &ceremony, registration), guest.sign_in(), &client)
        .await?;
    enrolled_in(guest, &enrolled)
}

/// Takes the session of an account that added a factor, and goes to the page of its recovery codes.
fn enrolled_in(guest: &mut Guest, enrolled: &EnrolledFactor) -> Result<String, Rejection> {
    guest.take(&enrolled.session)?;
    let codes = enrolled.recovery_codes.iter().map(LongCode::expose_grouped).collect();
    let owner = Some(enrolled.session.user.id.to_string());
    Ok(keep(guest, Activation { codes, owner, ..Activation::default() })?)
}

/// Shows the step of an activation, with the reason for which its form was refused.
async fn page(
    guest: &Guest,
    activation: &Activation,
    email: String,
    rejection: Option<Rejection>,
) -> Outcome {
    if activation.challenge.is_some() && !activation.enrols {
        let view = question(guest, activation).await?;
        return match rejection {
            Some(rejection) => guest.refuse(rejection, &view),
            None => guest.page(&view),
        };
    }
    let view = Activate { step: step(guest, activation, email).await? };
    match rejection {
        Some(rejection) => guest.refuse(rejection, &view),
        None => guest.page(&view),
    }
}

async fn step(guest: &Guest, activation: &Activation, email: String) -> Result<ActivateStep, Stop> {
    let at: Vec<_> = at(guest)?.map(|at| (AT, at)).into_iter().collect();
    let form = |act: &'static str| guest.form_with(PATH, &[&at[..], &[(ACT, act)]].concat());
    if !activation.codes.is_empty() {
        return codes(guest, activation, form("noted"));
    }
    if let Some(app) = activation.app.clone() {
        let back = href(PATH, &[(AT, FACTOR)]);
        let secret = set_up::grouped(&app.secret);
        return Ok(ActivateStep::Totp {
            setup: TotpSetup { form: form("code"), uri: app.uri, secret, back },
        });
    }
    if activation.enrols {
        let passkey = registration(guest, activation, form("register")).await?;
        return Ok(ActivateStep::Enroll { passkey, totp: form("totp") });
    }
    if at.is_empty()
        && let Some(address) = guest.service().console.address_of(&activation.token).await?
    {
        return Ok(new_account(guest, activation, &address));
    }
    let passkey = sign_in::passkey(guest, PATH, &[&at[..], &[(ACT, "passkey")]].concat())?;
    Ok(ActivateStep::SignIn { passkey, form: form("password"), email })
}

/// Shows the step of an account that the link makes.
fn new_account(guest: &Guest, activation: &Activation, address: &Email) -> ActivateStep {
    let form = |act| guest.form_with(PATH, &[(ACT, act)]);
    let (email, sign_in) = (address.as_typed().to_owned(), href(PATH, &[(AT, SIGN_IN)]));
    if !activation.is_made {
        let rules = PasswordRules::from(&guest.service().settings().values.passwords());
        return ActivateStep::Create { email, form: form("create"), rules, sign_in };
    }
    let mailed_at = Timestamp::from_millis(activation.mailed_at);
    let wait = guest.service().mailbox.pause().saturating_sub(guest.now.since(mailed_at));
    let wait = (!wait.is_zero()).then_some(Wait(wait));
    let send = SendAgain { form: form("again"), wait };
    ActivateStep::Verify { email, form: form("verify"), send, sign_in }
}

/// Shows the recovery codes to the account that they are for. Without its session the sign-in comes first.
fn codes(guest: &Guest, activation: &Activation, next: Form) -> Result<ActivateStep, Stop> {
    let Some(session) = &guest.session else { return Err(sign_in::to_sign_in(guest, PATH)) };
    if activation.owner != Some(session.user().id.to_string()) {
        return Ok(ActivateStep::Dead);
    }
    Ok(ActivateStep::Codes { codes: activation.codes.clone(), next })
}

/// Returns the form that adds a passkey; `None` if passkeys do not work here.
async fn registration(
    guest: &Guest,
    activation: &Activation,
    form: Form,
) -> Result<Option<PasskeyForm>, Stop> {
    if !guest.console.has_passkeys() {
        return Ok(None);
    }
    match guest.service().console.begin_passkey_enrolment(challenge_of(activation)?).await {
        Ok(begun) => Ok(Some(ceremony::registration(form, begun)?)),
        Err(Error::Refused(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

async fn question(guest: &Guest, activation: &Activation) -> Result<Confirm, Stop> {
    let id = challenge_of(activation)?;
    let form =
        |kind: ChallengeKind| -> Form { guest.form_with(PATH, &[(ACT, "answer"), (KIND, kind.as_str())]) };
    let start = href(PATH, &[(AT, SIGN_IN)]);
    let kind = confirm::kind(guest)?;
    let question =
        Question { id: &id, kind, purpose: Purpose::Activate, start: start.clone(), cancel: start };
    question.view(guest, &form).await
}

fn challenge_of(activation: &Activation) -> Result<ChallengeId, PageError> {
    let challenge = activation.challenge.as_deref().and_then(ChallengeId::parse);
    challenge.ok_or_else(PageError::bad_flow)
}

/// Returns the activation of the cookie, at the step that the address names, if it belongs to this browser and has not
/// expired.
fn activation(guest: &Guest, headers: &HeaderMap) -> Result<Option<Activation>, PageError> {
    let Some(found) = carried::find::<Activation>(guest, headers) else { return Ok(None) };
    Ok(Some(match at(guest)? {
        Some(SIGN_IN) => Activation { challenge: None, enrols: false, app: None, ..found },
        Some(_) => Activation { app: None, ..found },
        None => found,
    }))
}

/// Returns the earlier step that the person went back to.
fn at(guest: &Guest) -> Result<Option<&'static str>, PageError> {
    let at = guest.query.optional(AT)?;
    Ok([SIGN_IN, FACTOR].into_iter().find(|known| at.as_deref() == Some(*known)))
}

/// Keeps the activation in this browser. Returns the address of its next step.
fn keep(guest: &mut Guest, activation: Activation) -> Result<String, PageError> {
    carried::keep(guest, LIFETIME, activation)?;
    Ok(PATH.to_owned())
}

/// Removes the activation from this browser. Returns the address of the overview.
fn forget(guest: &mut Guest) -> Result<String, Rejection> {
    carried::forget::<Activation>(guest)?;
    Ok(OVERVIEW.to_owned())
}
