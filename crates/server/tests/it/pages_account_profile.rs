//! `/auth/account/profile`: the own profile on the pages.

use latchkey_testkit::{PASSWORD, both_stores, hours, json};

use crate::pages_account::signed_in;

const PATH: &str = "/auth/account/profile";
const COUNTESS: [(&str, &str); 4] = [
    ("name", "Ada Lovelace"),
    ("username", "Countess"),
    ("bio", "First line.\r\nSecond line."),
    ("avatar_url", "https://example.org/ada.png"),
];

/// The fields with another value in one of them.
fn with<'a>(name: &str, value: &'a str) -> Vec<(&'a str, &'a str)> {
    let one =
        |&(known, text): &(&'static str, &'static str)| (known, if known == name { value } else { text });
    COUNTESS.iter().map(one).collect()
}

both_stores! {
    with(|b| b.pages())
    async fn form_changes_the_profile_and_shows_it_again(app) {
        let ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = browser.get(PATH).await;

        let done = browser.submit(&page, PATH, &COUNTESS).await;

        let text = browser.follow(&done).await;
        let text = text.hosted(200);
        assert!(text.contains("Saved.") && text.contains("value=\"countess\""), "{text}");
        assert!(text.contains("data-most=\"1000\"") && text.contains("At most 1,000 characters."), "{text}");
        assert!(!text.contains("<img"), "{text}");
        let profile = ada.get("/api/profiles/me").send().await.expect(200);
        assert_eq!(profile["bio"], "First line.\nSecond line.");
        assert_eq!(profile["avatar_url"], "https://example.org/ada.png");
        assert!(browser.get("/auth/account").await.hosted(200).contains("@countess"));
    }

    with(|b| b.pages())
    async fn empty_fields_are_removed_and_other_data_stays(app) {
        let ada = app.user("ada").await;
        let change = json!({"metadata": {"plan": "free"}, "bio": "old", "username": "ada"});
        ada.patch("/api/profiles/me", change).send().await.expect(200);
        let browser = signed_in(&app).await;
        let page = browser.get(PATH).await;

        let empty = [("name", ""), ("username", " "), ("bio", ""), ("avatar_url", "")];
        assert_eq!(browser.submit(&page, PATH, &empty).await.status, 303);

        let profile = ada.get("/api/profiles/me").send().await.expect(200);
        assert_eq!((&profile["name"], &profile["bio"]), (&json!(""), &json!(null)));
        assert_eq!((profile.get("username"), &profile["metadata"]["plan"]), (None, &json!("free")));
    }

    with(|b| b.pages())
    async fn refusals_stand_at_their_fields_with_what_was_typed(app) {
        let (_ada, bob) = (app.user("ada").await, app.user("bob").await);
        bob.patch("/api/profiles/me", json!({"username": "countess"})).send().await.expect(200);
        let browser = signed_in(&app).await;
        let page = browser.get(PATH).await;
        let long = "x".repeat(1_001);

        for (field, value, status, told) in [
            ("username", "Countess", 409, "This username is taken."),
            ("username", "admin", 400, "This username cannot be used."),
            ("username", "a b", 400, "Use 3 to 32 letters"),
            ("bio", long.as_str(), 400, "Use at most 1,000 characters."),
            ("avatar_url", "javascript:alert(1)", 400, "Enter a whole address"),
        ] {
            let refused = browser.submit(&page, PATH, &with(field, value)).await;
            let text = refused.hosted(status);
            assert!(text.contains(&format!("id=\"{field}-fault\">{told}")), "{field}: {text}");
            assert!(text.contains(value), "{field}: {text}");
        }
    }

    with(|b| b.pages())
    async fn change_made_elsewhere_is_shown_beside_the_typed_one(app) {
        let ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = browser.get(PATH).await;
        ada.patch("/api/profiles/me", json!({"bio": "from the app"})).send().await.expect(200);

        let refused = browser.submit(&page, PATH, &COUNTESS).await;

        let text = refused.hosted(412);
        assert!(text.contains("from the app") && text.contains("Second line."), "{text}");
        assert_eq!(ada.get("/api/profiles/me").send().await.expect(200)["bio"], "from the app");
        let saved = browser.submit(&refused, PATH, &COUNTESS).await;
        assert_eq!(saved.status, 303, "{saved:?}");
        assert_eq!(ada.get("/api/profiles/me").send().await.expect(200)["name"], "Ada Lovelace");
    }

    with(|b| b.pages())
    async fn form_that_comes_after_its_session_is_kept_over_the_sign_in(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let browser = signed_in(&app).await;
        let page = browser.get(PATH).await;
        app.clock.advance(hours(12));

        let late = browser.submit(&page, PATH, &COUNTESS).await;

        assert!(late.header("location").unwrap().starts_with("/auth/sign-in?flow="), "{late:?}");
        let sign_in = browser.follow(&late).await;
        let of_ada = [("email", ada.email.as_str()), ("password", PASSWORD)];
        let form = browser.follow(&browser.submit(&sign_in, "/auth/sign-in", &of_ada).await).await;
        let text = form.hosted(200);
        assert!(text.contains("Press the button once more") && text.contains("Second line."), "{text}");
        let profile = app.anon().get(&format!("/api/profiles/{}", ada.id));
        assert_eq!(profile.send().await.expect(200)["bio"], json!(null));
        browser.submit(&form, PATH, &COUNTESS).await;
        let profile = app.anon().get(&format!("/api/profiles/{}", ada.id));
        assert_eq!(profile.send().await.expect(200)["bio"], "First line.\nSecond line.");
        let of_bob = [("email", bob.email.as_str()), ("password", PASSWORD)];
        let form = browser.follow(&browser.submit(&sign_in, "/auth/sign-in", &of_bob).await).await;
        assert!(!form.hosted(200).contains("Second line."), "what was typed is its owner's: {form:?}");
    }

    with(|b| b.pages())
    async fn form_that_is_too_long_for_an_address_leads_over_the_sign_in_without_it(app) {
        let ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = browser.get(PATH).await;
        app.clock.advance(hours(12));
        let long = "x".repeat(6 * 1024);

        let late = browser.submit(&page, PATH, &[("name", "Ada"), ("bio", long.as_str())]).await;

        let sign_in = browser.follow(&late).await;
        sign_in.hosted(200);
        let of_ada = [("email", ada.email.as_str()), ("password", PASSWORD)];
        let form = browser.follow(&browser.submit(&sign_in, "/auth/sign-in", &of_ada).await).await;
        assert!(form.hosted(200).contains("What you typed was too long to be kept"), "{form:?}");
    }

    with(|b| b.pages())
    async fn longest_text_about_oneself_is_kept_over_the_sign_in(app) {
        let ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = browser.get(PATH).await;
        app.clock.advance(hours(12));
        let bio = "\u{1f989}".repeat(1_000);

        let late = browser.submit(&page, PATH, &with("bio", &bio)).await;

        let sign_in = browser.follow(&late).await;
        let of_ada = [("email", ada.email.as_str()), ("password", PASSWORD)];
        let form = browser.follow(&browser.submit(&sign_in, "/auth/sign-in", &of_ada).await).await;
        assert!(form.hosted(200).contains(&bio) && form.text().contains("Press the button once more"), "{form:?}");
        assert_eq!(browser.submit(&form, PATH, &with("bio", &bio)).await.status, 303);
    }

    with(|b| b.pages())
    async fn form_of_an_ended_session_with_a_forged_owner_does_nothing(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = browser.get(PATH).await;
        let (_, rest) = page.text().split_once("name=\"form_token\" value=\"").unwrap();
        let (token, _) = rest.split('"').next().unwrap().rsplit_once('.').unwrap();
        let forged = format!("{token}.00000000-0000-0000-0000-000000000000");
        app.clock.advance(hours(12));

        for token in [forged.as_str(), token] {
            browser.submit(&page, PATH, &[("name", "Eve"), ("form_token", token)]).await.hosted(403);
        }
        app.browser().submit(&page, PATH, &COUNTESS).await.hosted(403);
    }

    with(|b| b.pages().no_profile_on_sign_up())
    async fn account_without_a_profile_makes_one_and_only_one(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = browser.get(PATH).await;

        assert_eq!(browser.submit(&page, PATH, &COUNTESS).await.status, 303);

        let late = browser.submit(&page, PATH, &with("name", "Another")).await;
        assert!(late.hosted(412).contains("Ada Lovelace"), "{late:?}");
    }
}
