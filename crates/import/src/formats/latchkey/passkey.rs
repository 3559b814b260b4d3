//! A passkey of an export. Binary values are base64url, the AAGUID is hex.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use latchkey_domain::factors::FactorName;
use latchkey_domain::imports::{ImportPasskey, Problem, ProblemCode};
use latchkey_domain::passkey::{Aaguid, CredentialId, PasskeyState, RpId, Transports, UserHandle};
use serde_json::Value;

use crate::draft::Draft;
use crate::values::Fields;

/// Maximum length of a domain.
const LONGEST_DOMAIN: usize = 253;

/// Adds a passkey to the draft. One that is malformed is left out and reported.
pub(super) fn read(draft: &mut Draft, fields: Fields<'_>, value: &Value) {
    if let Some(passkey) = value.as_object().and_then(|map| parse(fields.within("passkeys", map))) {
        draft.passkeys.push(passkey);
        return;
    }
    let message = "a passkey is malformed";
    draft.problems.push(Problem::of(ProblemCode::FactorNotCarried, "passkeys", message));
}

fn parse(fields: Fields<'_>) -> Option<(UserHandle, ImportPasskey)> {
    let value = fields.map();
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let bytes = |key: &str| text(key).and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
    let flag = |key: &str| fields.flag(&[key]).unwrap_or_default();
    let transports = value.get("transports").and_then(Value::as_array).into_iter().flatten();
    let counter = value.get("counter").and_then(Value::as_u64);
    let passkey = ImportPasskey {
        credential_id: CredentialId::parse(&bytes("credentialId")?).ok()?,
        public_key: bytes("publicKey")?,
        rp_id: text("rpId").filter(|text| is_domain(text)).map(RpId::new)?,
        name: FactorName::parse(text("name")?).ok()?,
        aaguid: Aaguid::new(uuid_bytes(text("aaguid")?)?),
        transports: Transports::new(transports.filter_map(Value::as_str)),
        state: PasskeyState { counter: u32::try_from(counter?).ok()?, is_backed_up: flag("backedUp") },
        is_backup_eligible: flag("backupEligible"),
        created_at: fields.time(&["createdAt"]),
        last_used_at: fields.time(&["lastUsedAt"]),
    };
    Some((UserHandle::parse(&bytes("userHandle")?)?, passkey))
}

fn is_domain(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    (1..=LONGEST_DOMAIN).contains(&text.len()) && text.bytes().all(is_letter)
}

/// Decodes 32 hex digits.
fn uuid_bytes(text: &str) -> Option<[u8; 16]> {
    let is_hex = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u128::from_str_radix(text, 16).ok()).flatten().map(u128::to_be_bytes)
}
