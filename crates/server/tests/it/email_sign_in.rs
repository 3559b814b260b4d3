//! Tests of sign-in by a mailed code: POST /api/auth/email/send-otp, and method `otp` of POST /api/auth/sessions.

use latchkey_testkit::{EmailSignIn, PASSWORD, Session, TestApp, both_stores, challenge_id, json, minutes};

use crate::audit::{events, last};
use crate::described::assert_successes_are_described;
use crate::email_calls::{
    TARGET, change_user, other_than, reset, reset_token, send_otp, sign_in_by_code, sign_in_code,
};
use crate::oauth_calls::user_count;
use crate::two_step_calls::{claims, keys, set_policy};

const ADA: &str = "ada@example.org";
const NEW: &str = "New.Comer@example.org";

both_stores! {
    async fn mailed_code_opens_a_session(app) {
        let ada = app.user("ada").await;
        change_user(&app, ADA, json!({"emailVerified": true})).await;
        let by_password = app.anon().sign_in(ADA, PASSWORD).send().await.expect(200);

        let sent = send_otp(&app.anon(), ADA).send().await;
        let code = app.mail_to(ADA).await.code();
        let answer = sign_in_by_code(&app.anon(), ADA, &code).send().await;

        assert_eq!(keys(&sent.expect(202)), ["message", "success"]);
        let body = answer.expect(200);
        assert_eq!(keys(&body), keys(&by_password));
        assert_eq!(body["user"], by_password["user"]);
        let session = Session::of(&answer);
        assert_eq!(session.user_id, ada.id);
        let token = claims(&session.access_token);
        assert_eq!((&token["amr"], token.get("aal")), (&json!(["otp"]), None));
        let event = last(&app, "sign_in").await;
        assert_eq!((&event["userId"], &event["sessionId"]), (&json!(ada.id), &token["sid"]));
        assert_eq!(event["details"]["amr"], json!(["otp"]));
        let code = sign_in_code(&app, ADA).await;
        let again = sign_in_by_code(&app.anon(), ADA, &code);
        let operations = [("POST /api/auth/email/send-otp", send_otp(&app.anon(), "b@example.org")), ("POST /api/auth/sessions", again)];
        assert_successes_are_described(&app, operations).await;
    }

    async fn client_type_decides_between_cookie_and_body(app) {
        for client_type in ["mobile", "desktop", "server"] {
            app.clock.advance(minutes(2));
            let code = sign_in_code(&app, ADA).await;

            let answer = sign_in_by_code(&app.anon(), ADA, &code).client_type(client_type).send().await;

            assert!(answer.expect(200)["refreshToken"].is_string(), "{answer:?}");
            assert!(answer.set_cookies().is_empty(), "{answer:?}");
        }
        app.clock.advance(minutes(2));
        let code = sign_in_code(&app, ADA).await;
        let session = Session::of(&sign_in_by_code(&app.anon(), ADA, &code).send().await);
        app.anon().refresh(&session).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn right_code_makes_an_account_at_an_unknown_address(app) {
        let code = sign_in_code(&app, NEW).await;
        assert_eq!(user_count(&app).await, 0, "not before the code");

        let body = json!({"method": "otp", "email": NEW, "otp": code, "name": "New Comer"});
        let answer = app.anon().post("/api/auth/sessions", body).send().await;

        let user = &answer.expect(200)["user"];
        assert_eq!((&user["email"], &user["emailVerified"]), (&json!(NEW), &json!(true)));
        assert_eq!((&user["providers"], &user["profile"]["name"]), (&json!([]), &json!("New Comer")));
        let session = Session::of(&answer);
        for kind in ["sign_up", "sign_in"] {
            let event = last(&app, kind).await;
            assert_eq!((&event["userId"], &event["sessionId"]), (&json!(session.user_id), &claims(&session.access_token)["sid"]));
        }
        let found = app.anon().search("comer").send().await.expect(200);
        assert_eq!(found[0]["auth_id"], session.user_id.as_str());
        app.anon().sign_in(NEW, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
        let token = reset_token(&app, NEW).await;
        reset(&app.anon(), &token, PASSWORD).send().await.expect(200);
        app.anon().sign_in(NEW, PASSWORD).send().await.expect(200);
    }

    async fn account_made_by_a_code_signs_in_by_the_next(app) {
        let first = Session::of(&sign_in_by_code(&app.anon(), ADA, &sign_in_code(&app, ADA).await).send().await);

        let body = json!({"method": "otp", "email": "ADA@EXAMPLE.ORG", "otp": sign_in_code(&app, ADA).await, "name": "Eve"});
        let answer = app.anon().post("/api/auth/sessions", body).send().await;

        assert_eq!(Session::of(&answer).user_id, first.user_id);
        assert_eq!(answer.json()["user"]["profile"]["name"], "", "a known address ignores the name");
        assert_eq!(user_count(&app).await, 1);
    }

    with(|b| b.no_profile_on_sign_up())
    async fn account_has_no_profile_where_sign_up_makes_none(app) {
        let code = sign_in_code(&app, ADA).await;

        let session = Session::of(&sign_in_by_code(&app.anon(), ADA, &code).send().await);

        app.with_session(&session).get("/api/profiles/me").send().await.refused(404, "PROFILE_NOT_FOUND");
    }

    async fn disabled_sign_up_makes_no_account(app) {
        app.user("known").await;
        let before = sign_in_code(&app, NEW).await;
        app.admin().put("/api/auth/config", json!({"disableSignup": true})).send().await.expect(200);
        app.mail().clear();

        for email in [ADA, "known@example.org"] {
            send_otp(&app.anon(), email).send().await.expect(202);
        }

        app.run_jobs().await;
        assert_eq!(app.mail().recipients(), ["known@example.org"]);
        sign_in_by_code(&app.anon(), NEW, &before).send().await.refused(400, "INVALID_CODE");
        let code = app.mail().last("known@example.org").code();
        sign_in_by_code(&app.anon(), "known@example.org", &code).send().await.expect(200);
        assert_eq!(user_count(&app).await, 1);
    }

    async fn sign_in_by_mail_can_be_switched_off(app) {
        app.user("ada").await;
        let code = sign_in_code(&app, ADA).await;
        app.admin().put("/api/auth/config", json!({"emailSignIn": "off"})).send().await.expect(200);

        for email in [ADA, "unknown@example.org"] {
            send_otp(&app.anon(), email).send().await.refused(403, "FEATURE_DISABLED");
            sign_in_by_code(&app.anon(), email, &code).send().await.refused(403, "FEATURE_DISABLED");
        }

        app.anon().sign_in(ADA, PASSWORD).send().await.expect(200);
    }

    with(|b| b.no_mail_transport())
    async fn without_mail_transport_it_is_off(app) {
        send_otp(&app.anon(), ADA).send().await.refused(403, "FEATURE_DISABLED");
    }

    with(|b| b.email_sign_in(EmailSignIn::Code).redirects(&[TARGET]))
    async fn target_off_the_list_is_refused_for_known_and_unknown_alike(app) {
        app.user("ada").await;
        for (target, status) in [("https://evil.example/", 400), (TARGET, 202)] {
            for email in [ADA, "unknown@example.org"] {
                let body = json!({"email": email, "redirectTo": target});
                let answer = app.anon().post("/api/auth/email/send-otp", body).send().await;
                assert_eq!(answer.status, status, "{answer:?}");
            }
        }
    }

    async fn missing_and_malformed_fields_are_named_and_cost_nothing(app) {
        let code = sign_in_code(&app, ADA).await;
        for (field, body) in [
            ("method", json!({"method": "magic", "email": ADA, "otp": code})),
            ("email", json!({"method": "otp", "otp": code})),
            ("otp", json!({"method": "otp", "email": ADA})),
            ("otp", json!({"method": "otp", "email": ADA, "otp": 123_456})),
            ("name", json!({"method": "otp", "email": ADA, "otp": code, "name": "x".repeat(101)})),
            ("password", json!({"method": "password", "email": ADA, "otp": code})),
            ("password", json!({"method": null, "email": ADA, "otp": code})),
        ] {
            for _ in 0..6 {
                let answer = app.anon().post("/api/auth/sessions", body.clone()).send().await;
                assert_eq!(answer.refused(400, "VALIDATION_ERROR")["field"], field, "{body}");
            }
        }

        sign_in_by_code(&app.anon(), ADA, &code).send().await.expect(200);
    }

    async fn account_made_meanwhile_does_not_get_the_code_of_an_unknown_address(app) {
        let code = sign_in_code(&app, ADA).await;
        app.user("ada").await;

        sign_in_by_code(&app.anon(), ADA, &code).send().await.refused(400, "INVALID_CODE");

        let code = sign_in_code(&app, ADA).await;
        sign_in_by_code(&app.anon(), ADA, &code).send().await.expect(200);
    }

    async fn banned_account_gets_no_mail_and_its_code_dies(app) {
        app.user("ada").await;
        let code = sign_in_code(&app, ADA).await;
        change_user(&app, ADA, json!({"banned": true})).await;
        app.mail().clear();

        sign_in_by_code(&app.anon(), ADA, &code).send().await.refused(400, "INVALID_CODE");
        send_otp(&app.anon(), ADA).send().await.expect(202);

        app.run_jobs().await;
        assert_eq!(app.mail().total(), 0);
        change_user(&app, ADA, json!({"banned": false})).await;
        sign_in_by_code(&app.anon(), ADA, &code).send().await.refused(400, "INVALID_CODE");
    }

    with(|b| b.verification_by_code())
    async fn change_of_the_password_and_reset_end_the_code(app) {
        let ada = app.user("ada").await;
        let code = sign_in_code(&app, ADA).await;
        let body = json!({"currentPassword": PASSWORD, "newPassword": "a wholly new lantern"});
        ada.post("/api/auth/password", body).send().await.expect(200);
        sign_in_by_code(&app.anon(), ADA, &code).send().await.refused(400, "INVALID_CODE");

        let code = sign_in_code(&app, ADA).await;
        let token = reset_token(&app, ADA).await;
        reset(&app.anon(), &token, PASSWORD).send().await.expect(200);

        sign_in_by_code(&app.anon(), ADA, &code).send().await.refused(400, "INVALID_CODE");
    }

    async fn refused_code_is_audited_as_a_failed_sign_in(app) {
        let ada = app.user("ada").await;
        for (email, user) in [(ADA, json!(ada.id)), ("unknown@example.org", json!(null))] {
            app.clock.advance(minutes(1));
            let code = sign_in_code(&app, email).await;
            sign_in_by_code(&app.anon(), email, other_than(&code)).send().await.refused(400, "INVALID_CODE");

            let event = last(&app, "sign_in_failed").await;
            assert_eq!((&event["userId"], &event["details"]["reason"]), (&user, &json!("wrong code or link")));
        }
        let kinds: Vec<_> = events(&app).await.iter().map(|event| event["event"].clone()).collect();
        assert!(!kinds.contains(&json!("sign_in")), "{kinds:?}");
    }

    with(|b| b.verification_by_code())
    async fn account_with_two_step_is_challenged(app) {
        let ada = app.two_step_user("ada").await;
        let code = sign_in_code(&app, ADA).await;

        let challenge = challenge_id(&sign_in_by_code(&app.anon(), ADA, &code).send().await);

        last(&app, "sign_in_challenged").await;
        sign_in_by_code(&app.anon(), ADA, &code).send().await.refused(400, "INVALID_CODE");
        let answer = app.anon().answer(&challenge, "totp", &ada.authenticator.code()).send().await;
        let token = claims(&Session::of(&answer).access_token);
        assert_eq!((&token["amr"], &token["aal"]), (&json!(["otp", "mfa"]), &json!(2)));
    }

    with(|b| b.verification_by_code())
    async fn newcomer_enrols_where_two_step_is_required(app) {
        set_policy(&app, "required").await;
        let code = sign_in_code(&app, ADA).await;

        let answer = sign_in_by_code(&app.anon(), ADA, &code).send().await;

        assert!(!challenge_id(&answer).is_empty());
        assert_eq!(answer.json()["challenge"]["kinds"], json!(["enroll"]));
        assert_eq!(user_count(&app).await, 1);
    }

    async fn mail_goes_to_the_address_as_it_is_stored_or_typed(app) {
        app.user("ada").await;
        app.run_jobs().await;
        app.mail().clear();

        for email in ["ADA@example.org", NEW] {
            send_otp(&app.anon(), email).send().await.expect(202);
        }

        app.run_jobs().await;
        assert_eq!(app.mail().recipients(), [ADA, NEW]);
        let mail = app.mail().last(ADA);
        assert!(mail.subject.contains("sign-in code") && mail.text.contains("Hello Ada"), "{mail:#?}");
    }
}

/// Signs in by a code from an address.
pub(crate) async fn session_by_code(app: &TestApp, email: &str) -> Session {
    let code = sign_in_code(app, email).await;
    Session::of(&sign_in_by_code(&app.anon(), email, &code).send().await)
}
