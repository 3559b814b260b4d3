//! A visit of an operator who is signed in. To add a page: write `console/{path}.rs` with `pub(crate) const PAGE: Page`, add
//! it to `console/list.rs` and to the parent module, and take [`ConsoleVisit`] (`GET`) or [`Sent`] (`POST`). Show a form if
//! [`ConsoleVisit::may`] permits its act; begin its handler with `let submission = sent.must(act).await?`.
//!
//! The place of the navigation and its crumb follow from the path. Who may not read the place gets the 403 page.
//!
//! [`Sent`]: super::submission::Sent

use std::ops::{Deref, DerefMut};

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{Method, StatusCode};
use latchkey_domain::operator::{Act, Party, Role};
use latchkey_domain::user::UserId;
use latchkey_pages::console::{Crumb, CrumbText, Frame, Operator, Place};
use latchkey_pages::{Ending, Form, View, When};
use latchkey_service::sessions::ConsoleSession;

use super::guest::Guest;
use super::list;
use super::rejection::Rejection;
use super::sign_in::to_sign_in;
use super::sign_out;
use super::state::Console;
use super::stop::{Outcome, Stop};
use crate::errors::PageError;

/// A request of an operator who is signed in. Without a session the browser is sent to the sign-in, which leads back.
pub(crate) struct ConsoleVisit {
    guest: Guest,
    session: ConsoleSession,
    place: Option<Place>,
    crumbs: Vec<Crumb>,
    /// Path and query of the request.
    here: String,
    /// User whom the request concerns, for the audit log.
    about: Option<UserId>,
}

/// A request to a page of operators, before the check whether the operator may open the place. A form is checked first:
/// one from another site does not even leave a refusal in the audit log.
pub(super) enum Arrival {
    SignedIn(Box<ConsoleVisit>),
    /// Without a session; with path and query of the request.
    Guest(Box<Guest>, String),
}

impl FromRequestParts<Console> for ConsoleVisit {
    type Rejection = Stop;

    async fn from_request_parts(parts: &mut Parts, console: &Console) -> Result<Self, Stop> {
        match Arrival::from_request_parts(parts, console).await? {
            Arrival::SignedIn(visit) => {
                visit.must_open_place().await?;
                Ok(*visit)
            }
            Arrival::Guest(guest, here) => {
                let is_read = matches!(parts.method, Method::GET | Method::HEAD);
                let next = if is_read { here.as_str() } else { guest.path() };
                Err(to_sign_in(&guest, next))
            }
        }
    }
}

impl FromRequestParts<Console> for Arrival {
    type Rejection = Stop;

    async fn from_request_parts(parts: &mut Parts, console: &Console) -> Result<Self, Stop> {
        let guest = Guest::from_request_parts(parts, console).await?;
        let here = parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
        let Some(session) = guest.session.clone() else { return Ok(Self::Guest(Box::new(guest), here)) };
        let place = place_of(guest.path());
        let above = place.filter(|place| place.path() != guest.path());
        let crumb = |place: Place| Crumb { text: CrumbText::Place(place), href: place.path().to_owned() };
        let crumbs = above.map(crumb).into_iter().collect();
        Ok(Self::SignedIn(Box::new(ConsoleVisit { guest, session, place, crumbs, here, about: None })))
    }
}

impl Deref for ConsoleVisit {
    type Target = Guest;

    fn deref(&self) -> &Guest {
        &self.guest
    }
}

impl DerefMut for ConsoleVisit {
    fn deref_mut(&mut self) -> &mut Guest {
        &mut self.guest
    }
}

impl ConsoleVisit {
    pub(crate) const fn session(&self) -> &ConsoleSession {
        &self.session
    }

    /// Returns the operator as the party that acts, for use cases.
    pub(crate) const fn party(&self) -> Party {
        self.session.party()
    }

    /// Returns the user of the operator's own account.
    pub(crate) const fn user_id(&self) -> UserId {
        self.session.user().id
    }

    pub(crate) const fn role(&self) -> Role {
        self.session.role()
    }

    /// True if the operator may do the act.
    pub(crate) fn may(&self, act: Act) -> bool {
        self.session.may(act)
    }

    /// Returns the form of an act; `None` if the operator may not do it.
    pub(crate) fn form_of(&self, act: Act, path: &str) -> Option<Form> {
        self.may(act).then(|| self.form(path))
    }

    /// Returns the form of an act whose address has further parameters, which need no encoding.
    pub(crate) fn form_of_with(&self, act: Act, path: &str, parameters: &[(&str, &str)]) -> Option<Form> {
        self.may(act).then(|| self.form_with(path, parameters))
    }

    /// Refuses what the operator may not do or read: the 403 page, and an audit event.
    pub(crate) async fn must(&self, act: Act) -> Result<(), Stop> {
        if self.may(act) {
            return Ok(());
        }
        self.record_refusal(act).await?;
        Err(self.stop(PageError::forbidden()))
    }

    /// Refuses an operator who may not open the place of the navigation.
    pub(super) async fn must_open_place(&self) -> Result<(), Stop> {
        match self.place {
            Some(place) => self.must(place.act()).await,
            None => Ok(()),
        }
    }

    /// Names the user whom the request concerns. Refusals are audited with it.
    pub(crate) const fn concerns(&mut self, user: UserId) {
        self.about = Some(user);
    }

    /// Records that the operator asked for an act that is refused.
    pub(crate) async fn record_refusal(&self, act: Act) -> Result<(), Stop> {
        let (console, client) = (&self.service().console, self.to_client());
        Ok(console.record_refusal(&self.session, act, self.about, &client).await?)
    }

    /// Returns the 404 page, for what does not exist.
    pub(crate) fn not_found(&self) -> Stop {
        self.stop(PageError::not_found())
    }

    /// Returns an error page in the operator's frame.
    pub(crate) fn stop(&self, error: PageError) -> Stop {
        Stop::Error(Box::new(error), Some(Box::new(self.frame())))
    }

    /// Adds a page above this one, which the trail of crumbs names.
    pub(crate) fn below(&mut self, text: CrumbText, href: impl Into<String>) {
        self.crumbs.push(Crumb { text, href: href.into() });
    }

    /// Returns path and query of the request.
    pub(crate) fn here(&self) -> &str {
        &self.here
    }

    /// Shows a page.
    pub(crate) fn page(&self, view: &(dyn View + Sync)) -> Outcome {
        self.page_as(StatusCode::OK, view)
    }

    /// Shows a page with another status.
    pub(crate) fn page_as(&self, status: StatusCode, view: &(dyn View + Sync)) -> Outcome {
        self.render(status, &self.frame(), view)
    }

    /// Shows a form again with the reason for which it was refused.
    pub(crate) fn refuse(&self, rejection: Rejection, view: &(dyn View + Sync)) -> Outcome {
        self.refuse_in(self.frame(), rejection.naming_limit(), view)
    }

    pub(super) fn frame(&self) -> Frame {
        let role = self.role();
        let is_open = |place: &Place| role.may(place.act()) && list::has(place.path());
        let places = Place::ALL.iter().copied().filter(is_open).collect();
        Frame {
            operator: Some(Operator {
                name: self.session.name().to_owned(),
                role,
                places,
                sign_out: self.form(sign_out::PATH),
            }),
            place: self.place,
            crumbs: self.crumbs.clone(),
            notice: self.notice(),
            ending: Some(self.ending()),
            ..Frame::new(When(self.now))
        }
    }

    /// Returns the end of the session. Any request postpones it, up to the absolute end.
    fn ending(&self) -> Ending {
        let ends = self.session.session().expires_at();
        Ending { seconds: ends.since(self.now).as_secs(), stay: self.here.clone() }
    }
}

/// Returns the place of the navigation that a path belongs to.
fn place_of(path: &str) -> Option<Place> {
    let is_at = |place: &Place| {
        let rest = path.strip_prefix(place.path());
        rest.is_some_and(|rest| rest.is_empty() || (*place != Place::Overview && rest.starts_with('/')))
    };
    Place::ALL.iter().copied().find(is_at)
}
