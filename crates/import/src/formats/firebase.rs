//! Firebase: the JSON of `firebase auth:export`. Hashes need the parameters of the project.

use base64::Engine;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use base64::{alphabet, engine::DecodePaddingMode};
use latchkey_domain::imports::{Problem, ProblemCode};

use super::Format;
use crate::draft::Draft;
use crate::options::{FirebaseHashes, ImportOptions};
use crate::values::Fields;

/// Base64 in the alphabet for URLs, in which exports of some versions are written.
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

pub(super) const FORMAT: Format = Format {
    name: "firebase",
    about: "JSON of `firebase auth:export`",
    names: &["users"],
    is_document: true,
    map: |fields, options, _| map(fields, options),
    ..Format::DEFAULT
};

fn map(fields: Fields<'_>, options: &ImportOptions) -> Draft {
    let mut draft = Draft {
        id: fields.text(&["localId"]),
        email: fields.text(&["email"]),
        email_verified: fields.flag(&["emailVerified"]),
        name: fields.text(&["displayName"]),
        avatar_url: fields.text(&["photoUrl"]),
        metadata: fields
            .object("customAttributes")
            .or_else(|| fields.object("customClaims"))
            .unwrap_or_default(),
        is_banned: fields.flag(&["disabled"]),
        created_at: fields.time(&["createdAt"]),
        ..Draft::default()
    };
    for identity in fields.objects("providerUserInfo") {
        let identity = Fields(&identity);
        if let (Some(provider), Some(subject)) =
            (identity.text(&["providerId"]), identity.text(&["rawId", "federatedId"]))
        {
            draft.add_identity(&provider, &subject, identity.text(&["email"]));
        }
    }
    if !fields.objects("mfaInfo").is_empty() {
        draft.drop_factor("Firebase does not export secrets of second factors");
    }
    if let Some(phone) = fields.text(&["phoneNumber"]) {
        draft.metadata.insert("phoneNumber".to_owned(), phone.into());
    }
    if let Some(hash) = fields.text(&["passwordHash"]) {
        if let Some(parameters) = &options.firebase {
            let salt = fields.text(&["salt"]).unwrap_or_default();
            draft.password = Some(hash_text(parameters, &hash, &salt));
        } else {
            let message = "the parameters of the project's hashes are missing: give them by --hash-config";
            draft.problems.push(Problem::of(ProblemCode::HashUnknown, "passwordHash", message));
        }
    }
    draft
}

/// Returns a hash in a text that the domain knows. A malformed one stays malformed, and is refused there.
fn hash_text(parameters: &FirebaseHashes, hash: &str, salt: &str) -> String {
    let FirebaseHashes { signer_key, salt_separator, rounds, mem_cost, algorithm } = parameters;
    let (digest, salt) = (standard(hash), standard(salt));
    let weak = |name: &str, place: &str| {
        let place = if salt.is_empty() && place == "before" { "none" } else { place };
        format!("$digest$a={name},s={place}${salt}${digest}")
    };
    let keyed = |name: &str| format!("$digest$a={name},s=key${}${digest}", standard(signer_key));
    match algorithm.as_str() {
        "SCRYPT" => format!(
            "$fbscrypt$v=1,n={mem_cost},r={rounds},p=1,ss={},sk={}${salt}${digest}",
            standard(salt_separator),
            standard(signer_key)
        ),
        "STANDARD_SCRYPT" => format!("$scrypt$ln={mem_cost},r={rounds},p=1${salt}${digest}"),
        "BCRYPT" => {
            STANDARD.decode(&digest).ok().and_then(|text| String::from_utf8(text).ok()).unwrap_or_default()
        }
        "PBKDF_SHA1" => format!("$pbkdf2-sha1$i={rounds}${salt}${digest}"),
        "PBKDF2_SHA256" => format!("$pbkdf2-sha256$i={rounds}${salt}${digest}"),
        "MD5" => weak("md5", "before"),
        "SHA1" => weak("sha1", "before"),
        "SHA256" => weak("sha256", "before"),
        "SHA512" => weak("sha512", "before"),
        "HMAC_MD5" => keyed("md5"),
        "HMAC_SHA1" => keyed("sha1"),
        "HMAC_SHA256" => keyed("sha256"),
        "HMAC_SHA512" => keyed("sha512"),
        _ => String::from("unknown"),
    }
}

/// Writes base64 of either alphabet in the standard one.
fn standard(text: &str) -> String {
    let decoded = STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text));
    decoded.map_or_else(|_| text.to_owned(), |bytes| STANDARD.encode(bytes))
}
