//! The way from the pages to an app: a code, which the app exchanges as after a sign-in through a provider
//! ([`crate::oauth::exchange`]), or the error of a sign-in that the user gave up.

use latchkey_domain::redirect::RedirectUrl;
use latchkey_domain::tokens::LinkToken;
use latchkey_store::NewPageCode;

use super::PageSessions;
use crate::error::{Error, Result};
use crate::kernel::read_challenge;
use crate::refusal::AUTH_UNAUTHORIZED;
use crate::sessions::PageSession;

/// An app that a user signs in to on the pages, unvalidated.
pub struct TargetApp<'a> {
    /// Redirect target of the app.
    pub redirect_uri: &'a str,
    /// PKCE challenge of the app (method S256).
    pub code_challenge: &'a str,
    /// The app's parameter `state`, returned unchanged.
    pub state: Option<&'a str>,
}

impl PageSessions {
    /// Checks an app before its flow begins: the redirect target must be allowed, and the PKCE challenge well-formed.
    pub fn check_app(&self, app: &TargetApp<'_>) -> Result<()> {
        read_challenge(Some(app.code_challenge))?;
        self.target(app).map(|_| ())
    }

    /// Issues a code for an app, and returns the URL of the app with it. The code works once, for a minute, with the app's
    /// PKCE verifier, while the page session is live.
    pub async fn hand_over(&self, page: &PageSession, app: &TargetApp<'_>) -> Result<String> {
        let now = self.kernel.now();
        let target = self.target(app)?;
        let code = LinkToken::new(self.kernel.entropy.bytes());
        let new = NewPageCode {
            code: code.hash(),
            code_challenge: read_challenge(Some(app.code_challenge))?,
            session_id: page.session().id,
            redirect_to: target.as_str().to_owned(),
            created_at: now,
            expires_at: now.plus(self.code_lifetime),
        };
        if !self.kernel.store.save_page_code(new).await? {
            return Err(Error::Refused(&AUTH_UNAUTHORIZED));
        }
        Ok(self.url_of(&target, (&self.kernel.site.parameter("code"), code.expose()), app.state))
    }

    /// Returns the URL of an app whose sign-in the user gave up.
    pub fn give_up(&self, app: &TargetApp<'_>) -> Result<String> {
        let target = self.target(app)?;
        Ok(self.url_of(&target, ("error", "access_denied"), app.state))
    }

    fn target(&self, app: &TargetApp<'_>) -> Result<RedirectUrl> {
        let checked = self.kernel.settings.load().redirects.check(app.redirect_uri);
        checked.map_err(|refusal| Error::redirect_not_allowed("redirect_uri", &refusal))
    }

    fn url_of(&self, target: &RedirectUrl, outcome: (&str, &str), state: Option<&str>) -> String {
        let [status, kind, error, code] =
            ["status", "type", "error", "code"].map(|name| self.kernel.site.parameter(name));
        let own = ["error", "state", &status, &kind, &error, &code];
        let parameters: Vec<_> = [outcome].into_iter().chain(state.map(|state| ("state", state))).collect();
        target.with_query(&parameters, &own)
    }
}
