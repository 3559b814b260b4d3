//! A form of the console that comes after the end of its session: it is kept over the new sign-in, for the same operator.

use latchkey_domain::operator::Role;
use latchkey_testkit::{
    Answer, Browser, PASSWORD, TestApp, TwoStepUser, User, both_stores, json, minutes, seconds,
};

use crate::console_calls::operator;
use crate::console_entry::console;
use crate::console_user_calls::{audited, desk_of, path_of};

const SIGN_IN: &str = "/console/sign-in";
const CONFIRM: &str = "/console/confirm";
const METADATA: &str = "{\"plan\": \"pro\"}";

async fn metadata(app: &TestApp, user: &User) -> latchkey_testkit::Value {
    app.admin().get(&format!("/api/auth/users/{}", user.id)).send().await.expect(200)["metadata"].clone()
}

/// Signs in on the page that keeps a form; returns what the form is answered with.
async fn sign_in_on(browser: &Browser, kept: &Answer, operator: &TwoStepUser) -> Answer {
    assert!(kept.hosted(401).contains("What you entered is kept"), "{kept:?}");
    let fields = [("email", operator.email.as_str()), ("password", PASSWORD)];
    let asked = browser.submit(kept, SIGN_IN, &fields).await;
    assert!(asked.hosted(200).contains("name=\"kept\""), "{asked:?}");
    browser.submit(&asked, CONFIRM, &[("code", &operator.authenticator.code())]).await
}

both_stores! {
    with(console)
    async fn late_form_is_sent_after_the_sign_in_of_the_same_operator(app) {
        let admin = operator(&app, "admin", Role::Admin).await;
        let (desk, ada) = (desk_of(&app, &admin).await, app.user("ada").await);
        let page = desk.page(&ada).await;
        app.clock.advance(minutes(31));

        let kept = desk.browser.submit(&page, "act=save-metadata", &[("metadata", METADATA)]).await;
        assert_eq!(metadata(&app, &ada).await, json!({}));
        let wrong = desk.browser.submit(&kept, SIGN_IN, &[("email", &admin.email), ("password", "wrong one")]).await;
        assert!(wrong.hosted(401).contains("name=\"kept\""), "{wrong:?}");
        let done = sign_in_on(&desk.browser, &kept, &admin).await;

        let page = desk.browser.follow(&done).await;
        assert!(page.hosted(200).contains("The metadata are saved."), "{page:?}");
        assert_eq!(metadata(&app, &ada).await, json!({"plan": "pro"}));
        audited(&app, "user_updated", &desk, &ada).await;
    }

    with(console)
    async fn late_form_of_any_size_is_kept(app) {
        let admin = operator(&app, "admin", Role::Admin).await;
        let (desk, ada) = (desk_of(&app, &admin).await, app.user("ada").await);
        let large = json!({"text": "x".repeat(15 * 1024)});
        let page = desk.page(&ada).await;
        app.clock.advance(minutes(31));

        let fields = [("metadata", large.to_string())];
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let kept = desk.browser.submit(&page, "act=save-metadata", &fields).await;
        sign_in_on(&desk.browser, &kept, &admin).await;

        assert_eq!(metadata(&app, &ada).await, large);
    }

    with(console)
    async fn late_form_of_somebody_else_is_not_sent(app) {
        let admin = operator(&app, "admin", Role::Admin).await;
        let other = operator(&app, "other", Role::Owner).await;
        let (desk, ada) = (desk_of(&app, &admin).await, app.user("ada").await);
        let page = desk.page(&ada).await;
        app.clock.advance(minutes(31));

        let kept = desk.browser.submit(&page, "act=save-metadata", &[("metadata", METADATA)]).await;
        let done = sign_in_on(&desk.browser, &kept, &other).await;

        assert_eq!(done.header("location"), Some(path_of(&ada).as_str()), "{done:?}");
        assert_eq!(metadata(&app, &ada).await, json!({}));
    }

    with(console)
    async fn late_form_needs_our_own_page(app) {
        let admin = operator(&app, "admin", Role::Admin).await;
        let (desk, ada) = (desk_of(&app, &admin).await, app.user("ada").await);
        let page = desk.page(&ada).await;
        app.clock.advance(minutes(31));
        let form = || desk.browser.form(&page, "act=save-metadata", &[("metadata", METADATA)]);

        for (how, request) in [
            ("foreign", form().header("origin", "https://evil.example")),
            ("null", form().header("origin", "null")),
            ("cross-site", form().without_header("origin").header("sec-fetch-site", "cross-site")),
        ] {
            let answer = desk.browser.send(request).await;
            assert!(answer.hosted(403).contains("Load the page again"), "{how}: {answer:?}");
        }
        let forged = [("metadata", METADATA), ("form_token", "wrong.scope.token")];
        let answer = desk.browser.submit(&page, "act=save-metadata", &forged).await;
        assert_eq!(answer.status, 303, "{answer:?}");
    }

    with(console)
    async fn password_of_a_late_form_is_typed_again(app) {
        let admin = operator(&app, "admin", Role::Admin).await;
        let desk = desk_of(&app, &admin).await;
        let page = desk.browser.get("/console/users/new").await;
        app.clock.advance(minutes(31));
        let fields = [("email", "new@example.net"), ("name", "New One"), ("new_password", "a wholly new lantern")];

        let kept = desk.browser.submit(&page, "/console/users/new", &fields).await;
        let asked = sign_in_on(&desk.browser, &kept, &admin).await;

        let text = asked.hosted(400);
        assert!(text.contains("value=\"new@example.net\"") && text.contains("new_password-fault"), "{text}");
        let done = desk.browser.submit(&asked, "/console/users/new", &fields).await;
        assert_eq!(done.status, 303, "{done:?}");
        app.clock.advance(seconds(1));
    }
    with(console)
    async fn late_form_that_a_file_answers_leads_to_the_page_that_shows_it(app) {
        let owner = operator(&app, "owner", Role::Owner).await;
        let desk = desk_of(&app, &owner).await;
        let list = desk.browser.get("/console/users?q=owner").await;
        let export = desk.browser.get("/console/export").await;
        app.clock.advance(minutes(31));

        for (page, form, next) in [
            (&list, "/console/users/csv", "%2Fconsole%2Fusers%3Fq%3Downer"),
            (&export, "/console/export", "%2Fconsole%2Fexport"),
        ] {
            let late = desk.browser.submit(page, form, &[]).await;

            let address = format!("{SIGN_IN}?next={next}");
            assert_eq!((late.status, late.header("location")), (303, Some(address.as_str())), "{late:?}");
        }
    }

    with(console)
    async fn late_form_that_is_too_large_is_lost_and_the_sign_in_says_so(app) {
        let admin = operator(&app, "admin", Role::Admin).await;
        let (desk, ada) = (desk_of(&app, &admin).await, app.user("ada").await);
        let large = "x".repeat(40 * 1024);
        let page = desk.page(&ada).await;
        app.clock.advance(minutes(31));

        let late = desk.browser.submit(&page, "act=save-metadata", &[("metadata", large.as_str())]).await;

        assert!(late.hosted(401).contains("what you entered could not be kept"), "{late:?}");
        assert!(late.text().contains("/console/sign-in?next="), "{late:?}");
    }

    with(console)
    async fn sign_in_goes_on_without_a_late_form_that_expired(app) {
        let admin = operator(&app, "admin", Role::Admin).await;
        let (desk, ada) = (desk_of(&app, &admin).await, app.user("ada").await);
        let page = desk.page(&ada).await;
        app.clock.advance(minutes(31));
        let kept = desk.browser.submit(&page, "act=save-metadata", &[("metadata", METADATA)]).await;
        app.clock.advance(minutes(29));
        let fields = [("email", admin.email.as_str()), ("password", PASSWORD)];
        let asked = desk.browser.submit(&kept, SIGN_IN, &fields).await;
        assert!(asked.hosted(200).contains("name=\"kept\""), "{asked:?}");
        app.clock.advance(minutes(2));

        let done = desk.browser.submit(&asked, CONFIRM, &[("code", &admin.authenticator.code())]).await;

        assert_eq!(done.header("location"), Some(path_of(&ada).as_str()), "{done:?}");
        assert_eq!(metadata(&app, &ada).await, json!({}));
    }
}
