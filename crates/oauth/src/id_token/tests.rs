use proptest::prelude::*;
use serde_json::json;

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_772_366_400_000);
const SECOND: i64 = 1_772_366_400;
const NONCE: &str = "n-0S6_WzA2Mj";

fn expected<'a>() -> Expected<'a> {
    Expected {
        issuer: Issuer::OneOf(vec!["https://idp.example"]),
        audiences: vec!["client"],
        parties: vec!["client"],
        nonce: Nonce::Required(NONCE),
        now: NOW,
    }
}

fn claims() -> Value {
    json!({
        "iss": "https://idp.example",
        "aud": "client",
        "sub": "248289761001",
        "exp": SECOND + 300,
        "iat": SECOND,
        "nonce": NONCE,
    })
}

/// Validates claims that are valid but for one, which is set to `value`; `null` removes it.
fn validate(name: &str, value: Value) -> Result<ValidatedClaims, IdTokenFault> {
    let mut claims = claims();
    claims[name] = value;
    expected().validate(claims)
}

fn fault(name: &str, value: Value) -> IdTokenFault {
    validate(name, value).unwrap_err()
}

#[test]
fn good_claims_are_proved() {
    let validated = expected().validate(claims()).unwrap();
    assert_eq!(validated.subject, "248289761001");
    assert_eq!(validated.expires_at, Timestamp::from_millis((SECOND + 300) * 1000));
}

#[test]
fn another_issuer_is_refused() {
    for issuer in [
        json!(null),
        json!("https://evil.example"),
        json!("https://idp.example/"),
        json!("https://IDP.example"),
        json!(["https://idp.example"]),
        json!(7),
    ] {
        assert_eq!(fault("iss", issuer), IdTokenFault::Issuer);
    }
}

#[test]
fn an_audience_that_is_not_this_client_is_refused() {
    for audience in [
        json!(null),
        json!("other"),
        json!(""),
        json!([]),
        json!(["other"]),
        json!(["client", 7]),
        json!({"client": true}),
        json!("client "),
    ] {
        assert_eq!(fault("aud", audience), IdTokenFault::Audience);
    }
    assert!(validate("aud", json!(["client"])).is_ok());
}

#[test]
fn several_audiences_need_an_azp_that_is_this_client() {
    let validate = |azp: Value| {
        let mut claims = claims();
        claims["aud"] = json!(["client", "other"]);
        claims["azp"] = azp;
        expected().validate(claims).map(|_| ())
    };
    assert_eq!(validate(json!(null)), Err(IdTokenFault::Audience));
    assert_eq!(validate(json!("other")), Err(IdTokenFault::AuthorizedParty));
    assert_eq!(validate(json!("client")), Ok(()));
}

#[test]
fn an_azp_that_is_there_counts_with_one_audience_too() {
    assert!(validate("azp", json!("client")).is_ok());
    for azp in [json!("other"), json!(""), json!(["client"]), json!(1)] {
        assert_eq!(fault("azp", azp), IdTokenFault::AuthorizedParty);
    }
}

#[test]
fn an_expired_token_is_refused() {
    for seconds in [0, -1, -3600] {
        assert_eq!(fault("exp", json!(SECOND + seconds)), IdTokenFault::Expired);
    }
    assert!(validate("exp", json!(SECOND + 1)).is_ok());
}

#[test]
fn a_token_from_the_future_is_refused() {
    assert!(validate("iat", json!(SECOND + 60)).is_ok());
    assert_eq!(fault("iat", json!(SECOND + 61)), IdTokenFault::IssuedInFuture);
    assert!(validate("nbf", json!(SECOND + 60)).is_ok());
    assert_eq!(fault("nbf", json!(SECOND + 61)), IdTokenFault::NotYetValid);
}

#[test]
fn a_token_that_is_older_than_ten_minutes_is_refused() {
    assert!(validate("iat", json!(SECOND - 600)).is_ok());
    assert_eq!(fault("iat", json!(SECOND - 601)), IdTokenFault::TooOld);
}

#[test]
fn a_date_that_is_no_number_is_refused() {
    for name in ["exp", "iat", "nbf"] {
        for value in [
            json!((SECOND + 30).to_string()),
            json!(true),
            json!([SECOND]),
            json!({}),
            json!(-1),
            json!(1e300),
        ] {
            assert_eq!(fault(name, value), IdTokenFault::Date, "{name}");
        }
    }
    assert_eq!(fault("exp", json!(null)), IdTokenFault::Date);
    assert_eq!(fault("iat", json!(null)), IdTokenFault::Date);
    assert!(validate("nbf", json!(null)).is_ok());
    assert!(validate("iat", json!(1_772_366_399.5)).is_ok());
}

#[test]
fn another_nonce_is_refused() {
    for nonce in [json!(null), json!(""), json!("other"), json!([NONCE]), json!(sha256_hex(NONCE))] {
        assert_eq!(fault("nonce", nonce), IdTokenFault::Nonce);
    }
}

#[test]
fn a_native_app_must_know_the_nonce_of_its_token() {
    let validate = |claim: Value, brought: Option<&str>| {
        let mut claims = claims();
        claims["nonce"] = claim;
        let expected = Expected { nonce: Nonce::IfPresent(brought), ..expected() };
        expected.validate(claims).map(|_| ())
    };
    assert_eq!(validate(json!(null), None), Ok(()));
    assert_eq!(validate(json!("raw"), Some("raw")), Ok(()));
    assert_eq!(validate(json!(sha256_hex("raw")), Some("raw")), Ok(()));
    assert_eq!(validate(json!("raw"), None), Err(IdTokenFault::Nonce));
    assert_eq!(validate(json!("raw"), Some("other")), Err(IdTokenFault::Nonce));
    assert_eq!(validate(json!(null), Some("raw")), Err(IdTokenFault::Nonce));
    assert_eq!(validate(json!(7), None), Err(IdTokenFault::Nonce));
}

#[test]
fn a_hashed_nonce_that_was_read_in_the_token_is_not_the_nonce() {
    let validate = |claim: &str, brought: Option<&str>| {
        let mut claims = claims();
        claims["nonce"] = json!(claim);
        let expected = Expected { nonce: Nonce::IfPresentHashed(brought), ..expected() };
        expected.validate(claims).map(|_| ())
    };
    let hashed = sha256_hex("raw");
    assert_eq!(validate(&hashed, Some("raw")), Ok(()));
    assert_eq!(validate(&hashed, Some(&hashed)), Err(IdTokenFault::Nonce));
    assert_eq!(validate(&hashed, None), Err(IdTokenFault::Nonce));
    assert_eq!(validate("raw", Some("raw")), Ok(()));
}

#[test]
fn a_subject_is_a_text_of_1_to_255_characters() {
    for subject in
        [json!(null), json!(""), json!(7), json!("x".repeat(256)), json!("a\nb"), json!(" a"), json!(["a"])]
    {
        assert_eq!(fault("sub", subject), IdTokenFault::Subject);
    }
    assert!(validate("sub", json!("ü".repeat(255))).is_ok());
}

#[test]
fn a_tenant_speaks_only_for_itself() {
    let (one, other) = ("72f988bf-86f1-41af-91ab-2d7cd011db47", "11111111-2222-3333-4444-555555555555");
    let validate = |tid: Value, issuer: String| {
        let mut claims = claims();
        claims["tid"] = tid;
        claims["iss"] = json!(issuer);
        let pattern = "https://login.example/{tenantid}/v2.0";
        let issuer = Issuer::OfTenant { pattern, tenants: |tenant| tenant.len() == 36 };
        Expected { issuer, ..expected() }.validate(claims).map(|_| ())
    };
    let issuer = |tenant: &str| format!("https://login.example/{tenant}/v2.0");
    assert_eq!(validate(json!(one), issuer(one)), Ok(()));
    assert_eq!(validate(json!(other), issuer(one)), Err(IdTokenFault::Issuer));
    assert_eq!(validate(json!(null), issuer(one)), Err(IdTokenFault::Issuer));
    assert_eq!(validate(json!("{tenantid}"), issuer("{tenantid}")), Err(IdTokenFault::Issuer));
    assert_eq!(validate(json!("x"), issuer("x")), Err(IdTokenFault::Issuer));
}

fn token(header: &Value, payload: &str) -> String {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
    format!("{}.{}.c2ln", BASE64.encode(header.to_string()), BASE64.encode(payload))
}

#[test]
fn unsigned_and_symmetric_tokens_are_refused_before_anything_else() {
    for alg in ["none", "None", "NONE", "HS256", "HS384", "HS512", "ES512", "RSA1_5", "", "rs256"] {
        let token = token(&json!({ "alg": alg }), "{}");
        assert_eq!(Jws::parse(&token).unwrap_err(), IdTokenFault::Algorithm, "{alg}");
    }
    assert_eq!(Jws::parse(&token(&json!({}), "{}")).unwrap_err(), IdTokenFault::Algorithm);
    assert_eq!(Jws::parse(&token(&json!({"alg": ["RS256"]}), "{}")).unwrap_err(), IdTokenFault::Algorithm);
}

#[test]
fn other_kinds_of_tokens_are_refused() {
    for typ in [json!("at+jwt"), json!("logout+jwt"), json!("dpop+jwt"), json!(""), json!(7)] {
        let token = token(&json!({"alg": "RS256", "typ": typ}), "{}");
        assert_eq!(Jws::parse(&token).unwrap_err(), IdTokenFault::Type);
    }
    let critical = token(&json!({"alg": "RS256", "crit": ["b64"], "b64": false}), "{}");
    assert_eq!(Jws::parse(&critical).unwrap_err(), IdTokenFault::Type);
    for typ in [json!("JWT"), json!("jwt"), json!(null)] {
        assert!(Jws::parse(&token(&json!({"alg": "RS256", "typ": typ}), "{}")).is_ok());
    }
}

#[test]
fn a_token_has_three_parts_of_base64url() {
    let good = token(&json!({"alg": "RS256"}), "{}");
    for bad in [
        String::new(),
        "..".to_owned(),
        "a.b.c".to_owned(),
        good.rsplit_once('.').unwrap().0.to_owned(),
        format!("{good}.x"),
        format!("{good}.x.y"),
        good.replace("eyJ", "eyJ="),
        "x".repeat(100_000),
        token(&json!([]), "{}"),
        token(&json!({"alg": "RS256", "kid": 7}), "{}"),
    ] {
        assert_eq!(Jws::parse(&bad).unwrap_err(), IdTokenFault::Form, "{bad}");
    }
}

#[test]
fn a_twin_of_the_signature_does_not_make_another_token() {
    let token = token(&json!({"alg": "ES256"}), "{}");
    let twin = format!("{}.dHdpbg", token.rsplit_once('.').unwrap().0);
    assert!(Jws::parse(&token).unwrap().replay_key() == Jws::parse(&twin).unwrap().replay_key());
}

proptest! {
    #[test]
    fn no_text_breaks_the_parser(text in ".{0,300}") {
        let _ = Jws::parse(&text);
    }

    #[test]
    fn no_header_and_payload_break_the_parser(header in ".{0,60}", payload in ".{0,60}", alg in "[A-Z0-9]{0,6}") {
        let _ = Jws::parse(&token(&json!({"alg": alg, "kid": header}), &payload));
    }

    #[test]
    fn only_the_exact_nonce_is_taken(nonce in "[ -~]{0,50}") {
        prop_assume!(nonce != NONCE);
        prop_assert_eq!(fault("nonce", json!(nonce)), IdTokenFault::Nonce);
    }

    #[test]
    fn a_token_does_not_come_back_to_life(exp in SECOND..SECOND + 10_000, later in 0..20_000i64) {
        let at = |seconds: i64| {
            let mut claims = claims();
            claims["exp"] = json!(exp);
            claims["iat"] = json!(SECOND + seconds);
            Expected { now: Timestamp::from_millis((SECOND + seconds) * 1000), ..expected() }.validate(claims).is_ok()
        };
        prop_assert_eq!(at(later), SECOND + later < exp);
    }
}
