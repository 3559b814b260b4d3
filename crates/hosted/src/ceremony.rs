//! Passkey ceremonies: their begin, and the forms whose credential a script fills in.

use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use latchkey_domain::challenge::{ChallengeId, ChallengeKind};
use latchkey_http::endpoints::auth::passkeys::options::{CreationOptionsBody, RequestOptionsBody};
use latchkey_http::error::JSON_CONTENT_TYPE;
use latchkey_pages::Form;
use latchkey_pages::views::PasskeyForm;
use latchkey_service::factors::FactorEnroller;
use latchkey_service::passkeys::{BegunRegistration, BegunSignIn, RegistrationMode, RequestOptions};
use latchkey_service::{Error, Service};
use serde::Serialize;
use serde_json::json;

use crate::errors::PageError;

/// Field with the id of a ceremony, if the form has one.
pub(crate) const ID: &str = "ceremony_id";
/// Field with the credential, as the JSON of its `toJSON()`.
pub(crate) const CREDENTIAL: &str = "credential";

/// Returns the form that answers a challenge with a passkey. The challenge knows its ceremony.
pub(crate) fn answer(form: Form, options: RequestOptions) -> Result<PasskeyForm, PageError> {
    with_options(form, String::new(), &RequestOptionsBody::from(options))
}

/// Returns the form that signs in by a passkey. `renew` is the address of new options.
pub(crate) fn sign_in(form: Form, begun: BegunSignIn, renew: &str) -> Result<PasskeyForm, PageError> {
    let passkey = with_options(form, begun.ceremony_id, &RequestOptionsBody::from(begun.options))?;
    Ok(PasskeyForm { renew: Some(renew.to_owned()), ..passkey })
}

/// Returns new options of a sign-in as JSON, for the script of a page.
pub(crate) fn renewed(begun: BegunSignIn) -> Response {
    let options = RequestOptionsBody::from(begun.options);
    let body = json!({ "ceremonyId": begun.ceremony_id, "options": options });
    ([(CONTENT_TYPE, JSON_CONTENT_TYPE)], format!("{body}\n")).into_response()
}

/// Returns the form that registers a passkey.
pub(crate) fn registration(form: Form, begun: BegunRegistration) -> Result<PasskeyForm, PageError> {
    with_options(form, begun.ceremony_id, &CreationOptionsBody::from(begun.options))
}

fn with_options(form: Form, ceremony: String, options: &impl Serialize) -> Result<PasskeyForm, PageError> {
    let options = serde_json::to_string(options).map_err(PageError::internal)?;
    Ok(PasskeyForm { form, ceremony, options, renew: None })
}

/// Issues what the page of a challenge shows but may not write: `GET` changes nothing.
pub(crate) async fn prepare(
    service: &Service,
    id: &ChallengeId,
    kinds: &[ChallengeKind],
) -> Result<(), PageError> {
    let prepared = match kinds {
        [ChallengeKind::Passkey, ..] => service.passkeys.challenge_options(id).await.map(|_| ()),
        [ChallengeKind::Enroll] => enrolment(service, id).await.map(|_| ()),
        _ => Ok(()),
    };
    match prepared {
        Err(Error::Refused(_)) => Ok(()), // the page says so itself
        other => Ok(other?),
    }
}

/// Begins the registration of a passkey at a sign-in. Only the first one of an account writes: its user handle.
pub(crate) async fn enrolment(
    service: &Service,
    id: &ChallengeId,
) -> latchkey_service::Result<BegunRegistration> {
    let enroller = FactorEnroller::Challenge(id.clone());
    service.passkeys.begin_registration(enroller, RegistrationMode::Prompted).await
}
