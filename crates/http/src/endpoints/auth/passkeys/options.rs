//! WebAuthn options as JSON: `PublicKeyCredentialCreationOptionsJSON` and `PublicKeyCredentialRequestOptionsJSON` of
//! Level 3, for `parseCreationOptionsFromJSON` and `parseRequestOptionsFromJSON`. Bytes are base64url without padding.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use latchkey_domain::passkey::{CredentialId, Transports};
use latchkey_service::passkeys::{CreationOptions, RegistrationMode, RequestOptions};
use serde::Serialize;
use utoipa::ToSchema;

use crate::openapi::fields;

/// Time in milliseconds for which the browser waits for the user.
const TIMEOUT: u32 = 300_000;
const PUBLIC_KEY: &str = "public-key";

/// Options for `navigator.credentials.create()`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PasskeyCreationOptions)]
pub struct CreationOptionsBody {
    rp: RelyingPartyBody,
    user: UserEntityBody,
    #[schema(schema_with = fields::webauthn_challenge)]
    challenge: String,
    /// The algorithms, in the order of preference.
    pub_key_cred_params: Vec<AlgorithmBody>,
    #[schema(schema_with = fields::webauthn_timeout)]
    timeout: u32,
    authenticator_selection: AuthenticatorSelectionBody,
    /// The passkeys that the account has already.
    exclude_credentials: Vec<DescriptorBody>,
    /// Always `none`.
    attestation: &'static str,
    extensions: ExtensionsBody,
}

/// The service, as authenticators show it.
#[derive(Serialize, ToSchema)]
#[schema(as = PasskeyRelyingParty)]
pub struct RelyingPartyBody {
    /// The domain that the passkey belongs to.
    id: String,
    /// The name of the service.
    name: String,
}

/// The account, as authenticators show it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PasskeyUser)]
pub struct UserEntityBody {
    #[schema(schema_with = fields::user_handle)]
    id: String,
    /// The email address of the account.
    name: String,
    /// The name of the profile, or the email address.
    display_name: String,
}

/// An offered algorithm.
#[derive(Serialize, ToSchema)]
#[schema(as = PasskeyAlgorithm)]
pub struct AlgorithmBody {
    /// Always `public-key`.
    r#type: &'static str,
    /// Its number in the registry of COSE.
    alg: i64,
}

/// The kind of passkey that is asked for.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PasskeyAuthenticatorSelection)]
pub struct AuthenticatorSelectionBody {
    /// Always `required`: the passkey is discoverable.
    resident_key: &'static str,
    /// Always `true`, for browsers that do not know `residentKey`.
    require_resident_key: bool,
    /// `required`, or `preferred` with `mediation: "conditional"`.
    user_verification: &'static str,
}

/// A passkey of the account.
#[derive(Serialize, ToSchema)]
#[schema(as = PasskeyDescriptor)]
pub struct DescriptorBody {
    #[schema(schema_with = fields::credential_id)]
    id: String,
    /// Always `public-key`.
    r#type: &'static str,
    /// How the browser reaches the authenticator.
    transports: Vec<String>,
}

/// The extensions that are asked for.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PasskeyExtensions)]
pub struct ExtensionsBody {
    /// Always `true`.
    cred_props: bool,
}

/// Options for `navigator.credentials.get()`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PasskeyRequestOptions)]
pub struct RequestOptionsBody {
    #[schema(schema_with = fields::webauthn_challenge)]
    challenge: String,
    #[schema(schema_with = fields::webauthn_timeout)]
    timeout: u32,
    /// The domain that the passkey belongs to.
    rp_id: String,
    /// The passkeys that may answer; empty if any may.
    allow_credentials: Vec<DescriptorBody>,
    /// Always `required`.
    user_verification: &'static str,
}

impl From<CreationOptions> for CreationOptionsBody {
    fn from(options: CreationOptions) -> Self {
        let algorithm = |alg| AlgorithmBody { r#type: PUBLIC_KEY, alg };
        Self {
            rp: RelyingPartyBody { id: options.rp_id.as_str().to_owned(), name: options.rp_name },
            user: UserEntityBody {
                id: URL_SAFE_NO_PAD.encode(options.user_handle.as_bytes()),
                name: options.user_name,
                display_name: options.display_name,
            },
            challenge: URL_SAFE_NO_PAD.encode(options.challenge),
            pub_key_cred_params: options.algorithms.map(algorithm).into(),
            timeout: TIMEOUT,
            authenticator_selection: AuthenticatorSelectionBody {
                resident_key: "required",
                require_resident_key: true,
                user_verification: match options.mode {
                    RegistrationMode::Prompted => "required",
                    RegistrationMode::Conditional => "preferred",
                },
            },
            exclude_credentials: descriptors(options.exclude),
            attestation: "none",
            extensions: ExtensionsBody { cred_props: true },
        }
    }
}

impl From<RequestOptions> for RequestOptionsBody {
    fn from(options: RequestOptions) -> Self {
        Self {
            challenge: URL_SAFE_NO_PAD.encode(options.challenge),
            timeout: TIMEOUT,
            rp_id: options.rp_id.as_str().to_owned(),
            allow_credentials: descriptors(options.allow),
            user_verification: "required",
        }
    }
}

fn descriptors(credentials: Vec<(CredentialId, Transports)>) -> Vec<DescriptorBody> {
    let descriptor = |(id, transports): (CredentialId, Transports)| DescriptorBody {
        id: URL_SAFE_NO_PAD.encode(id.as_bytes()),
        r#type: PUBLIC_KEY,
        transports: transports.names().to_vec(),
    };
    credentials.into_iter().map(descriptor).collect()
}
