//! The collected client data: the data about a ceremony that the browser provides, in JSON (WebAuthn section
//! 5.8.1).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::expected::Expected;
use crate::refusal::{Field, Refusal};

/// The kind of a WebAuthn ceremony, registration or assertion, as the member `type` of the client data states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ceremony {
    Registration,
    Assertion,
}

impl Ceremony {
    const fn name(self) -> &'static str {
        match self {
            Self::Registration => "webauthn.create",
            Self::Assertion => "webauthn.get",
        }
    }
}

/// The members of `clientDataJSON` that are checked. Others are allowed, because browsers add arbitrary keys.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientData {
    r#type: String,
    challenge: String,
    origin: String,
    cross_origin: Option<bool>,
    top_origin: Option<IgnoredAny>,
}

/// Checks that the client data belong to the expected ceremony.
pub(crate) fn check(json: &[u8], ceremony: Ceremony, expected: &Expected<'_>) -> Result<(), Refusal> {
    Field::ClientData.check(json)?;
    // The decoding of the standard ("UTF-8 decode") drops a byte order mark.
    let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
    let json = str::from_utf8(json).map_err(|_| Refusal::ClientData)?;
    let data: ClientData = serde_json::from_str(json).map_err(|_| Refusal::ClientData)?;
    if data.r#type != ceremony.name() {
        return Err(Refusal::Type);
    }
    if data.challenge != URL_SAFE_NO_PAD.encode(expected.challenge) {
        return Err(Refusal::Challenge);
    }
    if !(expected.accepts_origin)(&data.origin) {
        return Err(Refusal::Origin);
    }
    if data.cross_origin == Some(true) || data.top_origin.is_some() {
        return Err(Refusal::CrossOrigin);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(json: &str) -> Result<(), Refusal> {
        let accepts_origin =
            |origin: &str| ["https://example.org", "https://app.example.org"].contains(&origin);
        let challenge = b"sixteen bytes or";
        let expected = Expected { challenge, accepts_origin: &accepts_origin, rp_id: "example.org" };
        check(json.as_bytes(), Ceremony::Assertion, &expected)
    }

    const GOOD: &str =
        r#"{"type":"webauthn.get","challenge":"c2l4dGVlbiBieXRlcyBvcg","origin":"https://example.org"}"#;

    #[test]
    fn each_expected_origin_passes() {
        assert_eq!(judge(GOOD), Ok(()));
        assert_eq!(judge(&GOOD.replace("//example", "//app.example")), Ok(()));
    }

    #[test]
    fn each_wrong_member_is_refused() {
        for (part, other, refusal) in [
            ("webauthn.get", "webauthn.create", Refusal::Type),
            ("webauthn.get", "webauthn.get ", Refusal::Type),
            ("webauthn.get", "payment.get", Refusal::Type),
            ("Bvcg\"", "BvcA\"", Refusal::Challenge),
            ("c2l4", "", Refusal::Challenge),
            ("cg\"", "cg==\"", Refusal::Challenge),
            ("cg\"", "ch\"", Refusal::Challenge),
            ("https:", "http:", Refusal::Origin),
            (".org", ".org:8443", Refusal::Origin),
            (".org", ".org/", Refusal::Origin),
            (".org", ".org.evil.net", Refusal::Origin),
            ("//example", "//EXAMPLE", Refusal::Origin),
            ("//example", "//other.example", Refusal::Origin),
            ("https://example.org", "", Refusal::Origin),
        ] {
            assert!(GOOD.contains(part));
            assert_eq!(judge(&GOOD.replace(part, other)), Err(refusal), "{part} as {other}");
        }
    }

    #[test]
    fn frames_of_other_origins_are_refused() {
        let with = |member: &str| judge(&GOOD.replace('}', &format!(",{member}}}")));
        assert_eq!(with(r#""crossOrigin":false"#), Ok(()));
        assert_eq!(with(r#""crossOrigin":null"#), Ok(()));
        assert_eq!(with(r#""crossOrigin":true"#), Err(Refusal::CrossOrigin));
        assert_eq!(with(r#""topOrigin":"https://example.com""#), Err(Refusal::CrossOrigin));
        assert_eq!(with(r#""crossOrigin":"true""#), Err(Refusal::ClientData));
        assert_eq!(with(r#""tokenBinding":{"status":"supported"},"other_keys":[1]"#), Ok(()));
    }

    #[test]
    fn what_is_not_one_json_object_is_malformed() {
        for json in ["", "{}", "[]", "null", &GOOD[1..], &GOOD[..GOOD.len() - 1], &format!("{GOOD}x")] {
            assert_eq!(judge(json), Err(Refusal::ClientData), "{json}");
        }
        assert_eq!(
            judge(&GOOD.replace('{', r#"{"origin":"https://example.org","#)),
            Err(Refusal::ClientData)
        );
        assert_eq!(judge(&format!("\u{feff}{GOOD}")), Ok(()));
        assert_eq!(judge(&format!("\u{feff}\u{feff}{GOOD}")), Err(Refusal::ClientData));
    }

    #[test]
    fn what_is_not_utf_8_is_malformed_even_in_other_members() {
        let json = GOOD.replace('}', r#","other":"?"}"#).replace('?', "\u{fffd}");
        assert_eq!(judge(&json), Ok(()));
        let place = json.find('\u{fffd}').unwrap();
        let mut bytes = json.into_bytes();
        bytes.drain(place..place + 2);
        let challenge = b"sixteen bytes or";
        let expected = Expected { challenge, accepts_origin: &|_| true, rp_id: "example.org" };
        assert_eq!(check(&bytes, Ceremony::Assertion, &expected), Err(Refusal::ClientData));
    }

    #[test]
    fn longer_client_data_is_refused_unread() {
        let padded = |length: usize| format!("{GOOD}{}", " ".repeat(length - GOOD.len()));
        assert_eq!(judge(&padded(4_096)), Ok(()));
        assert_eq!(judge(&padded(4_097)), Err(Refusal::TooLong(Field::ClientData)));
    }
}
