//! Passkey ceremonies: the forms whose credential a script fills in.

use latchkey_http::endpoints::auth::passkeys::options::{CreationOptionsBody, RequestOptionsBody};
use latchkey_pages::Form;
use latchkey_pages::views::PasskeyForm;
use latchkey_service::passkeys::{BegunRegistration, BegunSignIn, RequestOptions};
use serde::Serialize;

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

/// Returns the form that registers a passkey.
pub(crate) fn registration(form: Form, begun: BegunRegistration) -> Result<PasskeyForm, PageError> {
    with_options(form, begun.ceremony_id, &CreationOptionsBody::from(begun.options))
}

fn with_options(form: Form, ceremony: String, options: &impl Serialize) -> Result<PasskeyForm, PageError> {
    let options = serde_json::to_string(options).map_err(PageError::internal)?;
    Ok(PasskeyForm { form, ceremony, options, renew: None })
}
