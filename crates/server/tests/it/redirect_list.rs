//! Tests of hard cases of the redirect allow list at sendResetPasswordEmail. Unit tests of the list cover the rest.

use latchkey_testkit::answer::parameter;
use latchkey_testkit::{TestApp, both_stores, json};
use url::Url;

use crate::email_calls::{TARGET, send_reset_to};
use crate::redirects::off_list;

const ADA: &str = "ada@example.org";

/// Targets that are refused if the list has only a page on `app.example`.
const HARD: &[&str] = &[
    "",
    "/done",
    "//app.example/done",
    "app.example/done",
    "https:app.example/done",
    "https:/app.example/done",
    "https:///app.example/done",
    "http://app.example/done",
    "https://app.example:444/done",
    "https://app.example./done",
    "https://www.app.example/done",
    "https://app.example.evil.example/done",
    "https://evil.example/https://app.example/done",
    "https://evil.example/?https://app.example/done",
    "https://evil.example/#https://app.example/done",
    "https://app.example@evil.example/done",
    "https://app.example:done@evil.example/done",
    "https://ada@app.example/done",
    "https://@app.example/done",
    "https://:@app.example/done",
    "https:\\\\app.example\\done",
    "https://evil.example\\@app.example/done",
    "https://app.example\\.evil.example/done",
    "https://app.example/done\\..\\other",
    " https://app.example/done",
    "https://app.example/done ",
    "https://app.example/done\n",
    "ht\ttps://app.example/done",
    "https://app.exa\u{7f}mple/done",
    "https://app.example%00.evil.example/done",
    "https://app.example%2f@evil.example/done",
    "https://app.example/done/",
    "https://app.example/done/more",
    "https://app.example/done%2f..%2fother",
    "https://app.example/Done",
    "https://app.example/done/../other",
    "https://app.example/",
    "https://[::1]/done",
    "https://",
    "javascript:alert(1)//https://app.example/done",
    "JavaScript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://app.example/done",
    "about:blank",
    "myapp://callback",
];

/// Redirect of a reset link to this allowed target.
async fn leads_to(app: &TestApp, target: &str) -> Url {
    send_reset_to(&app.anon(), ADA, target).send().await.expect(202);
    let link = app.mail_to(ADA).await.link();
    app.anon().get(&link).send().await.redirected()
}

both_stores! {
    with(|b| b.link_reset().redirects(&[TARGET]))
    async fn hard_urls_are_refused(app) {
        for target in HARD {
            let answer = send_reset_to(&app.anon(), ADA, target).send().await;

            off_list(&answer);
        }
    }

    with(|b| b.link_reset().redirects(&[TARGET]))
    async fn refusal_says_which_rule_failed(app) {
        for (target, rule) in [
            ("/done", "absolute"),
            ("javascript:alert(1)", "scheme"),
            ("https://ada@app.example/done", "user information"),
            ("https://app.example/\\done", "backslash"),
            ("https://app.example/do\tne", "control character"),
            ("http://app.example/done", "scheme"),
            ("https://evil.example/done", "host"),
            ("https://app.example:8443/done", "port"),
            ("https://app.example/other", "path"),
        ] {
            let message = off_list(&send_reset_to(&app.anon(), ADA, target).send().await);

            assert!(message.contains(rule), "{target}: {message}");
        }
    }

    with(|b| b.link_reset().redirects(&[TARGET]))
    async fn parsed_url_is_stored_and_used(app) {
        app.user("ada").await;

        for spelling in
            ["HTTPS://APP.EXAMPLE:443/done", "https://app.example/x/../done", "https://app%2eexample/done"]
        {
            let landed = leads_to(&app, spelling).await;

            assert!(landed.as_str().starts_with("https://app.example/done?service_status=ready"), "{landed}");
        }
    }

    with(|b| b.link_reset().redirects(&["https://*.app.example/one/*", "https://open.example/**"]))
    async fn wildcards_take_one_label_one_segment_or_the_rest_of_a_path(app) {
        app.user("ada").await;
        for target in ["https://a.app.example/one/x", "https://open.example/", "https://open.example/a/b?c#d"]
        {
            assert_eq!(parameter(&leads_to(&app, target).await, "service_status").as_deref(), Some("ready"));
        }

        for target in [
            "https://app.example/one/x",
            "https://a.b.app.example/one/x",
            "https://evil.example/.app.example/one/x",
            "https://evil.example#.app.example/one/x",
            "https://a.app.example/one/x/y",
            "https://a.app.example/one/",
            "https://a.app.example/one/..%2f..%2fadmin",
            "https://open.example/%2e%2e%5cadmin",
            "http://open.example/",
        ] {
            off_list(&send_reset_to(&app.anon(), ADA, target).send().await);
        }
    }

    with(|b| b.link_reset().redirects(&["https://app.example/any", "https://app.example/one?tab=1"]))
    async fn entry_with_a_query_demands_it_and_one_without_lets_any_pass(app) {
        app.user("ada").await;

        let landed = leads_to(&app, "https://app.example/one?tab=1").await;
        assert_eq!(parameter(&landed, "tab").as_deref(), Some("1"));
        leads_to(&app, "https://app.example/any?x=y").await;

        for target in
            ["https://app.example/one", "https://app.example/one?tab=2", "https://app.example/one?tab=1&x=y"]
        {
            off_list(&send_reset_to(&app.anon(), ADA, target).send().await);
        }
    }

    with(|b| b.link_reset().redirects(&["myapp://callback"]))
    async fn custom_scheme_matches_exactly(app) {
        app.user("ada").await;

        let landed = leads_to(&app, "myapp://callback").await;

        assert!(landed.as_str().starts_with("myapp://callback?service_status=ready&"), "{landed}");
        for target in ["myapp://callback/x", "myapp://Callback", "myapp:callback", "myapp2://callback"] {
            off_list(&send_reset_to(&app.anon(), ADA, target).send().await);
        }
    }

    with(|b| b.mode_production().link_reset())
    async fn empty_list_allows_nothing(app) {
        for target in ["https://app.example/", "http://localhost:3000/", "https://accounts.example.org/"] {
            off_list(&send_reset_to(&app.anon(), ADA, target).send().await);
        }
    }

    with(|b| b.link_reset())
    async fn empty_list_of_development_allows_localhost_as_sent(app) {
        app.user("ada").await;
        for target in ["http://localhost:3000/x", "https://LOCALHOST/", "http://127.0.0.1:5173/"] {
            leads_to(&app, target).await;
        }

        for target in [
            "http://localhost.evil.example/",
            "http://127.1/",
            "http://2130706433/",
            "http://[::1]/",
            "http://%6cocalhost/",
            "http://127.0.0.2/",
            "https://app.example/",
            "myapp://localhost",
        ] {
            off_list(&send_reset_to(&app.anon(), ADA, target).send().await);
        }
    }

    with(|b| b.link_reset().redirects(&["https://app.example/done"]))
    async fn localhost_is_off_a_list_that_is_not_empty(app) {
        off_list(&send_reset_to(&app.anon(), ADA, "http://localhost:3000/").send().await);
    }

    with(|b| b.link_reset().redirects(&["https://app.example/**"]))
    async fn target_of_another_type_or_too_long_is_refused(app) {
        for target in [json!(1), json!(["https://app.example/"]), json!({}), json!(true)] {
            let body = json!({"email": ADA, "redirectTo": target});
            let answer = app.anon().post("/api/auth/email/send-reset-password", body).send().await;
            assert!(
                answer.refused(400, "VALIDATION_ERROR")["message"].as_str().unwrap().contains("redirectTo")
            );
        }

        let long = format!("https://app.example/{}", "x".repeat(2048));

        off_list(&send_reset_to(&app.anon(), ADA, &long).send().await);
    }
}
