//! Providers with email addresses of unknown verification status.

use serde_json::json;

use super::{ADA, Case, Proof, plain};

pub(super) fn cases() -> Vec<Case> {
    vec![facebook(), figma(), spotify(), zoom(), notion()]
}

fn facebook() -> Case {
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
    }
}

fn figma() -> Case {
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
    }
}

fn spotify() -> Case {
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
        ..plain("spotify", "https://accounts.spotify.com/authorize", "https://accounts.spotify.com/api/token")
    }
}

fn zoom() -> Case {
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
    }
}

fn notion() -> Case {
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
    }
}
