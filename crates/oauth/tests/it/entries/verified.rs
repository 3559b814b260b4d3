//! OAuth 2.0 providers with verified flags for email addresses.

use serde_json::json;

use super::{ADA, Case, Proof, plain};

pub(super) fn cases() -> Vec<Case> {
    vec![github(), bitbucket(), discord(), linkedin()]
}

fn github() -> Case {
    Case {
        token_answer: json!({"access_token": "the-access-token", "scope": "user:email", "token_type": "bearer"}),
        asked: vec![
            (
                "https://api.github.com/user",
                json!({
                    "id": 583_231, "login": "ada", "name": "Ada Lovelace", "email": "public@example.org",
                    "avatar_url": "https://pictures.example/ada.png",
                }),
            ),
            (
                "https://api.github.com/user/emails",
                json!([
                    {"email": "other@example.org", "verified": true, "primary": false, "visibility": null},
                    {"email": ADA, "verified": true, "primary": true, "visibility": "private"},
                ]),
            ),
        ],
        subject: "583231",
        is_verified: true,
        ..plain(
            "github",
            "https://github.com/login/oauth/authorize",
            "https://github.com/login/oauth/access_token",
        )
    }
}

fn bitbucket() -> Case {
    Case {
        proof: Proof::Basic,
        has_pkce: false,
        asked: vec![
            (
                "https://api.bitbucket.org/2.0/user",
                json!({
                    "uuid": "{e58da1c5-7bf4-4ad3-91f9-ee4f6b1c9c34}", "display_name": "Ada Lovelace",
                    "links": {"avatar": {"href": "https://pictures.example/ada.png"}},
                }),
            ),
            (
                "https://api.bitbucket.org/2.0/user/emails",
                json!({"values": [{"email": ADA, "is_primary": true, "is_confirmed": true, "type": "email"}]}),
            ),
        ],
        subject: "{e58da1c5-7bf4-4ad3-91f9-ee4f6b1c9c34}",
        is_verified: true,
        ..plain(
            "bitbucket",
            "https://bitbucket.org/site/oauth2/authorize",
            "https://bitbucket.org/site/oauth2/access_token",
        )
    }
}

fn discord() -> Case {
    Case {
        asked: vec![(
            "https://discord.com/api/users/@me",
            json!({
                "id": "80351110224678912", "username": "ada", "global_name": "Ada Lovelace",
                "avatar": "8342729096ea3675442027381ff50dfe", "email": ADA, "verified": true,
            }),
        )],
        subject: "80351110224678912",
        is_verified: true,
        avatar: Some(
            "https://cdn.discordapp.com/avatars/80351110224678912/8342729096ea3675442027381ff50dfe.png",
        ),
        ..plain("discord", "https://discord.com/oauth2/authorize", "https://discord.com/api/oauth2/token")
    }
}

fn linkedin() -> Case {
    Case {
        has_pkce: false,
        asked: vec![(
            "https://api.linkedin.com/v2/userinfo",
            json!({
                "sub": "782bbtaQ", "name": "Ada Lovelace", "picture": "https://pictures.example/ada.png",
                "locale": "en-US", "email": ADA, "email_verified": true,
            }),
        )],
        subject: "782bbtaQ",
        is_verified: true,
        ..plain(
            "linkedin",
            "https://www.linkedin.com/oauth/v2/authorization",
            "https://www.linkedin.com/oauth/v2/accessToken",
        )
    }
}
