//! A submission: a form of a page, sent from our own page in the browser that was shown it.

use axum::RequestExt;
use axum::extract::{FromRequest, Request};
use http::HeaderMap;
use http::header::{HOST, ORIGIN};
use latchkey_http::body::FormBody;
use latchkey_http::client::SEC_FETCH_SITE;
use latchkey_http::settings::HttpSettings;

use crate::errors::PageError;
use crate::fields::Fields;
use crate::form_token;
use crate::hosted::Hosted;
use crate::visit::Visit;

/// A form that passed the checks of origin and form token. Otherwise 403, and nothing is done. The visit has no session if
/// that of the form has ended.
pub(crate) struct Submission {
    pub(crate) visit: Visit,
    pub(crate) fields: Fields,
}

impl FromRequest<Hosted> for Submission {
    type Rejection = PageError;

    async fn from_request(mut request: Request, hosted: &Hosted) -> Result<Self, PageError> {
        let visit = request.extract_parts_with_state::<Visit, _>(hosted).await?;
        if !is_own(request.headers(), &hosted.settings) {
            return Err(PageError::stale_form());
        }
        let FormBody(form) = FormBody::from_request(request, hosted).await?;
        let token = form.optional(form_token::FIELD)?;
        let is_taken = |token: String| visit.owns(&token) || visit.late_owner(&token).is_some();
        if !token.is_some_and(is_taken) {
            return Err(PageError::stale_form());
        }
        Ok(Self { visit, fields: Fields::new(form) })
    }
}

/// True if `Origin` is the service's own; without `Origin`, if `Sec-Fetch-Site` is `same-origin`. In development the own
/// origin is also that of the `Host`, which was checked before.
pub(crate) fn is_own(headers: &HeaderMap, settings: &HttpSettings) -> bool {
    let mut origins = headers.get_all(ORIGIN).iter();
    let Some(origin) = origins.next() else {
        let mut sites = headers.get_all(SEC_FETCH_SITE).iter();
        return sites.next().is_some_and(|site| site == "same-origin") && sites.next().is_none();
    };
    let host = || headers.get(HOST).and_then(|host| host.to_str().ok()).filter(|_| settings.development);
    let is_public = origin == settings.public_origin().as_str();
    let is_host = || host().is_some_and(|host| origin == format!("http://{host}").as_str());
    origins.next().is_none() && (is_public || is_host())
}
