//! Attacks on the acts of the console: forged forms, foreign hosts, hostile texts, and operators who want more.

use latchkey_domain::operator::Role;
use latchkey_testkit::{TestApp, User, both_stores, json};

use crate::console_calls::verified;
use crate::console_user_calls::{desk, path_of};
use crate::hostile_values::TEXTS;
use crate::operators::grant;

const POSTS: [&str; 18] = [
    "end-sessions",
    "end-one-session",
    "send-verification",
    "send-reset",
    "retry-mail",
    "lift-limits",
    "ban",
    "unban",
    "keep",
    "remove-profile-text",
    "mark-verified",
    "change-address",
    "set-password",
    "save-metadata",
    "remove-passkey",
    "remove-factors",
    "unlink",
    "delete",
];

/// Fields with which each act would succeed.
const FIELDS: [(&str, &str); 4] = [
    ("email", "moved@example.org"),
    ("new_password", "a wholly new lantern"),
    ("metadata", "{\"plan\": \"pro\"}"),
    ("confirmation", "ada@example.org"),
];

async fn shown(app: &TestApp, user: &User) -> latchkey_testkit::Value {
    app.admin().get(&format!("/api/auth/users/{}", user.id)).send().await.expect(200)
}

both_stores! {
    with(|b| verified(b).console())
    async fn form_without_token_or_of_another_origin_does_nothing(app) {
        let (owner, other) =
            (desk(&app, "owner", Role::Owner).await, desk(&app, "other", Role::Owner).await);
        let ada = app.user("ada").await;
        let (before, path) = (shown(&app, &ada).await, path_of(&ada));
        for act in POSTS {
            let query = format!("act={act}");
            let forged = || owner.forced(&path, &query, &FIELDS);
            let with = |name: &str, value: &str| forged().header(name, value);
            let tokens = ["", "nonsense", &other.token(&path), &owner.token("/console/operators")];
            let with_token = tokens.map(|token| owner.form(&path, &query, token, &FIELDS));
            let foreign = [
                with("origin", "https://evil.example"),
                with("origin", "null"),
                forged().without_header("origin").header("sec-fetch-site", "cross-site"),
                forged().without_header("origin").without_header("sec-fetch-site"),
            ];
            for request in with_token.into_iter().chain(foreign) {
                owner.browser.send(request).await.hosted(403);
            }
        }
        assert_eq!(shown(&app, &ada).await, before);
        ada.get("/api/profiles/me").send().await.expect(200);
    }

    with(|b| verified(b).console())
    async fn act_at_a_foreign_host_does_nothing(app) {
        let (owner, ada) = (desk(&app, "owner", Role::Owner).await, app.user("ada").await);

        for host in ["evil.example", "console.evil.example:8700", "192.0.2.1"] {
            let request = owner.forced(&path_of(&ada), "act=ban", &[]).header("host", host);
            owner.browser.send(request).await.hosted(421);
        }

        assert_eq!(shown(&app, &ada).await["banned"], false);
    }

    with(|b| verified(b).console())
    async fn reading_and_head_change_nothing(app) {
        let (owner, ada) = (desk(&app, "owner", Role::Owner).await, app.user("ada").await);
        for act in POSTS {
            let path = format!("{}?act={act}&email=moved%40example.org&confirmation=ada%40example.org", path_of(&ada));
            owner.browser.get(&path).await.hosted(200);
            let head = app.anon().request("HEAD", &path).header("host", "localhost:8700");
            assert_eq!(owner.browser.send(head).await.status, 200, "{act}");
        }
        ada.get("/api/profiles/me").send().await.expect(200);
    }

    with(|b| verified(b).console())
    async fn hostile_texts_of_users_stay_texts(app) {
        let (admin, ada) = (desk(&app, "admin", Role::Admin).await, app.user("ada").await);
        let markup: Vec<_> = TEXTS.iter().filter(|text| text.contains('<') && text.len() < 200).collect();
        assert!(!markup.is_empty());
        for text in markup {
            ada.patch("/api/profiles/me", json!({"bio": text, "name": text, "custom": text})).send().await;
            let metadata = json!({"text": text, "</textarea><script>alert(1)</script>": text}).to_string();
            let saved = admin.act(&ada, "save-metadata", &[("metadata", &metadata)]).await;
            assert_eq!(saved.status, 303, "{text}: {saved:?}");
            let refused = admin.act(&ada, "save-metadata", &[("metadata", text)]).await;
            let address = admin.act(&ada, "change-address", &[("email", text)]).await;

            for page in [admin.page(&ada).await, refused, address] {
                let html = page.text();
                assert!(!html.contains(text.as_str()), "{text}: {page:?}");
                assert_eq!(html.matches("<script").count(), html.matches("<script type=\"module\" src=\"/assets/").count());
                assert_eq!(html.matches("<textarea").count(), html.matches("</textarea>").count(), "{text}");
            }
        }
    }

    with(|b| verified(b).console())
    async fn admin_key_takes_no_account_of_an_operator(app) {
        let ada = app.user("ada").await;
        let _ = grant(&app, &ada, Role::Viewer).await;
        let path = format!("/api/auth/users/{}", ada.id);
        let admin = app.admin();

        for request in [
            admin.post(&format!("{path}/password"), json!({"newPassword": "a wholly new lantern"})),
            admin.delete(&format!("{path}/identities/google")),
            admin.delete(&format!("{path}/limits")),
        ] {
            request.send().await.refused(403, "OPERATOR_PROTECTED");
        }

        ada.sign_in_again().await;
        admin.delete(&format!("{path}/sessions")).send().await.expect(200);
    }

    with(|b| verified(b).console())
    async fn kept_form_of_one_operator_is_no_use_to_another(app) {
        let (one, other) = (desk(&app, "one", Role::Admin).await, desk(&app, "other", Role::Admin).await);
        let ada = app.user("ada").await;
        app.clock.advance(latchkey_testkit::minutes(11));
        let asked = one.act(&ada, "delete", &[("confirmation", "ada@example.org")]).await;
        asked.hosted(403);

        let answer = other.browser.submit(&asked, "/console/confirm", &[("code", "000000")]).await;

        assert_eq!(answer.status, 403, "{answer:?}");
        shown(&app, &ada).await;
    }
}
