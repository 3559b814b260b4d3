//! Choice of the language of a page.

use http::HeaderMap;
use http::header::ACCEPT_LANGUAGE;
use latchkey_pages::{Language, accepted};

use crate::hosted::Hosted;

/// Returns the first known language of `wanted`, then of `Accept-Language`; else the one of `mail.default_locale`.
pub(crate) fn choose<'a>(hosted: &'a Hosted, wanted: &[&str], headers: &HeaderMap) -> &'a Language {
    let header = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let settings = hosted.service.settings();
    let mut tags = wanted.to_vec();
    tags.extend(accepted(header));
    tags.push(settings.default_locale.as_str());
    hosted.pages.languages().choose(tags)
}
