//! The flow: what a browser does between its arrival from an app and its return there. It is sealed into the query
//! parameter `flow`, so visitors write no rows.

use std::time::Duration;

use latchkey_http::query::Query;
use latchkey_pages::views::App;
use latchkey_service::page_sessions::TargetApp;
use latchkey_service::sessions::{Challenge, KeepSignedIn};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::errors::PageError;
use crate::hosted::Hosted;
use crate::provider::Departure;
use crate::sealed::Carried;

/// Name of the query parameter.
pub(crate) const PARAMETER: &str = "flow";
/// Name of the query parameter of a mailed link with the flow that asked for the mail.
pub(crate) const BEGUN: &str = "begun";
/// Query parameters that a flow is made of.
pub(crate) const CONTENTS: [&str; 8] =
    [PARAMETER, BEGUN, "redirect_uri", "code_challenge", "state", "login_hint", "prompt", "max_age"];
/// Lifetime of a flow.
pub(crate) const LIFETIME: Duration = Duration::from_mins(30);
/// Maximum length of the app's `state`.
const LONGEST_STATE: usize = 512;
/// Maximum length of an email address, in bytes.
const LONGEST_EMAIL: usize = 254;
/// Length of an S256 code challenge (RFC 7636 section 4.2).
const CHALLENGE_LENGTH: usize = 43;

/// The contents of a flow.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Flow {
    /// The app that the flow returns to; `None` if it ends at the own account.
    pub(crate) app: Option<AppRequest>,
    /// Language that the person chose.
    pub(crate) locale: Option<String>,
    /// Email address that was typed, or that the app named.
    pub(crate) email: Option<String>,
    /// Time of the last mail that was asked for, in milliseconds since 1970.
    pub(crate) mailed_at: Option<i64>,
    /// Page of the own account that the sign-in leads to, if it is not for an app; `None` for the overview.
    pub(crate) next: Option<String>,
    /// What was typed into the form of that page before its session ended.
    pub(crate) kept: Option<Kept>,
    /// PKCE verifier of the sign-in by mail that was asked for.
    pub(crate) verifier: Option<String>,
    /// The provider to which the person left, with the verifier for the way back.
    pub(crate) departed: Option<Departure>,
    /// Id of the page session whose account gets the identity that comes back from the provider; `None` for a sign-in.
    pub(crate) links: Option<String>,
    /// The challenge that is to be answered.
    pub(crate) asked: Option<Asked>,
    /// Address of the account whose page session ended, because another account signed in.
    pub(crate) left: Option<String>,
    /// Where the person can go after a sign-out.
    pub(crate) leaves_to: Option<String>,
    /// True if the app wants the person to sign in again, even with a page session.
    pub(crate) asks_again: bool,
    /// Longest time since the last sign-in that the app accepts, in seconds.
    pub(crate) max_age: Option<u64>,
}

/// What a person typed into a form of the own account.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) user_id: String,
    pub(crate) fields: Vec<(String, String)>,
}

impl Carried for Kept {
    const KIND: &'static str = "kept";
}

/// A challenge that is to be answered.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Asked {
    /// Id of the challenge.
    pub(crate) challenge: String,
    /// Path of the page that leads to another one.
    pub(crate) start: String,
    /// True if "Keep me signed in here" was ticked.
    pub(crate) is_kept: bool,
    /// Address of the account whose password reset asks; `None` for a sign-in. By the time of the answer the cookie of the
    /// reset may be gone, or that of another tab.
    pub(crate) reset: Option<String>,
}

impl Asked {
    /// Creates the question of a challenge to a sign-in that does not last. `start` is the page that leads to another one.
    pub(crate) fn of(challenge: &Challenge, start: &str) -> Self {
        Self { challenge: challenge.id.expose(), start: start.to_owned(), is_kept: false, reset: None }
    }
}

/// What an app asked for.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct AppRequest {
    pub(crate) redirect_uri: String,
    code_challenge: String,
    state: Option<String>,
}

impl Carried for Flow {
    const KIND: &'static str = "flow";
}

impl Flow {
    /// Reads the request of an app from the query. A bad one is a 400 page, never a redirect.
    pub(crate) fn begin(hosted: &Hosted, query: &Query) -> Result<Self, PageError> {
        let prompt = query.optional("prompt")?;
        let max_age = query.optional("max_age")?;
        let max_age = max_age.map(|text| text.parse::<u32>().map(u64::from)).transpose();
        Ok(Self {
            app: AppRequest::read(hosted, query)?,
            email: query.optional("login_hint")?.filter(|hint| is_kept(hint)),
            asks_again: prompt.as_deref() == Some("login"),
            max_age: max_age.map_err(|_| PageError::bad_target())?,
            ..Self::default()
        })
    }
}

/// True for a query with the request of an app.
pub(crate) fn is_of_app(query: &Query) -> Result<bool, PageError> {
    Ok(query.optional("redirect_uri")?.is_some() || query.optional("code_challenge")?.is_some())
}

/// True for an address that a flow has room for. Others are no addresses, and cannot be filled in.
pub(crate) fn is_kept(email: &str) -> bool {
    email.len() <= LONGEST_EMAIL && !email.contains(|c: char| c.is_control())
}

impl Flow {
    /// Tells whether the sign-in whose challenge is to be answered asked for a lasting session.
    pub(crate) fn keep(&self) -> KeepSignedIn {
        let is_kept = self.asked.as_ref().is_some_and(|asked| asked.is_kept);
        if is_kept { KeepSignedIn::Yes } else { KeepSignedIn::No }
    }
}

impl AppRequest {
    /// Reads redirect target, challenge and state. Without a target the default of the settings is meant; `None` without
    /// either, or if the query has neither target nor challenge.
    fn read(hosted: &Hosted, query: &Query) -> Result<Option<Self>, PageError> {
        if !is_of_app(query)? {
            return Ok(None);
        }
        let target = query.optional("redirect_uri")?;
        let challenge = query.optional("code_challenge")?;
        let state = query.optional("state")?;
        let settings = hosted.service.settings();
        let target = match target {
            Some(target) => Some(settings.redirects.check(&target).map_err(|_| PageError::bad_target())?),
            None => settings.default_redirect.clone(),
        };
        let is_digit = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_');
        let challenge = challenge.filter(|text| text.len() == CHALLENGE_LENGTH && text.bytes().all(is_digit));
        let is_state =
            |text: &String| text.len() <= LONGEST_STATE && text.bytes().all(|c| c.is_ascii_graphic());
        let code_challenge = challenge.filter(|_| state.as_ref().is_none_or(is_state));
        let code_challenge = code_challenge.ok_or_else(PageError::bad_target)?;
        Ok(target.map(|target| Self { redirect_uri: target.as_str().to_owned(), code_challenge, state }))
    }

    /// Returns the app for use cases, which check it again: an admin may have changed the list.
    pub(crate) fn target(&self) -> TargetApp<'_> {
        let (redirect_uri, code_challenge) = (self.redirect_uri.as_str(), self.code_challenge.as_str());
        TargetApp { redirect_uri, code_challenge, state: self.state.as_deref() }
    }

    /// Refuses an app whose target is not on the list of the operator any more.
    pub(crate) fn check(&self, hosted: &Hosted) -> Result<(), PageError> {
        hosted.service.page_sessions.check_app(&self.target()).map_err(|_| PageError::bad_target())
    }

    /// Returns the app as pages show it, with the way back that gives the sign-in up.
    pub(crate) fn shown(&self, hosted: &Hosted) -> Result<App, PageError> {
        let leave = hosted.service.page_sessions.give_up(&self.target());
        let leave = leave.map_err(|_| PageError::bad_target())?;
        Ok(App { host: host_of(&self.redirect_uri), leave: Some(leave) })
    }
}

/// Returns the host of a redirect target, or its scheme if it has no host.
pub(crate) fn host_of(target: &str) -> String {
    let Ok(url) = Url::parse(target) else { return String::new() };
    url.host_str().filter(|host| !host.is_empty()).unwrap_or(url.scheme()).to_owned()
}
