//! The way to an identity provider and back, as the pages and the console go it. Both keep the [`Departure`] in the browser
//! that left, so the code that comes back signs in only there.

use axum::extract::FromRequestParts;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::Method;
use http::request::Parts;
use latchkey_domain::client::Client;
use latchkey_domain::identity::IdentityRefusal;
use latchkey_domain::tokens::{LinkToken, TokenHash};
use latchkey_http::query::Query;
use latchkey_pages::views::ProviderOutcome;
use latchkey_service::Service;
use latchkey_service::oauth::callback::CallbackProblem;
use latchkey_service::oauth::providers::KnownProvider;
use latchkey_service::oauth::start::{StartOAuth, StartingBrowser};
use latchkey_service::refusal::{
    EMAIL_NOT_VERIFIED, INVALID_OAUTH_CODE, PROVIDER_EMAIL_NOT_VERIFIED, PROVIDER_WITHOUT_EMAIL, Refusal,
    SIGN_IN_TO_LINK, SIGNUP_DISABLED, USER_BANNED,
};
use serde::{Deserialize, Serialize};

use crate::browser::is_prefetch;
use crate::errors::PageError;

/// A request that a person made, not a prefetch and not `HEAD`: both ways are links, and act on `GET`.
pub(crate) struct Deliberate;

impl<S: Send + Sync> FromRequestParts<S> for Deliberate {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, PageError> {
        let is_undesired = is_prefetch(&parts.headers) || parts.method == Method::HEAD;
        if is_undesired { Err(PageError::forbidden()) } else { Ok(Self) }
    }
}

/// The way to an identity provider.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Departure {
    /// Key of the provider.
    pub(crate) provider: String,
    /// PKCE verifier of the code that comes back.
    pub(crate) verifier: String,
}

impl Departure {
    pub(crate) fn to(provider: &KnownProvider, service: &Service) -> Self {
        let verifier = LinkToken::new(service.random_bytes()).expose().to_owned();
        Self { provider: provider.key.as_str().to_owned(), verifier }
    }

    /// Returns the request of the start. `back` is the page to come back to.
    pub(crate) fn start(&self, provider: &KnownProvider, back: String, client: Client) -> StartOAuth {
        let challenge = TokenHash::of(self.verifier.as_bytes());
        StartOAuth {
            kind: provider.kind,
            provider: self.provider.clone(),
            redirect_uri: Some(back),
            code_challenge: Some(URL_SAFE_NO_PAD.encode(challenge.as_bytes())),
            hints: Vec::new(),
            client,
            browser: StartingBrowser::Unbound,
        }
    }
}

/// Reads the code that the callback brought; else the sentence that says why there is none.
pub(crate) fn returned(service: &Service, query: &Query) -> Result<Result<String, String>, PageError> {
    let code = query.optional(&service.site().parameter("code"))?;
    let said = query.optional("error")?.unwrap_or_default();
    Ok(code.ok_or(said))
}

/// Refusals of an identity by the rules of sign-in.
const REFUSED: [IdentityRefusal; 6] = [
    IdentityRefusal::Banned,
    IdentityRefusal::AccountUnverified,
    IdentityRefusal::SignUpClosed,
    IdentityRefusal::NoEmail,
    IdentityRefusal::EmailUnproven,
    IdentityRefusal::SignInToLink,
];

/// Reads the sentence with which the callback came back.
pub(crate) fn outcome_of(said: &str) -> ProviderOutcome {
    use CallbackProblem as Problem;
    let is = |problems: &[Problem]| problems.iter().any(|problem| problem.message() == said);
    if is(&[Problem::Denied]) {
        ProviderOutcome::Denied
    } else if is(&REFUSED.map(Problem::Identity)) {
        ProviderOutcome::Unverified
    } else if is(&[Problem::Expired, Problem::Replayed, Problem::OtherProvider, Problem::OtherBrowser]) {
        ProviderOutcome::Expired
    } else {
        ProviderOutcome::Down
    }
}

/// Returns what a refused exchange means; `None` if it is about something else.
pub(crate) fn outcome_of_refusal(refusal: &'static Refusal) -> Option<ProviderOutcome> {
    match *refusal {
        INVALID_OAUTH_CODE => Some(ProviderOutcome::Expired),
        PROVIDER_EMAIL_NOT_VERIFIED
        | PROVIDER_WITHOUT_EMAIL
        | SIGN_IN_TO_LINK
        | EMAIL_NOT_VERIFIED
        | SIGNUP_DISABLED
        | USER_BANNED => Some(ProviderOutcome::Unverified),
        _ => None,
    }
}
