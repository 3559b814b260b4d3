//! `/auth/sign-up`: a new account by email address and password.

use axum::routing::get;
use latchkey_domain::email_verification::SIGN_UP_COOKIE_LIFETIME;
use latchkey_domain::tokens::LinkToken;
use latchkey_pages::views::{PasswordRules, SignUp as View};
use latchkey_service::accounts::sign_up::{SignUp, SignedUp};
use latchkey_service::sessions::KeepSignedIn;

use super::provider;
use crate::entrance;
use crate::errors::PageError;
use crate::fields::Fields;
use crate::page::Page;
use crate::problem::Rejection;
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};

const PATH: &str = "/auth/sign-up";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

async fn show(visit: Visit) -> Outcome {
    let visit = visit.begin()?;
    let email = visit.flow().email.clone().unwrap_or_default();
    visit.page(&view(&visit, String::new(), email)?)
}

async fn act(Submission { mut visit, mut fields }: Submission) -> Outcome {
    let (name, email) = (fields.text("name")?, fields.text("email")?);
    match sign_up(&mut visit, &mut fields).await {
        Ok(address) => visit.go_to(&address),
        Err(rejection) => visit.refuse(rejection, &view(&visit, name, email)?),
    }
}

/// Creates the account. While addresses are verified, a taken address is answered like a free one.
async fn sign_up(visit: &mut Visit, fields: &mut Fields) -> Result<String, Rejection> {
    let (name, email, password) =
        (fields.name("name")?, fields.email("email")?, fields.password("password")?);
    let (Some(email), Some(password)) = (email, password) else { return Err(fields.rejection()) };
    if fields.has_problems() {
        return Err(fields.rejection());
    }
    let typed = email.as_typed().to_owned();
    let browser = LinkToken::new(visit.service().random_bytes());
    visit.change_flow(|flow| flow.email = Some(typed))?;
    let sign_up = SignUp {
        email,
        password,
        name,
        redirect: visit.mailed("/auth/verified"),
        browser: Some(browser.hash()),
        client: visit.sign_in_client(KeepSignedIn::No),
    };
    let least = visit.service().settings().values.password_min_length;
    let signed_up = visit.service().accounts.sign_up(sign_up).await;
    let signed_up = signed_up.map_err(|error| Rejection::from(error).with_least(least))?;
    let cookie = visit.hosted.cookies.sign_up.set(browser.expose(), SIGN_UP_COOKIE_LIFETIME);
    visit.set_cookie(cookie)?;
    match signed_up {
        SignedUp::Entered(entrance) => entrance::enter(visit, entrance, KeepSignedIn::No).await,
        SignedUp::VerificationRequired => {
            let now = visit.now.as_millis();
            visit.change_flow(|flow| flow.mailed_at = Some(now))?;
            Ok(visit.href("/auth/verify"))
        }
    }
}

fn view(visit: &Visit, name: String, email: String) -> Result<View, PageError> {
    let settings = visit.service().settings();
    Ok(View {
        form: (!settings.values.disable_sign_up).then(|| visit.form(PATH)),
        name,
        email,
        is_email_fixed: false,
        rules: PasswordRules::from(&settings.values.passwords()),
        providers: provider::links(visit),
        sign_in: visit.href("/auth/sign-in"),
        app: visit.app()?,
    })
}
