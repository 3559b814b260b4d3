//! Credentials as JSON: `RegistrationResponseJSON` and `AuthenticationResponseJSON` of WebAuthn Level 3, as made by
//! `PublicKeyCredential.toJSON()`. Bytes are base64url without padding. The limit on the request body bounds the
//! total length; the crate `webauthn` checks the lengths of single fields.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use latchkey_domain::passkey::{CredentialId, Transports};
use latchkey_domain::reason::Reason;
use latchkey_service::passkeys::{Assertion, Registration};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::openapi::{Object, ObjectBuilder};

use crate::error::{ApiError, Result};
use crate::openapi::fields;

const FIELD: &str = "credential";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Credential<R> {
    id: String,
    raw_id: String,
    r#type: String,
    response: R,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AttestationResponse {
    #[serde(rename = "clientDataJSON")]
    client_data: String,
    attestation_object: String,
    transports: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AssertionResponse {
    #[serde(rename = "clientDataJSON")]
    client_data: String,
    authenticator_data: String,
    signature: String,
    user_handle: Option<String>,
}

/// Reads the browser's response to creation options. The error names the field `credential`.
pub fn registration(credential: Map<String, Value>) -> Result<Registration> {
    read(credential).ok_or_else(|| malformed("a RegistrationResponseJSON"))
}

/// Reads the browser's response to request options. The error names the field `credential`.
pub fn assertion(credential: Map<String, Value>) -> Result<Assertion> {
    read_assertion(credential).ok_or_else(|| malformed("an AuthenticationResponseJSON"))
}

fn read(credential: Map<String, Value>) -> Option<Registration> {
    let (id, response) = parts::<AttestationResponse>(credential)?;
    let transports = response.transports.unwrap_or_default();
    Some(Registration {
        id,
        client_data: bytes(&response.client_data)?,
        attestation_object: bytes(&response.attestation_object)?,
        transports: Transports::new(transports.iter().map(String::as_str)),
    })
}

fn read_assertion(credential: Map<String, Value>) -> Option<Assertion> {
    let (id, response) = parts::<AssertionResponse>(credential)?;
    Some(Assertion {
        id,
        client_data: bytes(&response.client_data)?,
        authenticator_data: bytes(&response.authenticator_data)?,
        signature: bytes(&response.signature)?,
        user_handle: match response.user_handle {
            Some(handle) => Some(bytes(&handle)?),
            None => None,
        },
    })
}

/// Reads the fields that both kinds of credentials share: the credential id, which occurs twice, and the type.
fn parts<R: serde::de::DeserializeOwned>(credential: Map<String, Value>) -> Option<(CredentialId, R)> {
    let credential: Credential<R> = serde_json::from_value(Value::Object(credential)).ok()?;
    if credential.r#type != "public-key" || credential.id != credential.raw_id {
        return None;
    }
    let id = CredentialId::parse(&bytes(&credential.raw_id)?).ok()?;
    Some((id, credential.response))
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

fn malformed(kind: &str) -> ApiError {
    let problem = format!("must be {kind}: what `toJSON()` of the credential gives");
    ApiError::validation(FIELD, &problem).reason(Reason::InvalidFormat)
}

pub(in crate::endpoints::auth) fn registration_field() -> ObjectBuilder {
    field(
        "The browser's response, as `toJSON()` gives it (`RegistrationResponseJSON`).",
        &["clientDataJSON", "attestationObject"],
    )
}

pub(in crate::endpoints::auth) fn assertion_field() -> ObjectBuilder {
    field(
        "The browser's response, as `toJSON()` gives it (`AuthenticationResponseJSON`).",
        &["clientDataJSON", "authenticatorData", "signature", "userHandle"],
    )
}

fn field(about: &str, parts: &[&str]) -> ObjectBuilder {
    let text = |about: &'static str| fields::text(about, "AQIDBA");
    let response = parts.iter().fold(ObjectBuilder::new(), |response, part| {
        response.property(*part, text("In base64url without padding.")).required(*part)
    });
    ObjectBuilder::new()
        .description(Some(about))
        .property("id", text("The credential id, in base64url without padding."))
        .property("rawId", text("The same as `id`."))
        .property("type", fields::text("Always `public-key`.", "public-key"))
        .property("response", Object::from(response))
        .required("id")
        .required("rawId")
        .required("type")
        .required("response")
}

/// Returns an example of a credential for the `OpenAPI` document. `response` is its member of that name.
pub(in crate::endpoints::auth) fn example(response: &Value) -> Value {
    json!({ "id": "AQIDBA", "rawId": "AQIDBA", "type": "public-key", "response": response })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(object) = value else { panic!("an object") };
        object
    }

    fn attested() -> Value {
        example(
            &json!({ "clientDataJSON": "e30", "attestationObject": "oA", "transports": ["usb", "internal"] }),
        )
    }

    fn asserted() -> Value {
        let handle = URL_SAFE_NO_PAD.encode([7; 16]);
        example(&json!({
            "clientDataJSON": "e30", "authenticatorData": "AA", "signature": "AQ", "userHandle": handle,
        }))
    }

    #[test]
    fn responses_of_browsers_are_read() {
        let mut credential = object(attested());
        credential.insert("clientExtensionResults".to_owned(), json!({ "credProps": { "rk": true } }));
        credential.insert("authenticatorAttachment".to_owned(), json!("platform"));
        let read = registration(credential).unwrap();
        assert_eq!((read.id.as_bytes(), &read.client_data[..]), (&[1, 2, 3, 4][..], &b"{}"[..]));
        assert_eq!(read.transports.names(), ["internal", "usb"]);
        let read = assertion(object(asserted())).unwrap();
        assert_eq!((read.signature, read.user_handle), (vec![1], Some(vec![7; 16])));
    }

    #[test]
    fn user_handle_may_be_missing() {
        let mut credential = asserted();
        credential["response"]["userHandle"] = Value::Null;
        assert_eq!(assertion(object(credential)).unwrap().user_handle, None);
    }

    #[test]
    fn malformed_responses_name_the_credential() {
        for (key, value) in [
            ("id", json!("AQID")),
            ("rawId", json!("AQIDBA==")),
            ("id", json!(1)),
            ("type", json!("password")),
            ("response", json!([])),
            ("response", json!({ "clientDataJSON": "e30" })),
        ] {
            let mut credential = object(attested());
            credential.insert(key.to_owned(), value);
            let refused = registration(credential).err().unwrap();
            assert!(
                refused.message.starts_with("`credential` must be a RegistrationResponseJSON"),
                "{refused:?}"
            );
        }
        for (key, value) in
            [("signature", json!("+/==")), ("userHandle", json!("=")), ("authenticatorData", json!(null))]
        {
            let mut credential = asserted();
            credential["response"][key] = value;
            assert!(assertion(object(credential)).is_err(), "{key}");
        }
    }
}
