//! `/console/users/new`: an operator creates an account.

use axum::routing::get;
use latchkey_domain::operator::Act;
use latchkey_domain::password::Password;
use latchkey_domain::user::{AppMetadata, User};
use latchkey_pages::console::Notice;
use latchkey_pages::console::views::UserNew;
use latchkey_pages::views::PasswordRules;
use latchkey_service::admin::NewUser;
use latchkey_service::refusal::EMAIL_EXISTS;

use crate::console::page::Page;
use crate::console::rejection::Rejection;
use crate::console::stop::{Outcome, Stop};
use crate::console::submission::{ConsoleSubmission, Sent};
use crate::console::visit::ConsoleVisit;
use crate::problem;

pub(super) const PATH: &str = "/console/users/new";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

/// What was typed, without the password.
#[derive(Default)]
struct Typed {
    email: String,
    name: String,
    is_verified: bool,
}

async fn show(visit: ConsoleVisit) -> Outcome {
    visit.must(Act::CreateUsers).await?;
    visit.page(&view(&visit, Typed::default()))
}

async fn act(sent: Sent) -> Outcome {
    let mut submission = sent.must(Act::CreateUsers).await?;
    match create(&mut submission).await {
        Ok(user) => {
            let page = format!("{}/{}", super::PATH, user.id);
            submission.visit.go_to_with(&page, Notice::AccountCreated)
        }
        Err(rejection) => {
            let view = view(&submission.visit, typed(&submission)?);
            submission.visit.refuse(rejection, &view)
        }
    }
}

async fn create(submission: &mut ConsoleSubmission) -> Result<User, Rejection> {
    let is_verified = submission.fields.is_ticked("verified")?;
    let (email, name) = (submission.fields.email("email")?, submission.fields.name("name")?);
    let password = submission.fields.text("new_password")?;
    let Some(email) = email.filter(|_| !submission.fields.has_problems()) else {
        return Err(submission.fields.rejection().into());
    };
    let new = NewUser {
        email,
        password: (!password.is_empty()).then(|| Password::new(password)),
        name,
        auto_confirm: is_verified,
        create_profile: true,
        metadata: AppMetadata::default(),
        locale: None,
    };
    let visit = &submission.visit;
    let created = visit.service().admin.create_user(new, visit.party(), Some(&visit.to_client())).await;
    created.map_err(|error| refused(visit, error))
}

/// Shows a refused password at its field, with the least length.
fn refused(visit: &ConsoleVisit, error: latchkey_service::Error) -> Rejection {
    if matches!(&error, latchkey_service::Error::Refused(row) if row.name == EMAIL_EXISTS.name) {
        return error.into();
    }
    let least = visit.service().settings().values.passwords().min_length;
    let named = problem::Rejection::from(error).with_least(least).with_problems(|problems| {
        for problem in problems.iter_mut().filter(|problem| problem.field == Some("password")) {
            problem.field = Some("new_password");
        }
    });
    named.into()
}

fn typed(submission: &ConsoleSubmission) -> Result<Typed, Stop> {
    let fields = &submission.fields;
    Ok(Typed {
        email: fields.text("email")?,
        name: fields.text("name")?,
        is_verified: fields.is_ticked("verified")?,
    })
}

fn view(visit: &ConsoleVisit, typed: Typed) -> UserNew {
    UserNew {
        form: visit.form(PATH),
        email: typed.email,
        name: typed.name,
        is_verified: typed.is_verified,
        rules: PasswordRules::from(&visit.service().settings().values.passwords()),
        cancel: super::PATH.to_owned(),
    }
}
