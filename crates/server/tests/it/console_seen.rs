//! Forms that change what was shown: a change by somebody else in the meantime is shown and not overwritten.

use latchkey_domain::operator::Role;
use latchkey_testkit::{TestApp, TestAppBuilder, Value, both_stores, json};

use crate::console_calls::verified;
use crate::console_user_calls::desk;

const SETTINGS: &str = "/console/settings";
const CHANGE: &str = "/console/settings/change";
const LIST: &str = "auth.allowed_redirect_urls";

fn console(builder: TestAppBuilder) -> TestAppBuilder {
    verified(builder).console()
}

fn targets(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("https://{name}.example/")).collect()
}

async fn configure(app: &TestApp, list: &[String]) {
    app.admin().put("/api/auth/config", json!({"allowedRedirectUrls": list})).send().await.expect(200);
}

async fn metadata(app: &TestApp, id: &str) -> Value {
    app.admin().get(&format!("/api/auth/users/{id}")).send().await.expect(200)["metadata"].clone()
}

both_stores! {
    with(console)
    async fn long_list_is_changed_by_a_form_that_asks_first(app) {
        let owner = desk(&app, "owner", Role::Owner).await;
        let list: Vec<_> = (0..300).map(|n| format!("https://app{n}.example.com/some/long/path/callback")).collect();
        configure(&app, &list).await;
        let page = owner.browser.get(SETTINGS).await;
        let value = list[1..].join("\r\n");

        let asked = owner.browser.submit(&page, "change?ask", &[("key", LIST), ("value", &value)]).await;

        assert!(asked.hosted(200).contains("− https://app0.example.com/"), "{asked:?}");
        let stored = || app.service().settings().values.allowed_redirect_urls.clone();
        assert_eq!(stored(), list, "the question changes nothing");
        let done = owner.browser.submit(&asked, CHANGE, &[]).await;
        assert_eq!(done.status, 303, "{done:?}");
        assert_eq!(stored(), list[1..]);
        let wrong = owner.browser.submit(&page, "change?ask", &[("key", LIST), ("value", "nonsense")]).await;
        let again = owner.browser.submit(&wrong, "change?ask", &[("value", "https://b.example/")]).await;
        assert!(wrong.status == 400 && again.hosted(200).contains("+ https://b.example/"), "{wrong:?} {again:?}");
    }

    with(console)
    async fn question_is_for_owners_and_from_our_own_page(app) {
        let admin = desk(&app, "admin", Role::Admin).await;
        let fields = [("key", "passwords.min_length"), ("value", "12")];
        admin.forces_at(CHANGE, "ask=1", &fields).await.hosted(403);
        let owner = desk(&app, "owner", Role::Owner).await;
        let page = owner.browser.get(SETTINGS).await;
        owner.browser.submit(&page, "change?ask", &[("form_token", "wrong")]).await.hosted(403);
    }

    with(console)
    async fn setting_that_somebody_changed_meanwhile_is_shown_and_not_overwritten(app) {
        let owner = desk(&app, "owner", Role::Owner).await;
        configure(&app, &targets(&["a"])).await;
        let page = owner.browser.get(SETTINGS).await;
        let value = targets(&["a", "mine"]).join("\n");
        let asked = owner.browser.submit(&page, "change?ask", &[("key", LIST), ("value", &value)]).await;
        configure(&app, &targets(&["a", "colleague"])).await;

        let refused = owner.browser.submit(&asked, CHANGE, &[]).await;

        let text = refused.hosted(409);
        assert!(text.contains("Somebody changed this setting") && text.contains("− https://colleague.example/"), "{text}");
        assert_eq!(app.service().settings().values.allowed_redirect_urls, targets(&["a", "colleague"]));
        let done = owner.browser.submit(&refused, CHANGE, &[]).await;
        assert_eq!(done.status, 303, "{done:?}");
        assert_eq!(app.service().settings().values.allowed_redirect_urls, targets(&["a", "mine"]));
    }

    with(console)
    async fn metadata_that_somebody_changed_meanwhile_are_shown_and_not_overwritten(app) {
        let admin = desk(&app, "admin", Role::Admin).await;
        let ada = app.user("ada").await;
        let page = admin.page(&ada).await;
        let path = format!("/api/auth/users/{}", ada.id);
        app.admin().patch(&path, json!({"metadata": {"by": "colleague"}})).send().await.expect(200);

        let refused = admin.browser.submit(&page, "act=save-metadata", &[("metadata", "{\"by\": \"me\"}")]).await;

        let text = refused.hosted(409);
        assert!(text.contains("Somebody changed the metadata") && text.contains("colleague"), "{text}");
        assert!(text.contains("&quot;me&quot;"), "{text}");
        assert_eq!(metadata(&app, &ada.id).await, json!({"by": "colleague"}));
        let saved = admin.browser.submit(&refused, "act=save-metadata", &[("metadata", "{\"by\": \"me\"}")]).await;
        assert_eq!(saved.status, 303, "{saved:?}");
        assert_eq!(metadata(&app, &ada.id).await, json!({"by": "me"}));
    }
}
