//! Tests of resendVerificationEmail: POST /api/auth/email/send-verification.

use latchkey_testkit::{Answer, TestApp, both_stores, json};

use crate::email_calls::{change_user, resend, resend_to, signed_up_code, verify_token};

const ADA: &str = "ada@example.org";

/// Creates an account of each kind. Returns their addresses and one without an account.
async fn addresses(app: &TestApp) -> [&'static str; 4] {
    for address in ["pending@example.org", "verified@example.org", "banned@example.org"] {
        signed_up_code(app, address).await;
    }
    let code = app.mail().last("verified@example.org").code();
    app.anon().verify("verified@example.org", &code).send().await.expect(200);
    change_user(app, "banned@example.org", json!({"banned": true})).await;
    ["pending@example.org", "verified@example.org", "banned@example.org", "unknown@example.org"]
}

/// Status, body and headers of a response, without the headers that always differ.
fn seen(answer: &Answer) -> (u16, Vec<u8>, Vec<(String, String)>) {
    let is_common = |name: &str| !matches!(name, "x-request-id" | "date");
    let headers = answer.headers.iter().filter(|(name, _)| is_common(name.as_str()));
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let headers = headers.map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect();
    (answer.status, answer.body.clone(), headers)
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn new_code_is_mailed(app) {
        let first = signed_up_code(&app, ADA).await;

        let answer = resend(&app.anon(), ADA).send().await.expect(202);

        assert_eq!(answer["success"], true);
        assert!(answer["message"].as_str().is_some_and(|message| !message.is_empty()));
        let second = app.mail_to(ADA).await.code();
        assert_ne!(first, second);
        app.anon().verify(ADA, &second).send().await.expect(200);
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn new_link_is_mailed(app) {
        crate::email_calls::signed_up_link(&app, ADA).await;

        resend_to(&app.anon(), ADA, "https://app.example/again").send().await.expect(202);

        let link = app.mail_to(ADA).await.link();
        let landed = app.anon().get(&link).send().await.redirected();
        assert_eq!(landed.path(), "/again");
    }

    with(|b| b.verification_by_code())
    async fn known_and_unknown_addresses_are_answered_alike(app) {
        let addresses = addresses(&app).await;

        let mut answers = Vec::new();
        for address in addresses {
            answers.push(seen(&resend(&app.anon(), address).send().await));
        }

        assert_eq!(answers[0].0, 202);
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
    }

    with(|b| b.verification_by_code())
    async fn unverified_account_alone_gets_a_mail(app) {
        let addresses = addresses(&app).await;
        app.mail().clear();

        for address in addresses {
            resend(&app.anon(), address).send().await.expect(202);
        }

        app.run_jobs().await;
        assert_eq!(app.mail().recipients(), ["pending@example.org"]);
    }

    async fn account_created_without_verification_can_still_verify(app) {
        let ada = app.user("ada").await;

        resend(&app.anon(), &ada.email).send().await.expect(202);

        let code = app.mail_to(&ada.email).await.code();
        let verified = app.anon().verify(&ada.email, &code).send().await.expect(200);
        assert_eq!(verified["user"]["emailVerified"], true);
    }

    with(|b| b.verification_by_code())
    async fn method_of_the_setting_in_force_decides(app) {
        signed_up_code(&app, ADA).await;
        let settings =
            json!({"verifyEmailMethod": "link", "allowedRedirectUrls": ["https://app.example/done"]});
        app.admin().put("/api/auth/config", settings).send().await.expect(200);

        resend_to(&app.anon(), ADA, "https://app.example/done").send().await.expect(202);

        let token = app.mail_to(ADA).await.token();
        verify_token(&app.anon(), &token).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn link_ends_the_code_before(app) {
        let code = signed_up_code(&app, ADA).await;
        let settings =
            json!({"verifyEmailMethod": "link", "allowedRedirectUrls": ["https://app.example/done"]});
        app.admin().put("/api/auth/config", settings).send().await.expect(200);
        resend_to(&app.anon(), ADA, "https://app.example/done").send().await.expect(202);

        let answer = app.anon().verify(ADA, &code).send().await;

        answer.refused(400, "INVALID_CODE");
    }

    async fn missing_or_malformed_address_is_named(app) {
        for body in [
            json!({}),
            json!({"email": "ada"}),
            json!({"email": null}),
            json!({"email": "ada\u{ff20}example.org"}),
        ] {
            for path in ["send-verification", "send-reset-password"] {
                let answer = app.anon().post(&format!("/api/auth/email/{path}"), body.clone()).send().await;

                let refusal = answer.refused(400, "VALIDATION_ERROR");
                assert!(refusal["message"].as_str().unwrap().contains("email"), "{refusal}");
            }
        }
    }
}
