//! Export of all accounts: one snapshot as JSON lines, without secrets over HTTP.

use latchkey_testkit::{TestApp, Value, both_stores, json, minutes};
use sha2::{Digest, Sha256};

const HASH: &str = "$2b$04$cECOmfMonDnXthabEWC6ZOZK4yAntDRBxZtm6obR2jvK4RE.7uG5u";

/// The lines of an export, and the text before the last one.
async fn export(app: &TestApp, query: &str) -> (Vec<Value>, String) {
    let answer = app.admin().get(&format!("/api/auth/export{query}")).send().await;
    assert_eq!(answer.status, 200);
    let text = answer.text();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let end = text.trim_end().rfind('\n').unwrap() + 1;
    (lines, text[..end].to_owned())
}

fn users(lines: &[Value]) -> Vec<&Value> {
    lines.iter().filter(|line| line["kind"] == "user").collect()
}

both_stores! {
    async fn export_has_every_account_and_ends_with_their_digest(app) {
        let ada = app.user("ada").await;
        app.imported_user("bob", HASH).await;

        let (lines, before_the_end) = export(&app, "").await;

        let head = json!({
            "kind": "latchkey-export", "format": 1, "version": env!("CARGO_PKG_VERSION"),
            "exportedAt": "2026-03-02T10:00:00.000Z", "secrets": false
        });
        assert_eq!(lines[0], head);
        let mut emails: Vec<_> = users(&lines).iter().map(|user| user["email"].clone()).collect();
        emails.sort_by_key(ToString::to_string);
        assert_eq!(emails, ["ada@example.org", "bob@example.org"]);
        let found = users(&lines).into_iter().find(|user| user["id"] == ada.id.as_str()).unwrap();
        assert_eq!((&found["name"], &found["emailVerified"], &found["banned"]), (&json!("Ada"), &json!(false), &json!(false)));
        assert_eq!((&found["createdAt"], &found["twoStep"]), (&json!("2026-03-02T10:00:00.000Z"), &json!(false)));
        let sha256 = hex::encode(Sha256::digest(before_the_end.as_bytes()));
        assert_eq!(lines.last(), Some(&json!({ "kind": "end", "users": 2, "sha256": sha256 })));
    }

    with(|b| b.verification_by_code())
    async fn export_over_http_has_no_secret(app) {
        app.imported_user("bob", HASH).await;
        app.two_step_user("ada").await;

        let (lines, text) = export(&app, "").await;

        for secret in ["passwordHash", "$2b$", "$argon2", "totp", "hashKey", "passkeys"] {
            assert!(!text.contains(secret), "{secret}");
        }
        let ada = users(&lines).into_iter().find(|user| user["email"] == "ada@example.org").unwrap();
        assert_eq!(ada["twoStep"], true);
    }

    async fn export_since_a_time_has_the_accounts_changed_since(app) {
        app.user("ada").await;
        app.clock.advance(minutes(10));
        app.user("bob").await;

        let (lines, _) = export(&app, "?since=2026-03-02T10:05:00Z").await;

        let emails: Vec<_> = users(&lines).into_iter().map(|user| &user["email"]).collect();
        assert_eq!(emails, ["bob@example.org"]);
        app.admin().get("/api/auth/export?since=yesterday").send().await.refused(400, "VALIDATION_ERROR");
    }

    async fn export_of_many_accounts_has_each_once(app) {
        for number in 0..1_100 {
            app.imported_user(&format!("user{number}"), HASH).await;
        }

        let (lines, _) = export(&app, "").await;

        let mut ids: Vec<_> = users(&lines).into_iter().map(|user| user["id"].to_string()).collect();
        assert!(ids.is_sorted());
        ids.dedup();
        assert_eq!((ids.len(), lines.last().unwrap()["users"].as_u64()), (1_100, Some(1_100)));
    }

    async fn export_is_in_the_audit_log(app) {
        export(&app, "").await;

        let events = app.admin().get("/api/auth/audit?event=instance_exported").send().await.expect(200);
        assert_eq!(events["data"][0]["details"], json!({ "secrets": false }));
    }

    with(|b| b.limits())
    async fn fifth_export_within_an_hour_is_refused(app) {
        for _ in 0..4 {
            export(&app, "").await;
        }

        let refused = app.admin().get("/api/auth/export").send().await;

        refused.refused(429, "TOO_MANY_REQUESTS");
    }
}
