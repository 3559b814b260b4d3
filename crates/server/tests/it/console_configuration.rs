//! `/console/settings`, `/console/providers` and `/console/system`.

use latchkey_domain::operator::Role;
use latchkey_service::backups::NewestBackup;
use latchkey_testkit::browser::link;
use latchkey_testkit::{Browser, TestApp, both_stores, json, minutes};

use crate::audit::last;
use crate::console_calls::{ConsoleBrowser, operator};
use crate::oauth_calls::acme;

const SETTINGS: &str = "/console/settings";
const PROVIDERS: &str = "/console/providers";
const CHANGE: &str = "/console/settings/change";

/// A browser in which an operator of this role is signed in at the console.
async fn signed_in(app: &TestApp, role: Role) -> Browser {
    let ada = operator(app, "ada", role).await;
    let mut browser = ConsoleBrowser::new(app);
    browser.sign_in(&ada).await;
    let token = browser.token.as_ref().expect("a console session").expose().clone();
    let cookies = app.browser().with_cookie("latchkey_browser_8700", browser.secret.expose());
    cookies.with_cookie("latchkey_console_8700", token)
}

fn least_length(app: &TestApp) -> usize {
    app.service().settings().values.password_min_length
}

both_stores! {
    with(|b| b.console().verification_by_code().pinned("auth.disable_sign_up"))
    async fn settings_are_shown_with_default_and_source(app) {
        let browser = signed_in(&app, Role::Owner).await;

        let page = browser.get(SETTINGS).await;

        let text = page.hosted(200);
        for key in ["auth.allowed_redirect_urls", "passwords.min_length", "mail.default_locale"] {
            assert!(text.contains(&format!("name=\"key\" value=\"{key}\"")), "{key}: {text}");
        }
        assert!(text.contains("Pinned by the file <bdi>/etc/latchkey.toml</bdi>."), "{text}");
        assert!(!text.contains("name=\"key\" value=\"auth.disable_sign_up\""), "{text}");
        assert!(text.contains("The minimum length of a new password in characters"), "{text}");
    }

    with(|b| b.console().verification_by_code())
    async fn change_shows_the_difference_and_the_form_makes_it(app) {
        let browser = signed_in(&app, Role::Owner).await;

        let page = browser.get(&format!("{CHANGE}?key=passwords.min_length&value=12")).await;
        assert!(page.hosted(200).contains("+ 12") && page.text().contains("− 8"), "{page:?}");
        assert_eq!(least_length(&app), 8);
        let saved = browser.follow(&browser.submit(&page, CHANGE, &[]).await).await;

        assert_eq!(least_length(&app), 12);
        assert!(saved.hosted(200).contains("Set here or by the API."), "{saved:?}");
        let event = last(&app, "settings_changed").await;
        assert_eq!(event["details"]["settings"], json!(["passwords.min_length"]));
        assert_eq!(event["details"]["before"], json!({"passwords.min_length": 8}));
        assert_eq!(event["details"]["after"], json!({"passwords.min_length": 12}));
        assert!(browser.get("/console/audit").await.hosted(200).contains("passwords.min_length 12"));
        let same = browser.get(&format!("{CHANGE}?key=passwords.min_length&value=12")).await;
        assert!(same.hosted(200).contains("This value is in force already."), "{same:?}");
    }

    with(|b| b.console().verification_by_code())
    async fn default_is_set_again_after_the_question(app) {
        let browser = signed_in(&app, Role::Owner).await;
        let put = async |least: usize| {
            app.admin().put("/api/auth/config", json!({"passwordMinLength": least})).send().await.expect(200);
        };
        put(12).await;
        let page = browser.get(SETTINGS).await;
        assert!(page.hosted(200).contains("Set here or by the API."), "{page:?}");

        let asked = browser.get(&link(&page, "key=passwords.min_length").expect("a link")).await;
        assert!(asked.hosted(200).contains("+ 8") && asked.text().contains("− 12"), "{asked:?}");
        assert_eq!(least_length(&app), 12);
        put(10).await;
        let again = browser.submit(&asked, CHANGE, &[]).await;
        assert!(again.hosted(409).contains("− 10"), "{again:?}");
        assert_eq!(least_length(&app), 10);
        let done = browser.follow(&browser.submit(&again, CHANGE, &[]).await).await;

        assert!(done.hosted(200).contains("The setting has its default again."), "{done:?}");
        assert!(!done.text().contains("Set here or by the API."), "{done:?}");
        assert_eq!(least_length(&app), 8);
        let details = last(&app, "settings_changed").await["details"].clone();
        assert_eq!(details["before"], json!({"passwords.min_length": 10}));
        assert_eq!(details["after"], json!({"passwords.min_length": 8}), "the default is in force again");
        let none = browser.get(&format!("{CHANGE}?key=passwords.min_length&default=1")).await;
        assert!(none.hosted(200).contains("This value is in force already."), "{none:?}");
    }

    with(|b| b.console().verification_by_code())
    async fn default_that_was_stored_as_a_value_is_set_again(app) {
        let browser = signed_in(&app, Role::Owner).await;
        app.admin().put("/api/auth/config", json!({"passwordMinLength": 9})).send().await.expect(200);
        app.admin().put("/api/auth/config", json!({"passwordMinLength": 8})).send().await.expect(200);

        let asked = browser.get(&format!("{CHANGE}?key=passwords.min_length&default=1")).await;
        let done = browser.follow(&browser.submit(&asked, CHANGE, &[]).await).await;

        assert!(!done.hosted(200).contains("Set here or by the API."), "{done:?}");
    }

    with(|b| b.console().verification_by_code().pinned("auth.disable_sign_up"))
    async fn value_that_does_not_fit_changes_nothing_and_states_the_rule(app) {
        let browser = signed_in(&app, Role::Owner).await;
        let of = |query: &str| format!("{CHANGE}?key={query}");

        let short = browser.get(&of("passwords.min_length&value=7")).await;
        assert!(short.hosted(400).contains("must be a whole number from 8 to 128"), "{short:?}");
        let wide = browser.get(&of("auth.allowed_redirect_urls&value=https://*.com/")).await;
        assert!(wide.hosted(400).contains("too wide"), "{wide:?}");
        let locale = browser.get(&of("mail.default_locale&value=xx")).await;
        assert!(locale.hosted(400).contains("must be one of"), "{locale:?}");
        browser.get(&of("auth.disable_sign_up&value=true")).await.hosted(409);
        browser.get(&of("server.secret&value=x")).await.hosted(404);

        let good = browser.get(&of("passwords.min_length&value=9")).await;
        browser.submit(&good, CHANGE, &[("value", "nine")]).await.hosted(400);
        browser.submit(&good, CHANGE, &[("key", "auth.disable_sign_up"), ("value", "true")]).await.hosted(409);
        browser.submit(&good, CHANGE, &[("form_token", "nonsense")]).await.hosted(403);
        assert_eq!((least_length(&app), app.service().settings().values.disable_sign_up), (8, false));
    }

    with(|b| b.console().verification_by_code())
    async fn list_of_redirect_targets_is_changed_line_by_line_and_tested(app) {
        let browser = signed_in(&app, Role::Owner).await;
        let lines = "https://app.example.org/**%0D%0A%0D%0Ahttps://other.example.org/done";
        let page = browser.get(&format!("{CHANGE}?key=auth.allowed_redirect_urls&value={lines}")).await;
        browser.follow(&browser.submit(&page, CHANGE, &[]).await).await.hosted(200);

        let test = async |target: &str| browser.get(&format!("{SETTINGS}?redirect={target}")).await;
        let allowed = test("https://app.example.org/welcome").await;
        assert!(allowed.hosted(200).contains("Allowed by the entry <bdi>https://app.example.org/**"), "{allowed:?}");
        let refused = test("https://evil.example/").await;
        assert!(refused.hosted(200).contains("Refused: "), "{refused:?}");
        let stored = &app.service().settings().values.allowed_redirect_urls;
        assert_eq!(*stored, ["https://app.example.org/**", "https://other.example.org/done"]);
    }

    with(|b| b.console().verification_by_code())
    async fn only_owners_see_and_change_settings_and_providers(app) {
        let _acme = acme(&app).await;
        let browser = signed_in(&app, Role::Admin).await;

        for path in [SETTINGS, "/console/settings/change?key=passwords.min_length", PROVIDERS] {
            browser.get(path).await.hosted(403);
        }

        assert_eq!(last(&app, "operator_refused").await["details"]["act"], "manage_providers");
        assert!(browser.get("/console/system").await.hosted(200).contains("Database"));
    }

    with(|b| b.console().verification_by_code())
    async fn change_needs_a_recent_factor(app) {
        let browser = signed_in(&app, Role::Owner).await;
        app.clock.advance(minutes(11));
        let page = browser.get(&format!("{CHANGE}?key=passwords.min_length&value=12")).await;

        let asked = browser.submit(&page, CHANGE, &[]).await;

        assert!(asked.status == 403 || asked.status == 303, "{asked:?}");
        assert_eq!(least_length(&app), 8);
    }

    with(|b| b.console().verification_by_code())
    async fn theme_is_tried_without_a_change(app) {
        let browser = signed_in(&app, Role::Owner).await;

        let plain = browser.get("/console/settings/theme").await;
        assert!(plain.hosted(200).contains("accent = &quot;#2f5bd0&quot;"), "{plain:?}");
        let pale = browser.get("/console/settings/theme?accent=%23ffe14d&radius=0").await;
        assert!(pale.hosted(200).contains("#ffe14d") && pale.text().contains("radius = &quot;0px&quot;"), "{pale:?}");
        assert!(pale.text().contains("is hard to read as text"), "{pale:?}");
        browser.get("/console/settings/theme?accent=red;").await.hosted(400);
        browser.get("/console/settings/theme?radius=25").await.hosted(400);
    }

    with(|b| b.console().verification_by_code())
    async fn provider_is_shown_with_its_redirect_uri_and_tried(app) {
        let mut acme = acme(&app).await;
        let browser = signed_in(&app, Role::Owner).await;
        let page = browser.get(PROVIDERS).await;
        let text = page.hosted(200);
        assert!(text.contains("/api/auth/oauth/custom/acme/callback"), "{text}");
        assert!(text.contains("GitHub") && text.contains("Set here or by the API."), "{text}");

        let good = browser.follow(&browser.submit(&page, "test=acme", &[]).await).await;
        assert!(good.hosted(200).contains("Discovery works, and "), "{good:?}");
        let event = last(&app, "provider_tested").await;
        assert_eq!(event["actor"], "operator");
        assert_eq!(event["details"], json!({"provider": "acme", "outcome": "succeeded"}));
        acme.goes_down().await;
        let down = browser.follow(&browser.submit(&page, "test=acme", &[]).await).await;
        assert!(down.hosted(200).contains("It does not work: "), "{down:?}");
        assert_eq!(last(&app, "provider_tested").await["details"]["outcome"], "failed");
    }

    with(|b| b.console().verification_by_code())
    async fn system_shows_what_is_known(app) {
        let browser = signed_in(&app, Role::Viewer).await;

        let page = browser.get("/console/system").await;

        let text = page.hosted(200);
        assert!(text.contains("SQLite") || text.contains("PostgreSQL"), "{text}");
        for known in ["places taken", "The database is read and written."] {
            assert!(text.contains(known), "{known} in {text}");
        }
        assert!(!text.contains("<dt>Last backup</dt><dd><time"), "{text}");
        let (created_at, bytes) = (app.service().now(), 812);
        app.service().backups.remember(Some(NewestBackup { created_at, bytes }));
        let text = browser.get("/console/system").await.hosted(200).to_owned();
        assert!(text.contains("<dt>Last backup</dt><dd><time"), "{text}");
    }
}
