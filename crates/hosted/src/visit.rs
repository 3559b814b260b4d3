//! A visit: what every page needs of its request, and the responses that it gives.

mod forms;
mod frame;
mod mailed;
mod prolonged;

use std::sync::{LazyLock, OnceLock};

use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use http::header::{LOCATION, SET_COOKIE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use latchkey_domain::client::Client;
use latchkey_domain::locale::{LONGEST_LOCALE, Locale};
use latchkey_domain::page_session::PageToken;
use latchkey_domain::time::Timestamp;
use latchkey_http::client::ClientInfo;
use latchkey_http::error::ApiError;
use latchkey_http::query::Query;
use latchkey_pages::views::App;
use latchkey_pages::{Frame, View, Wait};
use latchkey_service::Service;
use latchkey_service::sessions::{KeepSignedIn, Opens, PageSession, PageSignIn, SignInClient};

use crate::browser::{Browser, is_prefetch};
use crate::errors::PageError;
use crate::flow::{self, Flow};
use crate::hosted::Hosted;
use crate::language;
use crate::problem::Rejection;
use crate::response::{add_headers, html};
use crate::sealed::{self, Carried, Opened};

/// The response of a page.
pub(crate) type Outcome = Result<Response, PageError>;

/// A request for a page.
pub(crate) struct Visit {
    pub(crate) hosted: Hosted,
    pub(crate) client: ClientInfo,
    pub(crate) query: Query,
    /// Time of the request.
    pub(crate) now: Timestamp,
    path: String,
    /// The query as it was sent.
    sent: String,
    is_head: bool,
    headers: HeaderMap,
    pub(crate) browser: Browser,
    /// The live page session of this browser.
    pub(crate) session: Option<PageSession>,
    flow: Option<SealedFlow>,
    /// The language of `?locale=`, if it has the shape of a language tag. Addresses and flows carry it.
    locale: Option<String>,
    cookies: Vec<HeaderValue>,
    /// End of what the page is about, if that cannot be postponed: a challenge, or the token of a mailed link.
    subject_ends: OnceLock<Timestamp>,
}

/// A flow with its text in the query.
struct SealedFlow {
    flow: Flow,
    ends: Timestamp,
    text: String,
}

impl FromRequestParts<Hosted> for Visit {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, hosted: &Hosted) -> Result<Self, PageError> {
        // Nobody sees what was fetched ahead, so it must not open a link, use a ticket up or prolong a session.
        if is_prefetch(&parts.headers) {
            return Err(PageError::forbidden());
        }
        let client = ClientInfo::from_request_parts(parts, hosted).await?;
        let sent = parts.uri.query().unwrap_or_default().to_owned();
        let query = Query::parse(&sent)?;
        let mut visit = Self {
            now: hosted.service.now(),
            browser: Browser::of(hosted, &parts.headers),
            path: parts.uri.path().to_owned(),
            sent,
            is_head: parts.method == Method::HEAD,
            headers: parts.headers.clone(),
            locale: query.optional("locale")?.filter(|locale| is_tag(locale)),
            session: None,
            flow: None,
            cookies: Vec::new(),
            subject_ends: OnceLock::new(),
            hosted: hosted.clone(),
            client,
            query,
        };
        if visit.browser.is_new {
            let cookie = visit.hosted.browser.set_until_closed(&visit.browser.secret.expose());
            visit.set_cookie(cookie)?;
        } else {
            visit.session = visit.find_session().await?;
        }
        let text = visit.query.optional(flow::PARAMETER)?;
        let resumed = text.map_or(Ok(()), |text| visit.resume(text));
        visit.tell(&parts.extensions);
        resumed.map(|()| visit)
    }
}

impl Visit {
    pub(crate) fn service(&self) -> &Service {
        &self.hosted.service
    }

    /// Finds the page session of the cookie, if it is live and of this browser.
    async fn find_session(&self) -> Result<Option<PageSession>, PageError> {
        let cookie = self.hosted.cookies.pages.read(&self.headers);
        let Some(token) = cookie.and_then(|cookie| PageToken::parse(cookie.expose())) else {
            return Ok(None);
        };
        let client = self.client.to_domain();
        Ok(self.service().page_sessions.find(&token, &self.browser.secret, &client).await?)
    }

    /// Returns the client of a sign-in, which opens a page session in this browser.
    pub(crate) fn sign_in_client(&self, keep: KeepSignedIn) -> SignInClient {
        let sign_in = PageSignIn::new(&self.browser.secret, keep, self.session.as_ref());
        SignInClient { client: self.to_client(), opens: Opens::Pages(sign_in) }
    }

    /// Returns the app of the flow, as pages show it.
    pub(crate) fn app(&self) -> Result<Option<App>, PageError> {
        self.flow().app.as_ref().map(|app| app.shown(&self.hosted)).transpose()
    }

    /// Tells the page when that ends what it is about.
    pub(crate) fn ends_at(&self, at: Timestamp) {
        self.subject_ends.get_or_init(|| at);
    }

    /// Takes the flow of the query. A language that was just chosen is stored in it, and `?stay=1` prolongs it.
    fn resume(&mut self, text: String) -> Result<(), PageError> {
        let opened = sealed::open::<Flow>(&self.hosted, &self.browser, &text);
        let Opened { mut value, ends } = opened.ok_or_else(PageError::bad_flow)?;
        let mut ends = self.end_of(&text, ends);
        if ends <= self.now {
            return Err(self.expired(&value));
        }
        // Before a sign-in opens a session for nothing.
        value.app.as_ref().map_or(Ok(()), |app| app.check(&self.hosted))?;
        if self.query.optional(frame::STAY)?.is_some() {
            ends = self.prolong(&text)?;
        }
        if self.locale.is_some() && value.locale != self.locale {
            value.locale = self.locale.take().or(value.locale);
            return self.seal_flow(value, ends);
        }
        self.flow = Some(SealedFlow { flow: value, ends, text });
        Ok(())
    }

    /// Returns the error of a flow of this browser that has ended. Without an app it can begin anew here.
    fn expired(&self, flow: &Flow) -> PageError {
        match flow.app {
            Some(_) => PageError::bad_flow(),
            None => PageError::expired().with_next(self.href_outside("/auth/sign-in", &[])),
        }
    }

    /// Begins a flow with what an app asks for in the query, unless the visit has one.
    pub(crate) fn begin(mut self) -> Result<Self, PageError> {
        if self.flow.is_none() {
            let flow = Flow { locale: self.locale.take(), ..Flow::begin(&self.hosted, &self.query)? };
            self.seal_flow(flow, self.now.plus(flow::LIFETIME))?;
        }
        Ok(self)
    }

    /// Changes the flow. Links and forms of the response carry the new one.
    pub(crate) fn change_flow(&mut self, change: impl FnOnce(&mut Flow)) -> Result<(), PageError> {
        let mut flow = self.flow().clone();
        let ends = self.flow.as_ref().map_or_else(|| self.now.plus(flow::LIFETIME), |flow| flow.ends);
        change(&mut flow);
        self.seal_flow(flow, ends)
    }

    fn seal_flow(&mut self, flow: Flow, ends: Timestamp) -> Result<(), PageError> {
        let text = sealed::seal(&self.hosted, &self.browser, ends, flow.clone())?;
        self.flow = Some(SealedFlow { flow, ends, text });
        Ok(())
    }

    /// Returns the flow; an empty one if the visit has none.
    pub(crate) fn flow(&self) -> &Flow {
        static NONE: LazyLock<Flow> = LazyLock::new(Flow::default);
        self.flow.as_ref().map_or(&NONE, |sealed| &sealed.flow)
    }

    /// Returns the flow as it stands in addresses.
    pub(crate) fn flow_text(&self) -> Option<&str> {
        self.flow.as_ref().map(|flow| flow.text.as_str())
    }

    /// Returns the address of another page in the same flow and language.
    pub(crate) fn href(&self, path: &str) -> String {
        self.href_with(path, &[])
    }

    /// Returns the address of another page with further parameters, which need no encoding.
    pub(crate) fn href_with(&self, path: &str, parameters: &[(&str, &str)]) -> String {
        let flow = self.flow.as_ref().map(|flow| (flow::PARAMETER, flow.text.as_str()));
        let locale = self.locale.as_deref().map(|locale| ("locale", locale));
        address(path, flow.into_iter().chain(locale).chain(parameters.iter().copied()))
    }

    /// Returns the address of another page like [`Self::href_with`], in the same language, but outside of the flow.
    pub(crate) fn href_outside(&self, path: &str, parameters: &[(&str, &str)]) -> String {
        let locale = self.locale.as_deref().or(self.flow().locale.as_deref());
        let locale = locale.map(|locale| ("locale", locale));
        address(path, locale.into_iter().chain(parameters.iter().copied()))
    }

    /// Returns the address of a page in a new flow.
    pub(crate) fn href_in(&self, path: &str, flow: Flow) -> Result<String, PageError> {
        let flow = Flow { locale: self.locale.clone().or(flow.locale), ..flow };
        let text = self.seal(self.now.plus(flow::LIFETIME), flow)?;
        Ok(format!("{path}?{}={text}", flow::PARAMETER))
    }

    /// Seals a value for this browser.
    pub(crate) fn seal<T: Carried>(&self, ends: Timestamp, value: T) -> Result<String, PageError> {
        sealed::seal(&self.hosted, &self.browser, ends, value)
    }

    /// Opens a value that was sealed for this browser, expired or not.
    pub(crate) fn open<T: Carried>(&self, text: &str) -> Option<Opened<T>> {
        sealed::open(&self.hosted, &self.browser, text)
    }

    /// Returns the client in the form of use cases, with the language of the page for its mails.
    pub(crate) fn to_client(&self) -> Client {
        let chosen = self.locale.as_deref().or(self.flow().locale.as_deref());
        let chosen = chosen.and_then(|tag| Locale::parse(tag).ok());
        let known = chosen.and_then(|locale| locale.best_of(&self.hosted.settings.locales).cloned());
        self.client.clone().in_locale(known).to_domain()
    }

    /// Returns the time until the next mail can be asked for; `None` if at once.
    pub(crate) fn wait_for_mail(&self) -> Option<Wait> {
        self.wait_after_mail(self.flow().mailed_at?)
    }

    /// Returns the time until the next mail, if one was asked for at `mailed_at`, in milliseconds since 1970.
    pub(crate) fn wait_after_mail(&self, mailed_at: i64) -> Option<Wait> {
        let next = Timestamp::from_millis(mailed_at).plus(self.service().mailbox.pause());
        (next > self.now).then(|| Wait(next.since(self.now)))
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Returns the name of an identity provider; its key if it is not configured any more.
    pub(crate) fn provider_name(&self, key: &str) -> String {
        let oauth = &self.service().oauth;
        let known = oauth.find_provider(oauth.provider_kind(key), key);
        known.map_or_else(|_| key.to_owned(), |known| known.name().to_owned())
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Adds a `Set-Cookie` to the response.
    pub(crate) fn set_cookie<E>(&mut self, cookie: Result<HeaderValue, E>) -> Result<(), PageError>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.cookies.push(cookie.map_err(PageError::internal)?);
        Ok(())
    }

    /// Shows a page.
    pub(crate) fn page(&self, view: &dyn View) -> Outcome {
        self.page_as(StatusCode::OK, view)
    }

    /// Shows a page with another status.
    pub(crate) fn page_as(&self, status: StatusCode, view: &dyn View) -> Outcome {
        let page = self.render(status, &self.frame(Vec::new()), view)?;
        let is_error = status.is_client_error() || status.is_server_error();
        Ok(if is_error { ApiError::of_status(status).into_page(page) } else { page })
    }

    /// Shows a page that only the first request gets. Its frame has no address to load it again.
    pub(crate) fn page_once(&self, view: &dyn View) -> Outcome {
        let frame = Frame { here: String::new(), ..self.frame(Vec::new()) };
        self.render(StatusCode::OK, &frame, view)
    }

    /// Shows the form again with the reason for which it was refused. A refusal that is not about the form is an error
    /// page.
    pub(crate) fn refuse(&self, rejection: Rejection, view: &dyn View) -> Outcome {
        match rejection {
            Rejection::Form(refused) => {
                let page = self.render(refused.error.status, &self.frame(refused.problems), view)?;
                Ok(refused.error.into_page(page))
            }
            Rejection::Page(error) => Err(error),
        }
    }

    /// Sends the browser on after a form, to a page that can be loaded again.
    pub(crate) fn go_to(&self, address: &str) -> Outcome {
        self.redirect(StatusCode::SEE_OTHER, address)
    }

    /// Sends the browser from a link to another site.
    pub(crate) fn go_out(&self, url: &str) -> Outcome {
        self.redirect(StatusCode::FOUND, url)
    }

    fn redirect(&self, status: StatusCode, address: &str) -> Outcome {
        let location = HeaderValue::try_from(address).map_err(PageError::internal)?;
        let mut response = (status, [(LOCATION, location)]).into_response();
        add_headers(&mut response);
        Ok(self.with_cookies(response))
    }

    /// Sends a file that another layer built, with the headers of pages.
    pub(crate) fn file(&self, mut response: Response) -> Response {
        add_headers(&mut response);
        self.with_cookies(response)
    }

    fn render(&self, status: StatusCode, frame: &Frame, view: &dyn View) -> Outcome {
        let language = language::choose(&self.hosted, &self.languages(), &self.headers);
        let text = self.hosted.pages.render(language, frame, view).map_err(PageError::internal)?;
        Ok(self.with_cookies(html(status, text)))
    }

    /// Adds the cookies. `HEAD` changes nothing, so its response has none.
    fn with_cookies(&self, mut response: Response) -> Response {
        for cookie in self.cookies.iter().filter(|_| !self.is_head) {
            response.headers_mut().append(SET_COOKIE, cookie.clone());
        }
        response
    }
}

/// Returns an address with further parameters, which need no encoding.
fn address<'a>(path: &str, parameters: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut address = path.to_owned();
    for (name, value) in parameters {
        let separator = if address.contains('?') { '&' } else { '?' };
        address.extend([separator.to_string().as_str(), name, "=", value]);
    }
    address
}

/// True for the length and the characters of a language tag, which need no encoding in a query.
fn is_tag(text: &str) -> bool {
    let is_plain = text.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-');
    is_plain && (1..=LONGEST_LOCALE).contains(&text.len())
}
