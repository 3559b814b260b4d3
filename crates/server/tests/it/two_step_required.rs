//! Tests of the operator's policy `auth.second_factor = "required"`.

use latchkey_domain::challenge::SecondFactorPolicy;
use latchkey_testkit::{
    Authenticator, Client, Request, Session, TestApp, TestAppBuilder, both_stores, challenge_id, json,
    minutes, seconds,
};

use crate::described::assert_successes_are_described;
use crate::oauth_calls::{acme, person, sign_in};
use crate::two_step_calls::{account, claims, keys, session_count, set_policy, signed_in};

const PASSWORD: &str = latchkey_testkit::PASSWORD;
const HERE: &str = "203.0.113.9";

fn required(builder: TestAppBuilder) -> TestAppBuilder {
    builder.verification_by_code().settings(|settings| settings.second_factor = SecondFactorPolicy::Required)
}

/// Signs up and verifies, up to the challenge.
async fn enrolling(app: &TestApp, email: &str) -> String {
    app.anon().sign_up(email, PASSWORD).send().await.expect(200);
    let code = app.mail_to(email).await.code();
    challenge_id(&app.anon().verify(email, &code).send().await)
}

/// Begins to enrol by a challenge.
async fn begin(app: &TestApp, challenge: &str) -> (Authenticator, String) {
    let body = json!({"challengeId": challenge});
    let begun = app.anon().post("/api/auth/factors/totp", body).send().await.expect(200);
    let secret = begun["secret"].as_str().unwrap();
    (Authenticator::new(secret, &app.clock), begun["factorId"].as_str().unwrap().to_owned())
}

/// Confirms by a challenge.
fn confirm(client: &Client, challenge: &str, id: &str, code: &str) -> Request {
    let body = json!({"challengeId": challenge, "factorId": id, "code": code});
    client.post("/api/auth/factors/totp/confirm", body)
}

/// Fails thirty second factors of Ada, from three addresses.
async fn exhaust(app: &TestApp, phone: &Authenticator) {
    for number in 0..30 {
        let client = app.anon().at(&format!("192.0.2.{}", number % 3));
        let challenge = challenge_id(&client.sign_in("ada@example.org", PASSWORD).send().await);
        let answer = client.answer(&challenge, "totp", &phone.wrong_code(number)).send().await;
        answer.refused(401, "INVALID_SECOND_FACTOR");
    }
}

both_stores! {
    with(required)
    async fn every_way_in_asks_for_enrolment(app) {
        let _ = enrolling(&app, "ada@example.org").await;
        let acme = acme(&app).await;
        acme.person(person("bob at home", "bob@example.org"));

        for answer in [
            app.anon().sign_in("ada@example.org", PASSWORD).send().await,
            sign_in(&app, &acme, "acme").await,
        ] {
            let _ = challenge_id(&answer);
            assert_eq!(answer.json()["challenge"]["kinds"], json!(["enroll"]));
        }
    }

    with(required)
    async fn enrolment_turns_two_step_on_and_signs_in(app) {
        let challenge = enrolling(&app, "ada@example.org").await;
        let (phone, id) = begin(&app, &challenge).await;

        let answer = confirm(&app.anon(), &challenge, &id, &phone.code()).send().await;

        assert_eq!(keys(&answer.json()), ["accessToken", "csrfToken", "factor", "recoveryCodes", "user"]);
        let session = Session::of(&answer);
        assert_eq!(claims(&session.access_token)["aal"], 2);
        let client = app.with_session(&session);
        assert_eq!((session_count(&client).await, &account(&client).await["twoStep"]), (1, &json!(true)));
        confirm(&app.anon(), &challenge, &id, &phone.code()).send().await.refused(401, "INVALID_CHALLENGE");
        let refreshed = Session::of(&app.anon().refresh(&session).send().await);
        assert_eq!(claims(&refreshed.access_token)["aal"], 2);
    }

    with(required)
    async fn client_type_of_the_sign_in_decides_at_enrolment_too(app) {
        let _ = enrolling(&app, "ada@example.org").await;
        let began = app.anon().sign_in("ada@example.org", PASSWORD).client_type("mobile");
        let challenge = challenge_id(&began.send().await);
        let (phone, id) = begin(&app, &challenge).await;

        let answer = confirm(&app.anon(), &challenge, &id, &phone.code()).client_type("web").send().await;

        let session = Session::of(&answer);
        assert!(session.refresh_token.is_some() && session.cookie.is_none(), "{answer:?}");
    }

    with(required)
    async fn enrolment_belongs_to_its_challenge(app) {
        let (adas, bobs) = (enrolling(&app, "ada@example.org").await, enrolling(&app, "bob@example.org").await);
        let (phone, id) = begin(&app, &adas).await;
        let code = phone.code();

        confirm(&app.anon(), &bobs, &id, &code).send().await.refused(404, "NOT_FOUND");
        let unknown = "A".repeat(43);
        for challenge in [unknown.as_str(), "none"] {
            confirm(&app.anon(), challenge, &id, &code).send().await.refused(401, "INVALID_CHALLENGE");
            let begin = app.anon().post("/api/auth/factors/totp", json!({"challengeId": challenge}));
            begin.send().await.refused(401, "INVALID_CHALLENGE");
        }

        let _ = Session::of(&confirm(&app.anon(), &adas, &id, &code).send().await);
    }

    with(required)
    async fn challenge_of_an_account_with_two_step_enrols_nothing(app) {
        let challenge = enrolling(&app, "ada@example.org").await;
        let (phone, id) = begin(&app, &challenge).await;
        confirm(&app.anon(), &challenge, &id, &phone.code()).send().await.expect(200);
        app.clock.advance(seconds(30));
        let sign_in = app.anon().sign_in("ada@example.org", PASSWORD).send().await;
        assert_eq!(sign_in.json()["challenge"]["kinds"], json!(["totp", "recovery_code"]));
        let challenge = challenge_id(&sign_in);

        let begin = app.anon().post("/api/auth/factors/totp", json!({"challengeId": challenge})).send().await;

        begin.refused(401, "INVALID_CHALLENGE");
        let _ = Session::of(&app.anon().answer(&challenge, "totp", &phone.code()).send().await);
    }

    with(required)
    async fn enrolment_is_no_answer(app) {
        let challenge = enrolling(&app, "ada@example.org").await;

        for (kind, code) in [("enroll", "123456"), ("totp", "123456"), ("recovery_code", "0000-0000-0000-0000")] {
            let answer = app.anon().answer(&challenge, kind, code).send().await;
            assert_eq!(answer.refused(400, "VALIDATION_ERROR")["field"], "kind");
        }
    }

    with(required)
    async fn fifth_wrong_code_drops_the_app_and_the_challenge_begins_another(app) {
        let challenge = enrolling(&app, "ada@example.org").await;
        let (phone, id) = begin(&app, &challenge).await;
        for number in 0..5 {
            let answer = confirm(&app.anon(), &challenge, &id, &phone.wrong_code(number)).send().await;
            answer.refused(401, "INVALID_SECOND_FACTOR");
        }

        confirm(&app.anon(), &challenge, &id, &phone.code()).send().await.refused(404, "NOT_FOUND");

        let (phone, id) = begin(&app, &challenge).await;
        let _ = Session::of(&confirm(&app.anon(), &challenge, &id, &phone.code()).send().await);
    }

    with(required)
    async fn enrolment_ends_with_its_challenge(app) {
        let challenge = enrolling(&app, "ada@example.org").await;
        let (phone, id) = begin(&app, &challenge).await;

        app.clock.advance(minutes(10));

        confirm(&app.anon(), &challenge, &id, &phone.code()).send().await.refused(401, "INVALID_CHALLENGE");
    }

    with(|b| b.verification_by_code())
    async fn refresh_of_a_session_of_level_one_ends_it(app) {
        let (ada, bob) = (app.user("ada").await, app.two_step_user("bob").await);
        set_policy(&app, "required").await;

        app.anon().refresh(&ada.session).send().await.refused(401, "AUTH_UNAUTHORIZED");

        ada.get("/api/auth/account").send().await.refused(401, "AUTH_UNAUTHORIZED");
        set_policy(&app, "optional").await;
        app.anon().refresh(&ada.session).send().await.refused(401, "AUTH_UNAUTHORIZED");
        let _ = Session::of(&app.anon().refresh(&bob.session).send().await);
    }

    // It would get new access tokens without ever being refreshed.
    with(|b| b.verification_by_code())
    async fn step_up_of_a_session_of_level_one_ends_it(app) {
        let (ada, bob) = (app.user("ada").await, app.two_step_user("bob").await);
        set_policy(&app, "required").await;

        let refused = ada.reauthenticate().send().await;

        refused.refused(401, "AUTH_UNAUTHORIZED");
        let event = crate::audit::last(&app, "sign_out").await;
        assert_eq!((&event["userId"], &event["actor"]), (&json!(ada.id), &json!("system")));
        ada.get("/api/auth/account").send().await.refused(401, "AUTH_UNAUTHORIZED");
        set_policy(&app, "optional").await;
        app.anon().refresh(&ada.session).send().await.refused(401, "AUTH_UNAUTHORIZED");
        bob.reauthenticate().send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn step_up_that_a_session_of_level_one_began_before_gives_no_token(app) {
        let (ada, bob) = (app.user("ada").await, app.two_step_user("bob").await);
        let (adas, bobs) =
            (challenge_id(&ada.reauthenticate().send().await), challenge_id(&bob.reauthenticate().send().await));
        set_policy(&app, "required").await;
        assert_eq!(account(&ada).await["reauthenticateWith"], json!([]));

        let answer = ada.answer(&adas, "password", PASSWORD).send().await;

        answer.refused(401, "INVALID_CHALLENGE");
        bob.answer(&bobs, "totp", &bob.authenticator.code()).send().await.expect(200);
    }

    with(|b| required(b).limits())
    async fn enrolment_completes_the_sign_in(app) {
        let _ = enrolling(&app, "ada@example.org").await;
        let here = app.anon().at(HERE);
        let guess = async || {
            for _ in 0..9 {
                here.sign_in("ada@example.org", "a wrong password").send().await.refused(401, "INVALID_CREDENTIALS");
            }
        };
        guess().await;
        let challenge = challenge_id(&here.sign_in("ada@example.org", PASSWORD).send().await);
        let (phone, id) = begin(&app, &challenge).await;

        let _ = Session::of(&confirm(&here, &challenge, &id, &phone.code()).send().await);

        assert_eq!(crate::audit::last(&app, "sign_in").await["details"]["amr"], json!(["pwd", "otp", "mfa"]));
        guess().await; // The failures before are forgiven.
        let _ = challenge_id(&here.sign_in("ada@example.org", PASSWORD).send().await);
        exhaust(&app, &phone).await;
        app.clock.advance(seconds(30));
        let challenge = challenge_id(&here.sign_in("ada@example.org", PASSWORD).send().await);
        let _ = Session::of(&here.answer(&challenge, "totp", &phone.code()).send().await); // The address is known.
    }

    with(|b| b.verification_by_code())
    async fn turning_off_is_forbidden(app) {
        let ada = app.two_step_user("ada").await;
        set_policy(&app, "required").await;

        let off = ada.post("/api/auth/factors/two-step", json!({"enabled": false})).send().await;

        off.refused(403, "FORBIDDEN");
        assert_eq!(account(&ada).await["twoStep"], true);
        let _ = signed_in(&app, &ada).await;
    }

    async fn it_needs_required_verification(app) {
        let answer = app.admin().put("/api/auth/config", json!({"secondFactor": "required"})).send().await;

        answer.refused(400, "VALIDATION_ERROR");
    }

    with(required)
    async fn responses_are_described(app) {
        let challenge = enrolling(&app, "ada@example.org").await;
        let (phone, id) = begin(&app, &challenge).await;
        let body = json!({"challengeId": enrolling(&app, "bob@example.org").await, "name": "My phone"});
        let requests = [
            ("POST /api/auth/sessions", app.anon().sign_in("ada@example.org", PASSWORD)),
            ("POST /api/auth/factors/totp", app.anon().post("/api/auth/factors/totp", body)),
            ("POST /api/auth/factors/totp/confirm", confirm(&app.anon(), &challenge, &id, &phone.code())),
        ];

        assert_successes_are_described(&app, requests).await;
    }
}
