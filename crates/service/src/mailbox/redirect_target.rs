//! Redirect target after a link: the caller's, else the default.

use latchkey_domain::reason::Reason;
use latchkey_domain::redirect::RedirectUrl;

use crate::error::{Error, Result};
use crate::settings::SettingsInForce;

/// The redirect targets that a call names, as sent.
#[derive(Debug, Clone, Default)]
pub struct RedirectInput {
    /// `redirectTo`.
    pub redirect_to: Option<String>,
    /// `options.emailRedirectTo` of the older variant.
    pub email_redirect_to: Option<String>,
}

/// Need of a call for a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Required,
    Optional,
}

impl RedirectInput {
    /// `redirectTo`, else the default, else the older variant. Whatever was sent must be on the list, used or not.
    pub(crate) fn resolve(&self, settings: &SettingsInForce, need: Need) -> Result<Option<RedirectUrl>> {
        let check = |field, text: &Option<String>| {
            let checked = text.as_deref().map(|url| settings.redirects.check(url)).transpose();
            checked.map_err(|refusal| Error::redirect_not_allowed(field, &refusal))
        };
        let current = check("redirectTo", &self.redirect_to)?;
        let older = check("options.emailRedirectTo", &self.email_redirect_to)?;
        let target = current.or_else(|| settings.default_redirect.clone()).or(older);
        if target.is_none() && need == Need::Required {
            let problem =
                "is required, because the mail will carry a link: where should the browser go afterwards?";
            return Err(Error::validation("redirectTo", Reason::Required, problem));
        }
        Ok(target)
    }
}
