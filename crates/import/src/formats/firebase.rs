//! Firebase: the JSON of `firebase auth:export`. Hashes need the parameters of the project.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use latchkey_domain::imports::{Problem, ProblemCode};

use super::Format;
use super::hashes::{self, base64, starting};
use crate::draft::Draft;
use crate::options::{FirebaseHashes, ImportOptions};
use crate::values::Fields;

pub(super) const FORMAT: Format = Format {
    name: "firebase",
    about: "JSON of `firebase auth:export`",
    names: &["users"],
    is_document: true,
    map: |fields, options, _| map(fields, options),
    ..Format::DEFAULT
};

/// Names under which Firebase lists passwords, phones, and mailboxes to which it sent links.
const OWN_PROVIDERS: [&str; 4] = ["password", "phone", "emailLink", "anonymous"];

fn map(fields: Fields<'_>, options: &ImportOptions) -> Draft {
    let mut draft = Draft {
        id: fields.text(&["localId"]),
        email: fields.text(&["email"]),
        email_verified: fields.flag(&["emailVerified"]).unwrap_or_default(),
        name: fields.text(&["displayName"]),
        avatar_url: fields.text(&["photoUrl"]),
        metadata: fields.object(&["customAttributes", "customClaims"]).unwrap_or_default(),
        is_banned: fields.flag(&["disabled"]).unwrap_or_default(),
        created_at: fields.time(&["createdAt"]),
        ..Draft::default()
    };
    for identity in fields.objects("providerUserInfo") {
        let identity = fields.within("providerUserInfo", &identity);
        let subject = identity.text(&["rawId", "federatedId"]);
        let email = identity.text(&["email"]);
        draft.add_identity_but(&OWN_PROVIDERS, identity.text(&["providerId"]), subject, email);
    }
    if !fields.objects("mfaInfo").is_empty() {
        draft.drop_factor("Firebase does not export secrets of second factors");
    }
    if let Some(phone) = fields.text(&["phoneNumber"]) {
        if draft.metadata.contains_key("phoneNumber") {
            draft.drop_field("phoneNumber", "gives way to the custom claim of this name");
        }
        draft.metadata.entry("phoneNumber").or_insert_with(|| phone.into());
    }
    if let Some(hash) = fields.text(&["passwordHash"]) {
        if let Some(parameters) = &options.firebase {
            let salt = fields.text(&["salt"]).unwrap_or_default();
            hashes::set(&mut draft, hash_text(parameters, &hash, &salt));
        } else {
            let message = "the parameters of the project's hashes are missing: give them by --hash-config";
            draft.problems.push(Problem::of(ProblemCode::HashUnknown, "passwordHash", message));
        }
    }
    draft
}

/// Returns a hash in a text that the domain knows. What the algorithms do is as in Firebase's documentation of `auth:import`
/// and the integration tests of its library for Node; it says nowhere what `PBKDF_SHA1` is.
fn hash_text(parameters: &FirebaseHashes, hash: &str, salt: &str) -> Option<String> {
    let FirebaseHashes { signer_key, salt_separator, rounds, mem_cost, algorithm, .. } = parameters;
    // Documentation and code differ on whether other algorithms use it.
    if algorithm != "SCRYPT" && !salt_separator.is_empty() {
        return None;
    }
    let (output, salt) = (base64(hash)?, base64(salt)?);
    let (output_text, salt_text) = (STANDARD.encode(&output), STANDARD.encode(&salt));
    match algorithm.as_str() {
        "SCRYPT" => {
            let (key, separator) = (base64(signer_key)?, base64(salt_separator)?);
            let (key, separator) = (STANDARD.encode(key), STANDARD.encode(separator));
            Some(hashes::firebase(rounds, mem_cost, &key, &separator, &salt_text, &output_text))
        }
        "STANDARD_SCRYPT" => {
            let FirebaseHashes { block_size, parallelization, dk_len, .. } = *parameters;
            let is_whole = dk_len == 0 || dk_len as usize == output.len();
            let hash =
                hashes::scrypt(u64::from(*mem_cost), block_size, parallelization, &salt_text, &output_text);
            hash.filter(|_| is_whole)
        }
        "BCRYPT" => starting(String::from_utf8(output).ok()?, "$2"),
        "PBKDF2_SHA256" => Some(format!("$pbkdf2-sha256$i={rounds}${salt_text}${output_text}")),
        "PBKDF_SHA1" => None,
        _ => digest(parameters, output, &salt_text),
    }
}

/// Returns a bare digest or an HMAC.
fn digest(parameters: &FirebaseHashes, output: Vec<u8>, salt: &str) -> Option<String> {
    let algorithm = parameters.algorithm.as_str();
    let (is_keyed, name) = algorithm.strip_prefix("HMAC_").map_or((false, algorithm), |name| (true, name));
    // A single pass is zero rounds of MD5, but one round of SHA. More passes have no text.
    let single = u32::from(name != "MD5");
    // MD5 comes as its hex digits, the others as bytes.
    let is_hex = output.iter().all(u8::is_ascii_hexdigit);
    let output = if is_hex { String::from_utf8(output).ok()? } else { STANDARD.encode(output) };
    let name = name.to_ascii_lowercase();
    let key = || base64(&parameters.signer_key).map(|key| STANDARD.encode(key));
    let is_before = !parameters.is_password_first;
    let (place, salt) = match (is_keyed, salt.is_empty()) {
        (true, true) => ("key", key()?),
        (true, false) => return hashes::salted_hmac(&name, &key()?, salt, is_before, &output),
        (false, _) if parameters.rounds != single => return None,
        (false, true) => ("none", String::new()),
        (false, false) => (if is_before { "before" } else { "after" }, salt.to_owned()),
    };
    Some(format!("$digest$a={name},s={place}${salt}${output}"))
}
