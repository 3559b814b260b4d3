//! signInWithPassword: POST /api/auth/sessions.

use latchkey_testkit::{EmailMethod, PASSWORD, both_stores};

both_stores! {
    async fn right_password_opens_a_session(app) {
        let ada = app.user("ada").await;

        let signed_in = app.anon().sign_in("Ada@Example.org", PASSWORD).send().await.expect(200);

        assert_eq!(signed_in["user"]["id"], ada.id);
        assert!(signed_in["accessToken"].is_string() && signed_in["csrfToken"].is_string());
        assert_eq!(signed_in.get("requireEmailVerification"), None);
    }

    async fn wrong_password_and_unknown_address_are_one_refusal(app) {
        app.user("ada").await;

        let wrong = app.anon().sign_in("ada@example.org", "another lantern 42").send().await;
        let unknown = app.anon().sign_in("bob@example.org", PASSWORD).send().await;

        wrong.refused(401, "INVALID_CREDENTIALS");
        assert_eq!(wrong.text(), unknown.text());
    }

    with(|b| b.verification(EmailMethod::Code))
    async fn right_password_of_an_unverified_account_is_told_to_verify(app) {
        app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);

        let answer = app.anon().sign_in("ada@example.org", PASSWORD).send().await;

        answer.refused(403, "EMAIL_NOT_VERIFIED");
    }

    with(|b| b.limits())
    async fn eleventh_wrong_password_from_an_address_has_to_wait(app) {
        app.user("ada").await;
        let guess = || app.anon().sign_in("ada@example.org", "another lantern 42").from_ip("203.0.113.9");
        for _ in 0..10 {
            guess().send().await.refused(401, "INVALID_CREDENTIALS");
        }

        let answer = guess().send().await;

        answer.refused(429, "TOO_MANY_REQUESTS");
        assert!(answer.number("retry-after") > 0);
    }
}
