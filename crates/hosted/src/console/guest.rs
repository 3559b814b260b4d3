//! A request to the console that may come before the sign-in: what every page needs of it, and the responses that it
//! gives.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use http::header::{LOCATION, SET_COOKIE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use latchkey_domain::client::Client;
use latchkey_domain::page_session::ConsoleToken;
use latchkey_domain::time::Timestamp;
use latchkey_http::client::ClientInfo;
use latchkey_http::error::ApiError;
use latchkey_http::query::Query;
use latchkey_pages::console::{Frame, Notice};
use latchkey_pages::{Form, View, When};
use latchkey_service::Service;
use latchkey_service::sessions::{ConsoleSession, ConsoleSignIn, ConsoleSignedIn};
use serde::{Deserialize, Serialize};

use super::rejection::Rejection;
use super::state::Console;
use super::stop::{Outcome, Stop};
use crate::browser::Browser;
use crate::errors::PageError;
use crate::form_token;
use crate::response::{add_headers, html};
use crate::sealed::{self, Carried, Opened};

/// Query parameter of a notice.
const TOLD: &str = "told";
/// Time in which the page after an act can be opened and reloaded with the notice.
const TOLD_LIFETIME: Duration = Duration::from_mins(1);

/// A request to the console, before or after the sign-in.
pub(crate) struct Guest {
    pub(crate) console: Console,
    pub(crate) client: ClientInfo,
    pub(crate) query: Query,
    /// Time of the request.
    pub(crate) now: Timestamp,
    pub(super) browser: Browser,
    /// The live console session of this browser.
    pub(super) session: Option<ConsoleSession>,
    path: String,
    cookies: Vec<HeaderValue>,
}

/// A session that was proved in this request. The form that waited for the proof is submitted again with it.
#[derive(Clone)]
pub(super) struct Proved(pub(super) Arc<ConsoleSession>);

/// A notice on its way to the next page.
#[derive(Serialize, Deserialize)]
struct Told(Notice);

impl Carried for Told {
    const KIND: &'static str = "console-notice";
}

impl FromRequestParts<Console> for Guest {
    type Rejection = Stop;

    async fn from_request_parts(parts: &mut Parts, console: &Console) -> Result<Self, Stop> {
        let client = ClientInfo::from_request_parts(parts, console).await?;
        let mut guest = Self {
            now: console.service.now(),
            browser: Browser::of(console, &parts.headers),
            path: parts.uri.path().to_owned(),
            query: Query::parse(parts.uri.query().unwrap_or_default())?,
            session: None,
            cookies: Vec::new(),
            console: console.clone(),
            client,
        };
        if guest.browser.is_new {
            let cookie = guest.console.browser.set_until_closed(&guest.browser.secret.expose());
            guest.set_cookie(cookie)?;
        } else {
            let proved = parts.extensions.get::<Proved>().map(|proved| (*proved.0).clone());
            guest.session = match proved {
                Some(session) => Some(session),
                None => guest.find_session(&parts.headers).await?,
            };
        }
        Ok(guest)
    }
}

impl Guest {
    pub(crate) fn service(&self) -> &Service {
        &self.console.service
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Returns the client in the form of use cases.
    pub(crate) fn to_client(&self) -> Client {
        self.client.to_domain()
    }

    /// Finds the console session of the cookie, if it is live and of this browser.
    async fn find_session(&self, headers: &HeaderMap) -> Result<Option<ConsoleSession>, PageError> {
        let cookie = self.console.session_cookie.read(headers);
        let token = cookie.and_then(|cookie| ConsoleToken::parse(cookie.expose()));
        let Some(token) = token else { return Ok(None) };
        Ok(self.find(&token).await?)
    }

    async fn find(&self, token: &ConsoleToken) -> latchkey_service::Result<Option<ConsoleSession>> {
        self.service().console.find(token, &self.browser.secret, &self.to_client()).await
    }

    /// Returns the sign-in of this browser for use cases.
    pub(super) fn sign_in(&self) -> ConsoleSignIn {
        ConsoleSignIn::new(&self.browser.secret, self.session.as_ref())
    }

    /// Sets the cookie of a console session that was just opened or renewed. It ends with the browser.
    pub(super) fn take(&mut self, signed_in: &ConsoleSignedIn) -> Result<(), PageError> {
        let cookie = self.console.session_cookie.set_until_closed(&signed_in.token.expose());
        self.set_cookie(cookie)
    }

    /// Takes a renewed session; returns it as the next request finds it.
    pub(super) async fn renew(&mut self, signed_in: &ConsoleSignedIn) -> Result<ConsoleSession, PageError> {
        self.take(signed_in)?;
        let found = self.find(&signed_in.token).await?;
        found.ok_or_else(PageError::stale_form)
    }

    /// Ends the console session of this browser, and removes its cookie.
    pub(super) async fn leave(&mut self) -> Result<(), PageError> {
        if let Some(session) = self.session.take() {
            self.service().console.sign_out(&session, &self.to_client()).await?;
        }
        let cookie = self.console.session_cookie.clear();
        self.set_cookie(cookie)
    }

    /// Returns a form that acts on a page.
    pub(crate) fn form(&self, path: &str) -> Form {
        self.form_with(path, &[])
    }

    /// Returns a form whose address has further parameters, which need no encoding.
    pub(crate) fn form_with(&self, path: &str, parameters: &[(&str, &str)]) -> Form {
        Form { action: href(path, parameters), token: self.form_token(path, self.session.as_ref()) }
    }

    /// Computes the token of a form, as it is right in this session. It says whose it is, so that a form that comes after
    /// the end of the session can be kept for its operator.
    pub(super) fn form_token(&self, path: &str, session: Option<&ConsoleSession>) -> String {
        let scope = scope(session);
        let token = form_token::token(&self.console, &self.browser, path, &scope);
        if scope.is_empty() { token } else { form_token::with_scope(token, &scope) }
    }

    /// True if the token of a form of this page is right.
    pub(super) fn owns(&self, token: &str) -> bool {
        let scope = scope(self.session.as_ref());
        !self.browser.is_new && form_token::is_right(&self.console, &self.browser, &self.path, &scope, token)
    }

    /// Returns the id of the user whose session ended after it was shown a form of this page; `None` for the token of any
    /// other form. Nothing that the form asks for may be done.
    pub(super) fn late_owner(&self, token: &str) -> Option<String> {
        let scope = form_token::scope(token).filter(|_| self.session.is_none() && !self.browser.is_new)?;
        let is_right = form_token::is_right(&self.console, &self.browser, &self.path, scope, token);
        let (_, user) = scope.split_once('.').filter(|_| is_right)?;
        Some(user.to_owned())
    }

    /// Seals a value for this browser.
    pub(super) fn seal<T: Carried>(&self, ends: Timestamp, value: T) -> Result<String, PageError> {
        sealed::seal(&self.console, &self.browser, ends, value)
    }

    /// Opens a value that was sealed for this browser and has not expired.
    pub(super) fn open<T: Carried>(&self, text: &str) -> Option<T> {
        let opened: Opened<T> = sealed::open(&self.console, &self.browser, text)?;
        (opened.ends > self.now).then_some(opened.value)
    }

    /// Adds a `Set-Cookie` to the response.
    pub(super) fn set_cookie<E>(&mut self, cookie: Result<HeaderValue, E>) -> Result<(), PageError>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.cookies.push(cookie.map_err(PageError::internal)?);
        Ok(())
    }

    /// Sends the browser on after a form, to a page that can be loaded again. `address` is a path of the console with its
    /// query.
    pub(crate) fn go_to(&self, address: &str) -> Outcome {
        self.redirect(StatusCode::SEE_OTHER, address)
    }

    /// Sends the browser from a link to another site.
    pub(super) fn go_out(&self, url: &str) -> Outcome {
        self.redirect(StatusCode::FOUND, url)
    }

    fn redirect(&self, status: StatusCode, address: &str) -> Outcome {
        let location = HeaderValue::try_from(address).map_err(PageError::internal)?;
        let mut response = (status, [(LOCATION, location)]).into_response();
        add_headers(&mut response);
        Ok(self.with_cookies(response))
    }

    /// Sends the browser on after a form, to a page that reports the act.
    pub(crate) fn go_to_with(&self, address: &str, notice: Notice) -> Outcome {
        let told = self.seal(self.now.plus(TOLD_LIFETIME), Told(notice))?;
        let separator = if address.contains('?') { '&' } else { '?' };
        self.go_to(&format!("{address}{separator}{TOLD}={told}"))
    }

    /// Shows a page before the sign-in.
    pub(super) fn page(&self, view: &(dyn View + Sync)) -> Outcome {
        self.page_as(StatusCode::OK, view)
    }

    /// Shows a page before the sign-in with another status.
    pub(super) fn page_as(&self, status: StatusCode, view: &(dyn View + Sync)) -> Outcome {
        self.render(status, &self.frame(), view)
    }

    /// Shows a form before the sign-in again, with the reason for which it was refused.
    pub(super) fn refuse(&self, rejection: Rejection, view: &(dyn View + Sync)) -> Outcome {
        self.refuse_in(self.frame(), rejection, view)
    }

    /// Shows a form again in a frame.
    pub(super) fn refuse_in(
        &self,
        mut frame: Frame,
        rejection: Rejection,
        view: &(dyn View + Sync),
    ) -> Outcome {
        match rejection {
            Rejection::Form(refused) => {
                frame.problems = refused.problems;
                let page = self.render(refused.error.status, &frame, view)?;
                Ok(refused.error.into_page(page))
            }
            Rejection::Stop(stop) => Err(stop),
        }
    }

    pub(super) fn render(&self, status: StatusCode, frame: &Frame, view: &(dyn View + Sync)) -> Outcome {
        let text = self.console.templates.render(frame, view).map_err(PageError::internal)?;
        let page = self.with_cookies(html(status, text));
        let is_error = status.is_client_error() || status.is_server_error();
        Ok(if is_error { ApiError::of_status(status).into_page(page) } else { page })
    }

    /// Sends a file that a handler built, with the headers of pages.
    pub(crate) fn file(&self, mut response: Response) -> Response {
        add_headers(&mut response);
        self.with_cookies(response)
    }

    fn frame(&self) -> Frame {
        Frame { notice: self.notice(), ..Frame::new(When(self.now)) }
    }

    /// Returns the notice that the page before asked to show.
    pub(super) fn notice(&self) -> Option<Notice> {
        let told = self.query.optional(TOLD).ok()??;
        self.open::<Told>(&told).map(|Told(notice)| notice)
    }

    fn with_cookies(&self, mut response: Response) -> Response {
        for cookie in &self.cookies {
            response.headers_mut().append(SET_COOKIE, cookie.clone());
        }
        response
    }
}

/// Returns what form tokens are bound to beside browser and path: the session and its user.
fn scope(session: Option<&ConsoleSession>) -> String {
    let text = |session: &ConsoleSession| format!("{}.{}", session.session().id, session.user().id);
    session.map(text).unwrap_or_default()
}

/// Returns an address with parameters, which need no encoding.
pub(super) fn href(path: &str, parameters: &[(&str, &str)]) -> String {
    let query: Vec<_> = parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{}", query.join("&")) }
}
