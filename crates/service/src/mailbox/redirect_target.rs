//! The redirect target after a mailed link: the one that the request names, or the default.

use latchkey_domain::reason::Reason;
use latchkey_domain::redirect::RedirectUrl;

use crate::error::{Error, Result};
use crate::settings::SettingsInForce;

/// The redirect targets in a request, unvalidated.
#[derive(Debug, Clone, Default)]
pub struct RedirectInput {
    pub redirect_to: Option<String>,
    /// The field `options.emailRedirectTo`, which older clients send instead of `redirectTo`.
    pub email_redirect_to: Option<String>,
}

/// Tells whether a request that names no redirect target is refused (`Required`) or accepted (`Optional`)
/// while no default target is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Required,
    Optional,
}

impl RedirectInput {
    /// Selects `redirectTo`, else the configured default, else `options.emailRedirectTo`; `None` if there is
    /// none. Every target in the request must be allowed, even if it is not selected.
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
