//! Tests of the policy of new passwords: each rule by name, the definition of a character, and Unicode normalisation as
//! the only change to a password.

use latchkey_testkit::{Answer, PASSWORD, Request, TestApp, both_stores, json};

both_stores! {
    async fn password_has_eight_characters_at_least_and_characters_are_not_bytes(app) {
        let short = sign_up(&app, "zw\u{f6}lf-7").send().await;
        let long_enough = sign_up(&app, "zw\u{f6}lf-78").send().await;

        assert_weak(&short, "8 characters");
        long_enough.expect(200);
    }

    async fn password_has_128_characters_at_most(app) {
        let longest = "\u{1f511}".repeat(127) + "x";

        let longer = sign_up(&app, &format!("{longest}x")).send().await;
        let huge = sign_up(&app, &"qz7 ".repeat(5000)).send().await;
        let good = sign_up(&app, &longest).send().await;

        assert_weak(&longer, "128 characters");
        assert_weak(&huge, "128 characters");
        good.expect(200);
        app.anon().sign_in("zeus@example.org", &longest).send().await.expect(200);
        app.anon().sign_in("zeus@example.org", &longest[..127 * 4]).send().await.refused(401, "INVALID_CREDENTIALS");
    }

    async fn length_is_counted_after_normalisation(app) {
        let composed = format!("violet anchor{}", "\u{e9}".repeat(115));
        let decomposed = composed.replace('\u{e9}', "e\u{301}");

        let answer = sign_up(&app, &decomposed).send().await;

        answer.expect(200);
        app.anon().sign_in("zeus@example.org", &composed).send().await.expect(200);
    }

    async fn both_spellings_of_a_letter_are_one_password(app) {
        sign_up(&app, "cafe\u{301} au lait").send().await.expect(200);

        let composed = app.anon().sign_in("zeus@example.org", "caf\u{e9} au lait").send().await;
        let decomposed = app.anon().sign_in("zeus@example.org", "cafe\u{301} au lait").send().await;
        let plain = app.anon().sign_in("zeus@example.org", "cafe au lait").send().await;

        composed.expect(200);
        decomposed.expect(200);
        plain.refused(401, "INVALID_CREDENTIALS");
    }

    async fn letters_that_only_look_alike_are_not_one_password(app) {
        sign_up(&app, "\u{ff21}nchor of violet").send().await.expect(200);

        let answer = app.anon().sign_in("zeus@example.org", "Anchor of violet").send().await;

        answer.refused(401, "INVALID_CREDENTIALS");
    }

    async fn spaces_and_case_are_kept(app) {
        sign_up(&app, "  Violet anchor  ").send().await.expect(200);

        for other in ["Violet anchor", " Violet anchor ", "  violet anchor  ", "  Violet anchor"] {
            let answer = app.anon().sign_in("zeus@example.org", other).send().await;

            answer.refused(401, "INVALID_CREDENTIALS");
        }
        app.anon().sign_in("zeus@example.org", "  Violet anchor  ").send().await.expect(200);
    }

    async fn nul_is_refused(app) {
        let answer = sign_up(&app, "violet\u{0}anchor").send().await;

        answer.refused(400, "VALIDATION_ERROR");
    }

    async fn common_password_is_refused(app) {
        for password in ["password", "PassWord", "12345678", "qwertyuiop", "iloveyou", "\u{1f511}".repeat(8).as_str()] {
            let answer = sign_up(&app, password).send().await;

            assert_weak(&answer, "common");
        }
    }

    async fn password_must_not_contain_the_name_part_of_the_address(app) {
        let sign_up = |email: &str, password: &str| app.anon().sign_up(email, password);

        let telling = sign_up("heracles@example.org", "my-HeraCles-9").send().await;
        let too_short_to_tell = sign_up("zeus@example.org", "my-zeus-on-high-9").send().await;

        assert_weak(&telling, "email");
        too_short_to_tell.expect(200);
    }

    async fn password_must_not_contain_the_name_of_the_service(app) {
        let answer = sign_up(&app, "my-LATCHkey-pass").send().await;

        assert_weak(&answer, "name of this service");
    }

    with(|b| b.config(|config| "Keys".clone_into(&mut config.site.service_name)))
    async fn short_name_of_a_service_may_be_contained(app) {
        let answer = sign_up(&app, "my-keys-are-lost").send().await;

        answer.expect(200);
    }

    async fn each_class_of_characters_can_be_demanded(app) {
        for (setting, without, with) in [
            ("requireNumber", "Violet-Anchor", "Violet-Anchor-7"),
            ("requireLowercase", "VIOLET-ANCHOR", "VIOLET-ANCHOr"),
            ("requireUppercase", "violet-anchor", "Violet-anchor"),
            ("requireSpecialChar", "VioletAnchor7", "Violet-Anchor7"),
        ] {
            app.admin().put("/api/auth/config", json!({setting: true})).send().await.expect(200);
            let email = app.unique_email("ada");

            let refused = app.anon().sign_up(&email, without).send().await;
            let taken = app.anon().sign_up(&email, with).send().await;

            let words = [("Number", "number"), ("Lower", "lower"), ("Upper", "upper"), ("Special", "special")];
            let word = words.iter().find(|(name, _)| setting.contains(name)).unwrap().1;
            assert_weak(&refused, word);
            taken.expect(200);
            app.admin().put("/api/auth/config", json!({setting: false})).send().await.expect(200);
        }
    }

    async fn classes_of_characters_are_not_demanded_by_default(app) {
        let pictures = "\u{1f511}\u{1f525}\u{2693}\u{1f319}\u{1f340}\u{1f9ed}\u{1f3ee}\u{1f41f}";
        for password in ["violet anchor", "7391 5502 1846", "VIOLETANCHOR", pictures] {
            let answer = app.anon().sign_up(&app.unique_email("ada"), password).send().await;

            answer.expect(200);
        }
    }

    with(|b| b.settings(|settings| settings.password_min_length = 15))
    async fn least_length_is_a_setting(app) {
        let short = sign_up(&app, "violet anchor4").send().await;
        let good = sign_up(&app, "violet anchor42").send().await;

        assert_weak(&short, "15 characters");
        good.expect(200);
    }

    async fn weak_password_does_not_sign_up(app) {
        sign_up(&app, "password").send().await.refused(400, "WEAK_PASSWORD");

        let answer = sign_up(&app, PASSWORD).send().await;

        answer.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn weak_password_is_refused_for_a_taken_address_alike(app) {
        app.user("zeus").await;

        let taken = sign_up(&app, "password").send().await;
        let free = app.anon().sign_up("hera@example.org", "password").send().await;

        taken.refused(400, "WEAK_PASSWORD");
        assert_eq!(taken.text_without_id(), free.text_without_id());
    }
}

fn sign_up(app: &TestApp, password: &str) -> Request {
    app.anon().sign_up("zeus@example.org", password)
}

/// Asserts a refusal whose message names the rule.
#[track_caller]
fn assert_weak(answer: &Answer, rule: &str) {
    let message = answer.refused(400, "WEAK_PASSWORD")["message"].to_string();
    assert!(message.contains(rule), "{message}");
}
