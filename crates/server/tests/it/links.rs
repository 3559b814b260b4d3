//! Links opened in a browser: verify-link and reset-password-link, their redirects and their pages.

use latchkey_testkit::answer::parameter;
use latchkey_testkit::{PASSWORD, both_stores, json};

both_stores! {
    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn verify_link_verifies_and_goes_to_the_redirect_target(app) {
        let target = "https://app.example/welcome?tab=1#top";
        let body = json!({"email": "ada@example.org", "password": PASSWORD, "redirectTo": target});
        app.anon().post("/api/auth/users", body).send().await.expect(200);
        let link = app.mail_to("ada@example.org").await.link();

        let landed = app.anon().get(&link).send().await.redirected();

        assert_eq!(landed.as_str().split('?').next(), Some("https://app.example/welcome"));
        assert_eq!(parameter(&landed, "service_status").as_deref(), Some("success"));
        assert_eq!(parameter(&landed, "service_type").as_deref(), Some("verify_email"));
        assert_eq!((parameter(&landed, "tab").as_deref(), landed.fragment()), (Some("1"), Some("top")));
        app.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200);
    }

    async fn verify_link_with_an_unknown_token_shows_a_page(app) {
        let path = format!("/api/auth/email/verify-link?token={}", "0".repeat(64));

        let answer = app.anon().get(&path).send().await;

        answer.page(400);
    }

    with(|b| b.link_reset())
    async fn reset_link_hands_out_a_token_that_sets_a_password(app) {
        let ada = app.user("ada").await;
        let body = json!({"email": ada.email, "redirectTo": "http://localhost:3000/reset"});
        app.anon().post("/api/auth/email/send-reset-password", body).send().await.expect(202);
        let link = app.mail_to(&ada.email).await.link();

        let landed = app.anon().get(&link).send().await.redirected();
        assert_eq!(parameter(&landed, "service_status").as_deref(), Some("ready"));
        assert_eq!(parameter(&landed, "service_type").as_deref(), Some("reset_password"));
        let body = json!({"newPassword": "a wholly new lantern", "otp": parameter(&landed, "token")});
        app.anon().post("/api/auth/email/reset-password", body).send().await.expect(200);

        app.anon().sign_in(&ada.email, "a wholly new lantern").send().await.expect(200);
        app.anon().sign_in(&ada.email, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
    }
}
