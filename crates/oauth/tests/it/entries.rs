//! What the providers' documentation shows of their answers, and what must be read from them.

use serde_json::{Value, json};

/// How a client must have proved itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Proof {
    Basic,
    BasicWithJson,
    Post,
}

/// One provider: what it answers, and who that is.
pub(crate) struct Case {
    pub(crate) key: &'static str,
    pub(crate) authorize: &'static str,
    pub(crate) token: &'static str,
    pub(crate) proof: Proof,
    pub(crate) has_pkce: bool,
    /// Without the `id_token`.
    pub(crate) token_answer: Value,
    /// Of the `id_token`, besides issuer, audience, dates and nonce; for those who speak OpenID Connect.
    pub(crate) claims: Option<Value>,
    /// What is asked with the access token, and answered.
    pub(crate) asked: Vec<(&'static str, Value)>,
    pub(crate) subject: &'static str,
    pub(crate) email: Option<&'static str>,
    pub(crate) is_verified: bool,
    pub(crate) name: Option<&'static str>,
    pub(crate) avatar: Option<&'static str>,
}

const ADA: &str = "ada@example.org";

fn bearer() -> Value {
    json!({"access_token": "the-access-token", "token_type": "Bearer", "expires_in": 3600})
}

/// A case without quirks; what differs is said in its place.
fn plain(key: &'static str, authorize: &'static str, token: &'static str) -> Case {
    Case {
        key,
        authorize,
        token,
        proof: Proof::Post,
        has_pkce: true,
        token_answer: bearer(),
        claims: None,
        asked: Vec::new(),
        subject: "1",
        email: Some(ADA),
        is_verified: false,
        name: Some("Ada Lovelace"),
        avatar: Some("https://pictures.example/ada.png"),
    }
}

pub(crate) fn openid() -> Vec<Case> {
    let standard = json!({
        "sub": "110169484474386276334",
        "email": ADA,
        "email_verified": true,
        "name": "Ada Lovelace",
        "picture": "https://pictures.example/ada.png",
    });
    let with = |more: Value| {
        let mut claims = standard.clone();
        claims.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Some(claims)
    };
    let openid = |key, authorize, token| Case {
        claims: with(json!({})),
        subject: "110169484474386276334",
        is_verified: true,
        ..plain(key, authorize, token)
    };
    vec![
        openid(
            "google",
            "https://accounts.google.com/o/oauth2/v2/auth",
            "https://oauth2.googleapis.com/token",
        ),
        openid("gitlab", "https://gitlab.com/oauth/authorize", "https://gitlab.com/oauth/token"),
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
            ..openid(
                "apple",
                "https://appleid.apple.com/auth/authorize",
                "https://appleid.apple.com/auth/token",
            )
        },
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
        },
        Case {
            claims: with(json!({"sub": "U123ABC456", "https://slack.com/team_id": "T123ABC456"})),
            has_pkce: false,
            subject: "T123ABC456:U123ABC456",
            ..openid(
                "slack",
                "https://slack.com/openid/connect/authorize",
                "https://slack.com/api/openid.connect.token",
            )
        },
        Case {
            // Its list of scopes is a list, not a text.
            token_answer: json!({"access_token": "the-access-token", "scope": ["openid"], "token_type": "bearer"}),
            claims: with(json!({"sub": "713936733", "name": null, "preferred_username": "ada"})),
            has_pkce: false,
            subject: "713936733",
            name: Some("ada"),
            ..openid("twitch", "https://id.twitch.tv/oauth2/authorize", "https://id.twitch.tv/oauth2/token")
        },
    ]
}

pub(crate) fn with_address() -> Vec<Case> {
    vec![
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
        },
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
        },
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
        },
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
        },
    ]
}

pub(crate) fn with_unproved_address() -> Vec<Case> {
    vec![
        Case {
            has_pkce: false,
            asked: vec![(
                "https://graph.facebook.com/v23.0/me",
                json!({
                    "id": "10220000000000000", "name": "Ada Lovelace", "email": ADA,
                    "picture": {"data": {"url": "https://pictures.example/ada.png", "is_silhouette": false}},
                }),
            )],
            subject: "10220000000000000",
            ..plain(
                "facebook",
                "https://www.facebook.com/v23.0/dialog/oauth",
                "https://graph.facebook.com/v23.0/oauth/access_token",
            )
        },
        Case {
            proof: Proof::Basic,
            asked: vec![(
                "https://api.figma.com/v1/me",
                json!({
                    "id": "1169", "email": ADA, "handle": "Ada Lovelace", "img_url": "https://pictures.example/ada.png",
                }),
            )],
            subject: "1169",
            ..plain("figma", "https://www.figma.com/oauth", "https://api.figma.com/v1/oauth/token")
        },
        Case {
            proof: Proof::Basic,
            asked: vec![(
                "https://api.spotify.com/v1/me",
                json!({
                    "id": "ada", "display_name": "Ada Lovelace", "email": ADA,
                    "images": [{"url": "https://pictures.example/ada.png", "height": 64, "width": 64}],
                }),
            )],
            subject: "ada",
            ..plain(
                "spotify",
                "https://accounts.spotify.com/authorize",
                "https://accounts.spotify.com/api/token",
            )
        },
        Case {
            proof: Proof::Basic,
            asked: vec![(
                "https://api.zoom.us/v2/users/me",
                json!({
                    "id": "zJKyaiAyTNC-MWjiWC18KQ", "display_name": "Ada Lovelace", "email": ADA, "verified": 1,
                    "pic_url": "https://pictures.example/ada.png",
                }),
            )],
            subject: "zJKyaiAyTNC-MWjiWC18KQ",
            ..plain("zoom", "https://zoom.us/oauth/authorize", "https://zoom.us/oauth/token")
        },
        Case {
            proof: Proof::BasicWithJson,
            has_pkce: false,
            token_answer: json!({
                "access_token": "the-access-token", "token_type": "bearer", "bot_id": "b3414d65", "workspace_id": "w",
                "owner": {"type": "user", "user": {
                    "object": "user", "id": "d40e767c-d7af-4b18-a86d-55c61f1e39a4", "name": "Ada Lovelace",
                    "avatar_url": "https://pictures.example/ada.png", "type": "person", "person": {"email": ADA},
                }},
            }),
            subject: "d40e767c-d7af-4b18-a86d-55c61f1e39a4",
            ..plain(
                "notion",
                "https://api.notion.com/v1/oauth/authorize",
                "https://api.notion.com/v1/oauth/token",
            )
        },
    ]
}

pub(crate) fn without_address() -> Vec<Case> {
    vec![
        Case {
            proof: Proof::Basic,
            asked: vec![(
                "https://api.x.com/2/users/me",
                json!({"data": {
                    "id": "2244994945", "name": "Ada Lovelace", "username": "ada",
                    "profile_image_url": "https://pictures.example/ada.png",
                }}),
            )],
            subject: "2244994945",
            email: None,
            ..plain("x", "https://x.com/i/oauth2/authorize", "https://api.x.com/2/oauth2/token")
        },
        Case {
            has_pkce: false,
            token_answer: json!({
                "access_token": "the-access-token", "open_id": "723f24d7-e717-40f8-a2b6-cb8464cd23b4",
                "scope": "user.info.basic", "token_type": "Bearer",
            }),
            asked: vec![(
                "https://open.tiktokapis.com/v2/user/info/",
                json!({
                    "data": {"user": {
                        "open_id": "723f24d7-e717-40f8-a2b6-cb8464cd23b4", "union_id": "c9c60f44",
                        "display_name": "Ada Lovelace", "avatar_url": "https://pictures.example/ada.png",
                    }},
                    "error": {"code": "ok", "message": "", "log_id": "20220829194722CBE87ED59D524E727021"},
                }),
            )],
            subject: "723f24d7-e717-40f8-a2b6-cb8464cd23b4",
            email: None,
            ..plain(
                "tiktok",
                "https://www.tiktok.com/v2/auth/authorize/",
                "https://open.tiktokapis.com/v2/oauth/token/",
            )
        },
        Case {
            has_pkce: false,
            token_answer: json!({"data": [{
                "access_token": "the-access-token", "user_id": "1020", "permissions": "instagram_business_basic",
            }]}),
            asked: vec![(
                "https://graph.instagram.com/v23.0/me",
                json!({
                    "user_id": "17841405793187218", "username": "ada", "name": "Ada Lovelace",
                    "profile_picture_url": "https://pictures.example/ada.png", "id": "1020",
                }),
            )],
            subject: "17841405793187218",
            email: None,
            ..plain(
                "instagram",
                "https://www.instagram.com/oauth/authorize",
                "https://api.instagram.com/oauth/access_token",
            )
        },
    ]
}

pub(crate) fn all() -> Vec<Case> {
    [openid(), with_address(), with_unproved_address(), without_address()].into_iter().flatten().collect()
}
