//! Providers that speak OpenID Connect.

use serde_json::{Value, json};

use super::{ADA, Case, plain};

pub(super) fn cases() -> Vec<Case> {
    vec![google(), gitlab(), apple(), microsoft(), slack(), twitch()]
}

/// Standard claims, extended or overridden.
fn standard_with(more: Value) -> Value {
    let mut claims = json!({
        "sub": "110169484474386276334",
        "email": ADA,
        "email_verified": true,
        "name": "Ada Lovelace",
        "picture": "https://pictures.example/ada.png",
    });
    if let (Value::Object(claims), Value::Object(more)) = (&mut claims, more) {
        claims.extend(more);
    }
    claims
}

/// A provider with standard claims.
fn openid(key: &'static str, authorize: &'static str, token: &'static str) -> Case {
    Case {
        claims: Some(standard_with(json!({}))),
        subject: "110169484474386276334",
        is_verified: true,
        ..plain(key, authorize, token)
    }
}

fn google() -> Case {
    openid("google", "https://accounts.google.com/o/oauth2/v2/auth", "https://oauth2.googleapis.com/token")
}

fn gitlab() -> Case {
    openid("gitlab", "https://gitlab.com/oauth/authorize", "https://gitlab.com/oauth/token")
}

fn apple() -> Case {
    Case {
        claims: Some(json!({
            "sub": "001999.b6a0e1d2c3f4a5b6c7d8e9f0a1b2c3d4.1234",
            "email": "x7w2@privaterelay.appleid.com",
            "email_verified": "true",
            "is_private_email": "true",
            "nonce_supported": true,
        })),
        has_pkce: false,
        subject: "001999.b6a0e1d2c3f4a5b6c7d8e9f0a1b2c3d4.1234",
        email: Some("x7w2@privaterelay.appleid.com"),
        avatar: None,
        ..openid("apple", "https://appleid.apple.com/auth/authorize", "https://appleid.apple.com/auth/token")
    }
}

fn microsoft() -> Case {
    Case {
        claims: Some(json!({
            "sub": "AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ",
            "tid": "72f988bf-86f1-41af-91ab-2d7cd011db47",
            "oid": "00000000-0000-0000-66f3-3332eca7ea81",
            "email": ADA,
            "name": "Ada Lovelace",
            "preferred_username": ADA,
            "ver": "2.0",
        })),
        subject: "72f988bf-86f1-41af-91ab-2d7cd011db47:00000000-0000-0000-66f3-3332eca7ea81",
        is_verified: false,
        avatar: None,
        ..openid(
            "microsoft",
            "https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
            "https://login.microsoftonline.com/common/oauth2/v2.0/token",
        )
    }
}

fn slack() -> Case {
    Case {
        claims: Some(standard_with(json!({"sub": "U123ABC456", "https://slack.com/team_id": "T123ABC456"}))),
        has_pkce: false,
        subject: "T123ABC456:U123ABC456",
        ..openid(
            "slack",
            "https://slack.com/openid/connect/authorize",
            "https://slack.com/api/openid.connect.token",
        )
    }
}

fn twitch() -> Case {
    Case {
        // Twitch sends its list of scopes as an array, not as a string.
        token_answer: json!({"access_token": "the-access-token", "scope": ["openid"], "token_type": "bearer"}),
        claims: Some(standard_with(json!({"sub": "713936733", "name": null, "preferred_username": "ada"}))),
        has_pkce: false,
        subject: "713936733",
        name: Some("ada"),
        ..openid("twitch", "https://id.twitch.tv/oauth2/authorize", "https://id.twitch.tv/oauth2/token")
    }
}
