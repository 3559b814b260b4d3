//! The forms of a visit, and their tokens.
//!
//! A token is bound to the flow of its page; without a flow to the page session and its user. A sign-in in one tab leaves
//! the flows of other tabs good, so a form that acts for the page session is bound to that too: it does what the person
//! saw, or nothing.

use latchkey_pages::Form;

use super::Visit;
use crate::form_token;

/// Query parameter that says what a form does.
const ACT: &str = "act";

impl Visit {
    /// Returns a form that acts on a page of the same flow.
    pub(crate) fn form(&self, path: &str) -> Form {
        self.form_with(path, &[])
    }

    pub(crate) fn form_with(&self, path: &str, parameters: &[(&str, &str)]) -> Form {
        let act = parameters.iter().find(|(name, _)| *name == ACT).map(|(_, act)| *act);
        let session = self.bound_session(path, act);
        let token = form_token::token(&self.hosted, &self.browser, path, &self.scope(session.as_deref()));
        let token = match session {
            Some(session) => form_token::with_scope(token, &session),
            None => token,
        };
        Form { action: self.href_with(path, parameters), token }
    }

    /// True if the token of a form of this page is right.
    pub(crate) fn owns(&self, token: &str) -> bool {
        let act = self.query.optional(ACT).ok().flatten();
        let session = self.bound_session(&self.path, act.as_deref());
        self.is_right(session.as_deref(), token)
    }

    /// Returns the id of the user whose page session ended after it was shown a form of this page; `None` for the token
    /// of any other form. Nothing that the form asks for may be done.
    pub(crate) fn late_owner(&self, token: &str) -> Option<String> {
        let session = form_token::scope(token).filter(|_| self.session.is_none())?;
        let (_, user) = session.split_once('.').filter(|_| self.is_right(Some(session), token))?;
        Some(user.to_owned())
    }

    fn is_right(&self, session: Option<&str>, token: &str) -> bool {
        let scope = self.scope(session);
        !self.browser.is_new && form_token::is_right(&self.hosted, &self.browser, &self.path, &scope, token)
    }

    /// Returns the page session and its user, if the token of a form is bound to them.
    fn bound_session(&self, path: &str, act: Option<&str>) -> Option<String> {
        let is_bound = self.flow.is_none() || acts_for_session(path, act);
        let session = self.session.as_ref().filter(|_| is_bound)?.session();
        Some(format!("{}.{}", session.id, session.user_id))
    }

    /// Returns what a token is bound to beside browser and path. The text of a flow has no dot, and a session has one.
    fn scope(&self, session: Option<&str>) -> String {
        let parts = [session, self.flow_text()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(".")
    }
}

/// True for a form that acts for the page session in a flow too. A form of a sign-in names its account itself.
fn acts_for_session(path: &str, act: Option<&str>) -> bool {
    match path {
        "/auth/sign-in" => act == Some("resume"),
        "/auth/challenge" => act == Some("next"),
        _ => path == "/auth/sign-out" || path.starts_with("/auth/account"),
    }
}
