//! Mailed links, which a browser opens at this service. The service then redirects to the app's redirect target, or
//! shows a page.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::codes::Purpose;
use latchkey_domain::redirect::RedirectUrl;
use latchkey_domain::tokens::{LinkToken, RefreshToken};
use latchkey_store::{Browser, Consent, LinkState, LinkStatus, OpenLink, OpenedLink};

use super::Mailbox;
use crate::error::Result;

/// The kind of request for a verification link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visit {
    /// A GET request: the user opened the link.
    Open,
    /// A POST request: on the consent page, the user agreed that verification may remove the account's
    /// password, sessions and other data.
    Agree,
    /// A HEAD request, which verifies nothing.
    Look,
}

/// The cookies of a browser that opens a link.
#[derive(Default)]
pub struct LinkBrowser {
    pub refresh: Option<RefreshToken>,
    /// The token of the cookie that a sign-up in this browser set, if the browser sends it.
    pub sign_up: Option<LinkToken>,
}

/// The response to a browser that opens a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkAnswer {
    /// Redirect to this URL of the app.
    Redirect(String),
    /// An error page, because there is no allowed redirect target.
    Page(LinkProblem),
    /// The consent page. It warns that verification would remove what was added to the account before, such
    /// as password and sessions.
    Ask {
        /// The redirect target after consent.
        target: Option<RedirectUrl>,
    },
}

/// The reason for which a link failed. Its message is shown on the error page, or sent to the app by redirect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkProblem {
    /// The token is missing or unknown.
    Unknown,
    /// The link has expired.
    Expired,
    /// A newer link was sent, or the account changed.
    Superseded,
    /// The password was already reset with this link.
    Used,
    /// The link is valid, but its redirect target is no longer allowed, and there is no default.
    NoTarget,
}

impl LinkProblem {
    /// Returns a sentence for the user who opened the link.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::Unknown => "This link is not valid. Please request a new one.",
            Self::Expired => "This link has expired. Please request a new one.",
            Self::Superseded => "This link was replaced by a newer one. Please use the latest mail.",
            Self::Used => "This link was already used. Please request a new one.",
            Self::NoTarget => {
                "The page that this link leads to is no longer allowed. Please go back to the app."
            }
        }
    }
}

impl Mailbox {
    /// Opens a verification link: verifies the address without signing in. It can be opened repeatedly,
    /// because mail scanners open links too. The user must consent first if the browser is not known to be
    /// the account owner's and verification would remove password, sessions and other data, which an attacker
    /// may have added before.
    pub async fn open_verify_link(
        &self,
        token: Option<&str>,
        visit: Visit,
        browser: LinkBrowser,
        client: &Client,
    ) -> Result<LinkAnswer> {
        let purpose = Purpose::VerifyEmail;
        let Some(token) = token.and_then(LinkToken::parse) else {
            return Ok(self.link_answer(purpose, None, None));
        };
        let now = self.kernel.now();
        let takes = self.attempt_takes(client);
        let consent = match visit {
            Visit::Look => {
                let looked = self.kernel.store.inspect_link(token.hash(), purpose, &takes, now).await??;
                return Ok(self.opened_link(purpose, looked, None));
            }
            Visit::Open => Consent::Unasked,
            Visit::Agree => Consent::Given,
        };
        let link = OpenLink {
            token: token.hash(),
            browser: self.seen_browser(&browser),
            consent,
            takes,
            event: self.kernel.event(AuditKind::EmailVerified, Actor::User, Some(client), now),
            mail: self.kernel.required_notification(Some(client), None, now)?,
            now,
        };
        let opened = self.kernel.store.open_verify_link(link).await??;
        Ok(self.opened_link(purpose, opened, None))
    }

    fn seen_browser(&self, browser: &LinkBrowser) -> Browser {
        let refresh = browser.refresh.as_ref().map(|token| self.sessions.presented_token(token));
        Browser { refresh, sign_up: browser.sign_up.as_ref().map(LinkToken::hash) }
    }

    /// Opens a reset link. It can be opened any number of times; only the reset itself uses it up.
    pub async fn open_reset_link(&self, token: Option<&str>, client: &Client) -> Result<LinkAnswer> {
        let purpose = Purpose::ResetPassword;
        let Some(token) = token.and_then(LinkToken::parse) else {
            return Ok(self.link_answer(purpose, None, None));
        };
        let takes = self.attempt_takes(client);
        let opened =
            self.kernel.store.inspect_link(token.hash(), purpose, &takes, self.kernel.now()).await??;
        Ok(self.opened_link(purpose, opened, Some(&token)))
    }

    fn opened_link(&self, purpose: Purpose, opened: OpenedLink, token: Option<&LinkToken>) -> LinkAnswer {
        match opened {
            OpenedLink::Known(state) => self.link_answer(purpose, Some(&state), token),
            OpenedLink::Asks { redirect_to } => {
                LinkAnswer::Ask { target: self.link_target(redirect_to.as_deref()) }
            }
            OpenedLink::Unknown => self.link_answer(purpose, None, None),
        }
    }

    pub(super) fn link_answer(
        &self,
        purpose: Purpose,
        state: Option<&LinkState>,
        token: Option<&LinkToken>,
    ) -> LinkAnswer {
        let problem = match state.map(|state| state.status) {
            None => Some(LinkProblem::Unknown),
            Some(LinkStatus::Good) => None,
            Some(LinkStatus::Expired) => Some(LinkProblem::Expired),
            Some(LinkStatus::Superseded) => Some(LinkProblem::Superseded),
            Some(LinkStatus::Used) => Some(LinkProblem::Used),
        };
        let stored = state.and_then(|state| state.redirect_to.as_deref());
        let Some(target) = self.link_target(stored) else {
            return LinkAnswer::Page(problem.unwrap_or(LinkProblem::NoTarget));
        };
        LinkAnswer::Redirect(self.link_url(&target, purpose, problem, token))
    }

    /// Returns the stored redirect target if it is still allowed, else the default.
    fn link_target(&self, stored: Option<&str>) -> Option<RedirectUrl> {
        let settings = self.kernel.settings.load();
        let stored = stored.and_then(|url| settings.redirects.check(url).ok());
        stored.or_else(|| settings.default_redirect.clone())
    }

    fn link_url(
        &self,
        target: &RedirectUrl,
        purpose: Purpose,
        problem: Option<LinkProblem>,
        token: Option<&LinkToken>,
    ) -> String {
        let [status, kind, error, code] =
            ["status", "type", "error", "code"].map(|name| self.kernel.site.parameter(name));
        let good = match purpose {
            Purpose::VerifyEmail => "success",
            Purpose::ResetPassword
            | Purpose::Reauthenticate
            | Purpose::SignIn
            | Purpose::EmailChangeNew
            | Purpose::EmailChangeCurrent => "ready",
        };
        let mut parameters = vec![
            (status.as_str(), if problem.is_some() { "error" } else { good }),
            (&kind, purpose.as_str()),
        ];
        match problem {
            Some(problem) => parameters.push((&error, problem.message())),
            None => parameters.extend(token.map(|token| ("token", token.expose()))),
        }
        let own = [status.as_str(), &kind, &error, &code, "token"];
        // A verification link passes no token to the app, so the app may use the parameter `token` for itself.
        let own = if purpose == Purpose::VerifyEmail { &own[..4] } else { &own[..] };
        target.with_query(&parameters, own)
    }
}
