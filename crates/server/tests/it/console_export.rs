//! `/console/export`: the export of all accounts by an owner.

use latchkey_domain::operator::Role;
use latchkey_testkit::{Answer, TestApp, Value, both_stores, json, minutes};

use crate::audit::last;
use crate::console_calls::{operator, verified};
use crate::console_user_calls::{Desk, desk, desk_of};

const EXPORT: &str = "/console/export";

async fn download(desk: &Desk<'_>, content: &str) -> Answer {
    let page = desk.browser.get(EXPORT).await;
    desk.browser.submit(&page, EXPORT, &[("content", content)]).await
}

fn kinds(file: &Answer) -> Vec<String> {
    let kind = |line: &str| line.parse::<Value>().unwrap()["kind"].as_str().unwrap().to_owned();
    file.text().lines().map(kind).collect()
}

async fn exported(app: &TestApp, desk: &Desk<'_>) -> Value {
    let event = last(app, "instance_exported").await;
    assert_eq!((&event["actor"], &event["operatorId"]), (&json!("operator"), &json!(desk.id)));
    event["details"].clone()
}

both_stores! {
    with(|b| verified(b).console())
    async fn owner_downloads_all_accounts_with_and_without_secrets(app) {
        app.user("ada").await;
        let desk = desk(&app, "owner", Role::Owner).await;

        let bare = download(&desk, "bare").await;
        assert_eq!((bare.status, bare.header("content-type")), (200, Some("application/x-ndjson")), "{bare:?}");
        assert!(bare.header("content-disposition").unwrap().contains("latchkey-export.jsonl"));
        assert_eq!(kinds(&bare), ["latchkey-export", "user", "user", "settings", "end"]);
        assert!(!bare.text().contains("passwordHash"));
        assert_eq!(exported(&app, &desk).await, json!({"secrets": false}));

        let secrets = download(&desk, "secrets").await;
        assert_eq!(secrets.text().matches("passwordHash").count(), 2, "{secrets:?}");
        assert_eq!(secrets.text().matches("\"totp\"").count(), 1);
        assert_eq!(exported(&app, &desk).await, json!({"secrets": true}));
    }

    with(|b| verified(b).console())
    async fn export_needs_a_recent_factor(app) {
        let owner = operator(&app, "owner", Role::Owner).await;
        let desk = desk_of(&app, &owner).await;
        let before = desk.browser.get(EXPORT).await;
        app.clock.advance(minutes(11));

        let page = desk.browser.get(EXPORT).await;
        assert!(page.hosted(200).contains("Confirm and go on") && !page.text().contains("With secrets"), "{page:?}");
        let asked = desk.browser.submit(&before, EXPORT, &[("content", "secrets")]).await;
        assert!(asked.hosted(403).contains("This act needs a fresh proof."), "{asked:?}");
        let asked = desk.browser.submit(&page, EXPORT, &[]).await;
        let code = owner.authenticator.code();
        let done = desk.browser.submit(&asked, "/console/confirm", &[("code", &code)]).await;

        let page = desk.browser.follow(&done).await;
        assert!(page.hosted(200).contains("With secrets"), "{page:?}");
        let file = desk.browser.submit(&page, EXPORT, &[("content", "bare")]).await;
        assert_eq!(kinds(&file).last().map(String::as_str), Some("end"));
    }

    with(|b| verified(b).console().limits())
    async fn fifth_export_within_an_hour_is_refused_on_the_page(app) {
        let desk = desk(&app, "owner", Role::Owner).await;
        for _ in 0..4 {
            assert_eq!(download(&desk, "bare").await.status, 200);
        }
        download(&desk, "bare").await.hosted(429);
    }
}
