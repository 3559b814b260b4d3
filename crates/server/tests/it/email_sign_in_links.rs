//! Tests of sign-in by a mailed link: GET /api/auth/email/sign-in-link, and method `link` of POST /api/auth/sessions.
//! What ends a link is in `email_sign_in_link_ends`.

use latchkey_testkit::answer::parameter;
use latchkey_testkit::{
    Answer, EmailSignIn, Session, TestApp, TestAppBuilder, both_stores, challenge_id, json, minutes,
};

use crate::audit::last;
use crate::described::assert_successes_are_described;
use crate::email_calls::{TARGET, other_than, send_otp, send_sign_in_link, sign_in_by_code, sign_in_by_link};
use crate::enumeration::shown;
use crate::oauth_calls::{CHALLENGE, OTHER_VERIFIER, VERIFIER, user_count};
use crate::proven_passwords::{assert_out, squat};
use crate::two_step_calls::claims;

const ADA: &str = "ada@example.org";
const UNKNOWN: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Mails links too, to targets of the tests.
pub(crate) fn linking(builder: TestAppBuilder) -> TestAppBuilder {
    builder
        .email_sign_in(EmailSignIn::CodeAndLink)
        .redirects(&["https://app.example/**", "http://localhost:3000/**"])
}

/// Requests a link and returns its token.
pub(crate) async fn link_token(app: &TestApp, email: &str) -> String {
    send_sign_in_link(&app.anon(), email).send().await.expect(202);
    app.mail_to(email).await.token()
}

fn link_of(app: &TestApp, token: &str) -> String {
    format!("{}/api/auth/email/sign-in-link?token={token}", app.public_url())
}

/// Asserts that the browser lands at the target with the token.
#[track_caller]
fn assert_ready(answer: &Answer, token: &str) {
    let landed = answer.redirected();
    let names = ["service_status", "service_type", "token", "service_error"];
    let said = names.map(|name| parameter(&landed, name));
    assert_eq!(said, [Some("ready".to_owned()), Some("sign_in".to_owned()), Some(token.to_owned()), None]);
    assert!(landed.as_str().starts_with(TARGET), "{landed}");
}

both_stores! {
    with(linking)
    async fn link_signs_in_the_browser_that_asked(app) {
        let ada = app.user("ada").await;
        send_sign_in_link(&app.anon(), ADA).send().await.expect(202);
        let mail = app.mail_to(ADA).await;
        assert_eq!(mail.link(), link_of(&app, &mail.token()));
        assert!(mail.html.contains(&mail.token()) && mail.code().len() == 6, "{mail:#?}");

        assert_ready(&app.anon().get(&mail.link()).send().await, &mail.token());
        let answer = sign_in_by_link(&app.anon(), &mail.token(), VERIFIER).send().await;

        let session = Session::of(&answer);
        assert_eq!(session.user_id, ada.id);
        assert_eq!(claims(&session.access_token)["amr"], json!(["otp"]));
        assert_eq!(last(&app, "sign_in").await["details"]["amr"], json!(["otp"]));
        let token = link_token(&app, ADA).await;
        let again = sign_in_by_link(&app.anon(), &token, VERIFIER);
        assert_successes_are_described(&app, [("POST /api/auth/sessions", again)]).await;
    }

    with(linking)
    async fn wrong_and_missing_verifiers_are_refused_and_cost_nothing(app) {
        app.user("ada").await;
        let token = link_token(&app, ADA).await;
        let unknown = sign_in_by_link(&app.anon(), UNKNOWN, VERIFIER).send().await;
        unknown.refused(400, "INVALID_CODE");

        for _ in 0..11 {
            for verifier in [json!(OTHER_VERIFIER), json!(CHALLENGE), json!(""), json!(null)] {
                let body = json!({"method": "link", "token": token, "code_verifier": verifier});
                let answer = app.anon().post("/api/auth/sessions", body).send().await;
                assert_eq!(shown(&answer), shown(&unknown), "{verifier}");
            }
            let answer = app.anon().post("/api/auth/sessions", json!({"method": "link", "token": token})).send().await;
            assert_eq!(shown(&answer), shown(&unknown));
        }

        let code = app.mail().last(ADA).code();
        sign_in_by_code(&app.anon(), ADA, other_than(&code)).send().await.refused(400, "INVALID_CODE");
        let body = json!({"method": "link", "token": token, "codeVerifier": VERIFIER});
        app.anon().post("/api/auth/sessions", body).send().await.expect(200);
    }

    // It follows the link and runs the scripts of the app, but has not the verifier, which the asking browser kept.
    with(linking)
    async fn scanner_that_runs_scripts_neither_uses_nor_burns_the_link(app) {
        let token = link_token(&app, ADA).await;

        for method in ["HEAD", "GET", "HEAD", "GET"] {
            let opened = app.anon().request(method, &link_of(&app, &token)).send().await;
            assert_ready(&opened, &token);
            assert!(opened.set_cookies().is_empty());
            sign_in_by_link(&app.anon(), &token, OTHER_VERIFIER).send().await.refused(400, "INVALID_CODE");
        }

        assert_eq!(user_count(&app).await, 0);
        sign_in_by_link(&app.anon(), &token, VERIFIER).send().await.expect(200);
    }

    with(linking)
    async fn link_makes_an_account_at_an_unknown_address(app) {
        let email = "New.Comer@example.org";
        let token = link_token(&app, email).await;

        let body = json!({"method": "link", "token": token, "code_verifier": VERIFIER, "name": "New Comer"});
        let answer = app.anon().post("/api/auth/sessions", body).send().await;

        let user = &answer.expect(200)["user"];
        assert_eq!((&user["email"], &user["emailVerified"]), (&json!(email), &json!(true)));
        assert_eq!((&user["providers"], &user["profile"]["name"]), (&json!([]), &json!("New Comer")));
    }

    with(|b| linking(b).verification_by_code())
    async fn link_of_an_account_with_two_step_is_challenged(app) {
        let ada = app.two_step_user("ada").await;
        let token = link_token(&app, ADA).await;

        let challenge = challenge_id(&sign_in_by_link(&app.anon(), &token, VERIFIER).send().await);

        sign_in_by_link(&app.anon(), &token, VERIFIER).send().await.refused(400, "INVALID_CODE");
        app.anon().answer(&challenge, "totp", &ada.authenticator.code()).send().await.expect(200);
    }

    with(|b| linking(b).verification_by_link())
    async fn squatter_is_removed_by_the_owners_link(app) {
        let squatter = squat(&app).await;
        let token = link_token(&app, ADA).await;

        let owner = Session::of(&sign_in_by_link(&app.anon(), &token, VERIFIER).send().await);

        assert_eq!(owner.user_id, squatter.user_id);
        assert_out(&app, &squatter).await;
    }

    with(linking)
    async fn mail_has_a_link_only_with_challenge_and_target(app) {
        for (number, body) in [json!({"redirectTo": TARGET}), json!({"code_challenge": CHALLENGE}), json!({})].into_iter().enumerate() {
            let email = format!("person-{number}@example.org");
            let mut body = body;
            body["email"] = json!(email);
            app.anon().post("/api/auth/email/send-otp", body).send().await.expect(202);

            let mail = app.mail_to(&email).await;
            assert!(!mail.text.contains("token=") && !mail.html.contains("token="), "{mail:#?}");
            sign_in_by_code(&app.anon(), &email, &mail.code()).send().await.expect(200);
        }
    }

    with(|b| linking(b).default_redirect(TARGET))
    async fn default_target_is_as_good_as_a_named_one(app) {
        let body = json!({"email": ADA, "codeChallenge": CHALLENGE});
        app.anon().post("/api/auth/email/send-otp", body).send().await.expect(202);

        let mail = app.mail_to(ADA).await;

        assert_ready(&app.anon().get(&mail.link()).send().await, &mail.token());
    }

    with(|b| linking(b).email_sign_in(EmailSignIn::Code))
    async fn where_codes_alone_are_on_no_link_is_mailed_and_none_opens(app) {
        send_sign_in_link(&app.anon(), ADA).send().await.expect(202);

        assert!(!app.mail_to(ADA).await.text.contains("token="));
        sign_in_by_link(&app.anon(), UNKNOWN, VERIFIER).send().await.refused(403, "FEATURE_DISABLED");
    }

    with(linking)
    async fn malformed_challenges_and_tokens_are_refused(app) {
        for challenge in ["", "abc", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM="] {
            let body = json!({"email": ADA, "redirectTo": TARGET, "code_challenge": challenge});
            let answer = app.anon().post("/api/auth/email/send-otp", body).send().await;
            assert_eq!(answer.refused(400, "VALIDATION_ERROR")["field"], "code_challenge");
        }
        for token in ["", "abc", UNKNOWN] {
            sign_in_by_link(&app.anon(), token, VERIFIER).send().await.refused(400, "INVALID_CODE");
        }
        let missing = app.anon().post("/api/auth/sessions", json!({"method": "link"})).send().await;
        assert_eq!(missing.refused(400, "VALIDATION_ERROR")["field"], "token");
        app.run_jobs().await;
        assert_eq!(app.mail().total(), 0);
    }

    with(linking)
    async fn token_is_not_stored_as_it_is(app) {
        let token = link_token(&app, ADA).await;

        let kept = app.kept();

        assert!(!kept.windows(token.len()).any(|window| window == token.as_bytes()));
    }

    // The code of the other mail is the only other thing that a token could be taken for.
    with(|b| linking(b).verification_by_link().link_reset())
    async fn token_of_one_purpose_is_unknown_at_another(app) {
        app.user("ada").await;
        let token = link_token(&app, ADA).await;
        let reset = crate::email_calls::reset_link(&app, ADA).await;
        let reset = reset.split_once("token=").unwrap().1;

        crate::email_calls::verify_token(&app.anon(), &token).send().await.refused(400, "INVALID_CODE");
        crate::email_calls::reset(&app.anon(), &token, "a wholly new lantern").send().await.refused(400, "INVALID_CODE");
        for path in ["verify-link", "reset-password-link"] {
            app.anon().get(&format!("/api/auth/email/{path}?token={token}")).send().await.page(400);
        }
        app.anon().get(&link_of(&app, reset)).send().await.page(400);
        sign_in_by_link(&app.anon(), reset, VERIFIER).send().await.refused(400, "INVALID_CODE");

        sign_in_by_link(&app.anon(), &token, VERIFIER).send().await.expect(200);
    }

    with(|b| linking(b).limits())
    async fn links_tried_from_one_address_are_limited_with_codes(app) {
        for number in 0..15 {
            sign_in_by_link(&app.anon(), UNKNOWN, VERIFIER).send().await.refused(400, "INVALID_CODE");
            let email = format!("person-{number}@example.org");
            sign_in_by_code(&app.anon(), &email, "000000").send().await.refused(400, "INVALID_CODE");
        }

        sign_in_by_link(&app.anon(), UNKNOWN, VERIFIER).send().await.refused(429, "TOO_MANY_REQUESTS");
        app.anon().get(&link_of(&app, UNKNOWN)).send().await.refused(429, "TOO_MANY_REQUESTS");
    }

    with(|b| linking(b).limits())
    async fn mail_limits_are_common_to_codes_and_links(app) {
        send_sign_in_link(&app.anon(), ADA).send().await.expect(202);

        send_otp(&app.anon(), ADA).send().await.refused(429, "TOO_MANY_REQUESTS");

        app.clock.advance(minutes(1));
        send_otp(&app.anon(), ADA).send().await.expect(202);
    }
}
