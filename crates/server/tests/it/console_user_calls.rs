//! The page of one user in the console, in the browser of an operator.

use latchkey_domain::operator::Role;
use latchkey_testkit::console::form_token;
use latchkey_testkit::{Answer, Browser, Request, TestApp, TwoStepUser, User, Value};

use crate::audit::events;
use crate::console_calls::{ConsoleBrowser, operator};

const SESSION_COOKIE: &str = "latchkey_console_8700";
const BROWSER_COOKIE: &str = "latchkey_browser_8700";

/// An operator at the console.
pub(crate) struct Desk<'a> {
    app: &'a TestApp,
    pub(crate) browser: Browser,
    secret: String,
    pub(crate) session_id: String,
    /// Id of the operator's account.
    pub(crate) id: String,
}

/// Makes an operator of this role, who is signed in at the console.
pub(crate) async fn desk<'a>(app: &'a TestApp, name: &str, role: Role) -> Desk<'a> {
    desk_of(app, &operator(app, name, role).await).await
}

/// Signs an operator in at the console.
pub(crate) async fn desk_of<'a>(app: &'a TestApp, operator: &TwoStepUser) -> Desk<'a> {
    let mut browser = ConsoleBrowser::new(app);
    let session = browser.sign_in(operator).await;
    let token = browser.token.as_ref().expect("a console session").expose().clone();
    let secret = browser.secret.expose();
    let cookies = app.browser().with_cookie(BROWSER_COOKIE, secret.clone());
    Desk {
        app,
        browser: cookies.with_cookie(SESSION_COOKIE, token),
        secret,
        session_id: session.session().id.to_string(),
        id: operator.id.clone(),
    }
}

pub(crate) fn path_of(user: &User) -> String {
    format!("/console/users/{}", user.id)
}

impl Desk<'_> {
    /// Opens the page of a user.
    pub(crate) async fn page(&self, user: &User) -> Answer {
        self.browser.get(&path_of(user)).await
    }

    /// Opens the page of a user, and sends the form of an act.
    pub(crate) async fn act(&self, user: &User, act: &str, fields: &[(&str, &str)]) -> Answer {
        let page = self.page(user).await;
        self.browser.submit(&page, &format!("act={act}"), fields).await
    }

    /// Does an act, and returns the page that reports it.
    pub(crate) async fn acts(&self, user: &User, act: &str, fields: &[(&str, &str)]) -> Answer {
        let done = self.act(user, act, fields).await;
        self.browser.follow(&done).await
    }

    /// Sends the form of an act on a user although no page may have shown it, with a right token.
    pub(crate) async fn forces(&self, user: &User, act: &str, fields: &[(&str, &str)]) -> Answer {
        self.forces_at(&path_of(user), &format!("act={act}"), fields).await
    }

    /// Sends a form of any page although no page may have shown it, with a right token.
    pub(crate) async fn forces_at(&self, path: &str, query: &str, fields: &[(&str, &str)]) -> Answer {
        self.browser.send(self.forced(path, query, fields)).await
    }

    /// Builds the request of [`Desk::forces_at`], so that a test can change it.
    pub(crate) fn forced(&self, path: &str, query: &str, fields: &[(&str, &str)]) -> Request {
        self.form(path, query, &self.token(path), fields)
    }

    /// Computes the right token of a form at this path.
    pub(crate) fn token(&self, path: &str) -> String {
        let scope = format!("{}.{}", self.session_id, self.id);
        let token = form_token(&self.secret, path, &scope);
        format!("{token}.{scope}")
    }

    /// Builds the request of a form with this token.
    pub(crate) fn form(&self, path: &str, query: &str, token: &str, fields: &[(&str, &str)]) -> Request {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("form_token", token)
            .extend_pairs(fields)
            .finish();
        let request = self.app.anon().request("POST", &format!("{path}?{query}"));
        request
            .raw("application/x-www-form-urlencoded", body)
            .header("host", "localhost:8700")
            .header("origin", self.app.public_url())
            .header("sec-fetch-site", "same-origin")
    }

    /// Returns the same browser at another instance.
    pub(crate) fn on<'b>(&self, app: &'b TestApp) -> Desk<'b> {
        let cookie = |name| self.browser.cookie(name).expect("a cookie");
        let browser = app.browser().with_cookie(BROWSER_COOKIE, cookie(BROWSER_COOKIE));
        Desk {
            app,
            browser: browser.with_cookie(SESSION_COOKIE, cookie(SESSION_COOKIE)),
            secret: self.secret.clone(),
            session_id: self.session_id.clone(),
            id: self.id.clone(),
        }
    }
}

/// Asserts that the newest event of this kind is an act of the operator on the user.
pub(crate) async fn audited(app: &TestApp, event: &str, desk: &Desk<'_>, user: &User) -> Value {
    let events = events(app).await;
    let found = events.iter().find(|found| found["event"] == event && found["userId"] == user.id.as_str());
    let found = found.unwrap_or_else(|| panic!("no {event} about {} in {events:#?}", user.id)).clone();
    assert_eq!(
        (&found["actor"], &found["operatorId"]),
        (&"operator".into(), &desk.id.clone().into()),
        "{found}"
    );
    found
}
