//! `/auth/account/password`: a new password, or the first one of an account without.

use axum::routing::get;
use latchkey_pages::views::{ChangePassword, PasswordRules};
use latchkey_service::sessions::PageSession;

use super::{PATH as OVERVIEW, confirm, to_sign_in};
use crate::entrance;
use crate::fields::Fields;
use crate::page::Page;
use crate::problem::Rejection;
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};

const PATH: &str = "/auth/account/password";
const CURRENT: &str = "current_password";
const NEW: &str = "new_password";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

async fn show(visit: Visit) -> Outcome {
    let Some(session) = &visit.session else { return to_sign_in(visit) };
    visit.page(&view(&visit, session))
}

async fn act(Submission { mut visit, mut fields }: Submission) -> Outcome {
    let Some(session) = visit.session.clone() else { return to_sign_in(visit) };
    match set(&mut visit, &session, &mut fields).await {
        Ok(()) => visit.go_to(&visit.href_with(OVERVIEW, &[("notice", "password_changed")])),
        Err(rejection) => {
            let view = view(&visit, &session);
            confirm::refuse(visit, &fields, rejection, &view).await
        }
    }
}

/// Sets the password. The other sessions end, and this one goes on under a new token.
async fn set(visit: &mut Visit, session: &PageSession, fields: &mut Fields) -> Result<(), Rejection> {
    let has_password = session.user().has_password;
    let current = if has_password { fields.password(CURRENT)? } else { None };
    let new = fields.password(NEW)?;
    let Some(new) = new.filter(|_| !fields.has_problems()) else { return Err(fields.rejection()) };
    let (passwords, client) = (&visit.service().passwords, visit.to_client());
    let token = match current {
        Some(current) => passwords.change(session, current, new, client).await,
        None => passwords.set(session, new, client).await,
    };
    let least = visit.service().settings().values.password_min_length;
    let token = token.map_err(|error| worded(error.into(), least))?;
    if let Some(token) = token {
        entrance::set_token(visit, &token, session.session())?;
    }
    Ok(())
}

fn worded(rejection: Rejection, least: usize) -> Rejection {
    rejection.with_least(least).of_password(CURRENT).with_problems(|problems| {
        for problem in problems.iter_mut().filter(|problem| problem.field == Some("password")) {
            problem.field = Some(NEW);
        }
    })
}

fn view(visit: &Visit, session: &PageSession) -> ChangePassword {
    let user = session.user();
    ChangePassword {
        form: visit.form(PATH),
        email: user.email.as_typed().to_owned(),
        has_password: user.has_password,
        rules: PasswordRules::from(&visit.service().settings().values.passwords()),
    }
}
