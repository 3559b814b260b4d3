//! Providers without email addresses.

use serde_json::json;

use super::{Case, Proof, plain};

pub(super) fn cases() -> Vec<Case> {
    vec![x(), tiktok(), instagram()]
}

fn x() -> Case {
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
    }
}

fn tiktok() -> Case {
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
    }
}

fn instagram() -> Case {
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
    }
}
