//! Tests of sign-ins of accounts with two-step sign-in, by every way in: challenge, answer, session.

use latchkey_testkit::{Session, both_stores, challenge_id, json, minutes, seconds};

use crate::audit::{events, last};
use crate::described::assert_successes_are_described;
use crate::oauth_calls::{acme, identities, person, sign_in};
use crate::two_step_calls::{account, claims, fail, keys, session_count};

both_stores! {
    with(|b| b.verification_by_code())
    async fn right_password_is_answered_with_a_challenge_alone(app) {
        let ada = app.two_step_user("ada").await;

        let answer = app.anon().sign_in(&ada.email, &ada.password).cookie("latchkey_refresh_8700=x").send().await;

        let body = answer.expect(200);
        assert_eq!(keys(&body), ["challenge"]);
        let challenge = &body["challenge"];
        let expected = json!({
            "id": challenge["id"], "kinds": ["totp", "recovery_code"], "expiresAt": "2026-03-02T10:10:30.000Z",
        });
        assert_eq!(*challenge, expected);
        assert_eq!(challenge["id"].as_str().map(str::len), Some(43));
        assert!(answer.set_cookies().is_empty(), "{answer:?}");
    }

    // A browser in which somebody is signed in.
    with(|b| b.verification_by_code())
    async fn challenge_leaves_the_browsers_session_alone_until_the_answer(app) {
        let (ada, bob) = (app.two_step_user("ada").await, app.user("bob").await);
        let cookie = bob.session.cookie.clone().unwrap();
        let sign_in = app.anon().sign_in(&ada.email, &ada.password).cookie(&cookie).send().await;
        let challenge = challenge_id(&sign_in);
        let wrong = app.anon().answer(&challenge, "totp", &ada.authenticator.wrong_code(0)).cookie(&cookie);
        let wrong = wrong.send().await;
        wrong.refused(401, "INVALID_SECOND_FACTOR");
        assert!(wrong.set_cookies().is_empty(), "{wrong:?}");
        let bobs = Session::of(&app.anon().refresh(&bob.session).send().await);

        let answer = app.anon().answer(&challenge, "totp", &ada.authenticator.code());
        let answer = answer.cookie(bobs.cookie.as_deref().unwrap()).send().await;

        let adas = Session::of(&answer);
        assert_eq!((adas.user_id.as_str(), answer.set_cookies().len()), (ada.id.as_str(), 1));
        let _ = Session::of(&app.anon().refresh(&adas).send().await);
        let _ = Session::of(&app.anon().refresh(&bobs).send().await);
    }

    with(|b| b.verification_by_code())
    async fn wrong_password_is_answered_as_ever(app) {
        let ada = app.two_step_user("ada").await;

        let [known, unknown] = [&ada.email[..], "nobody@example.org"]
            .map(|email| app.anon().sign_in(email, "a wrong password"));
        let (known, unknown) = (known.send().await, unknown.send().await);

        known.refused(401, "INVALID_CREDENTIALS");
        assert_eq!(known.text_without_id(), unknown.text_without_id());
    }

    with(|b| b.verification_by_code())
    async fn right_code_opens_a_session_of_level_two(app) {
        let ada = app.two_step_user("ada").await;
        let challenge = ada.challenged().await;

        let answer = app.anon().answer(&challenge, "totp", &ada.authenticator.code()).send().await;

        let session = Session::of(&answer);
        assert_eq!(keys(&answer.json()), ["accessToken", "csrfToken", "user"]);
        assert_eq!((session.user_id.as_str(), answer.set_cookies().len()), (ada.id.as_str(), 1));
        let claims = claims(&session.access_token);
        assert_eq!((&claims["aal"], &claims["amr"]), (&json!(2), &json!(["pwd", "otp", "mfa"])));
        let refreshed = Session::of(&app.anon().refresh(&session).send().await);
        let again = crate::two_step_calls::claims(&refreshed.access_token);
        for name in ["aal", "amr", "auth_time"] {
            assert_eq!(again[name], claims[name], "{name}");
        }
    }

    with(|b| b.verification_by_code())
    async fn client_type_of_the_sign_in_decides_between_cookie_and_body(app) {
        let ada = app.two_step_user("ada").await;
        for (began, answered) in [("web", "mobile"), ("mobile", "web")] {
            let sign_in = app.anon().sign_in(&ada.email, &ada.password).client_type(began);
            let challenge = challenge_id(&sign_in.send().await);

            let answer = app.anon().answer(&challenge, "totp", &ada.authenticator.code());
            let answer = answer.client_type(answered).send().await;

            let session = Session::of(&answer);
            assert_eq!(session.cookie.is_some(), began == "web", "{answer:?}");
            assert_eq!(session.csrf_token.is_some(), began == "web", "{answer:?}");
            assert_eq!(session.refresh_token.is_some(), began == "mobile", "{answer:?}");
            let _ = Session::of(&app.anon().refresh(&session).send().await);
            app.clock.advance(seconds(30));
        }
    }

    with(|b| b.verification_by_code())
    async fn recovery_code_opens_a_session_once(app) {
        let ada = app.two_step_user("ada").await;
        let code = &ada.recovery_codes[3];

        let challenge = ada.challenged().await;
        let session = Session::of(&app.anon().answer(&challenge, "recovery_code", code).send().await);

        let claims = claims(&session.access_token);
        assert_eq!((&claims["aal"], &claims["amr"]), (&json!(2), &json!(["pwd", "rcv", "mfa"])));
        assert_eq!(account(&app.with_session(&session)).await["recoveryCodesLeft"], 9);
        let challenge = ada.challenged().await;
        let again = app.anon().answer(&challenge, "recovery_code", code).send().await;
        again.refused(401, "INVALID_SECOND_FACTOR");
        let _ = Session::of(&app.anon().answer(&challenge, "recovery_code", &ada.recovery_codes[4]).send().await);
    }

    with(|b| b.verification_by_code())
    async fn recovery_code_is_read_as_people_type_it(app) {
        let ada = app.two_step_user("ada").await;
        for (number, code) in ada.recovery_codes.iter().enumerate() {
            let typed = match number % 3 {
                0 => code.to_uppercase().replace('0', "O").replace('1', "I"),
                1 => format!(" {} ", code.replace('-', " ").replace('1', "l")),
                _ => code.replace('-', ""),
            };
            let challenge = ada.challenged().await;

            let answer = app.anon().answer(&challenge, "recovery_code", &typed).send().await;

            assert_eq!(answer.status, 200, "{typed}: {answer:?}");
        }
    }

    with(|b| b.verification_by_code())
    async fn used_up_recovery_codes_are_offered_no_more(app) {
        let ada = app.two_step_user("ada").await;
        for code in &ada.recovery_codes {
            let challenge = ada.challenged().await;
            let _ = Session::of(&app.anon().answer(&challenge, "recovery_code", code).send().await);
        }

        let body = app.anon().sign_in(&ada.email, &ada.password).send().await.expect(200);

        assert_eq!(body["challenge"]["kinds"], json!(["totp"]));
        let id = body["challenge"]["id"].as_str().unwrap();
        let answer = app.anon().answer(id, "recovery_code", &ada.recovery_codes[0]).send().await;
        assert_eq!(answer.status, 400);
        answer.refused_for("VALIDATION_ERROR", "kind", &["not_allowed"]);
    }

    with(|b| b.verification_by_code())
    async fn sign_in_through_a_provider_is_challenged(app) {
        let ada = app.two_step_user("ada").await;
        let acme = acme(&app).await;
        acme.person(person("ada at home", &ada.email));

        let challenge = challenge_id(&sign_in(&app, &acme, "acme").await);

        assert_eq!(identities(&ada).await, Vec::<String>::new(), "the link waits for the answer");
        let session = app.anon().answer(&challenge, "totp", &ada.authenticator.code()).send().await;
        let session = Session::of(&session);
        assert_eq!(session.user_id, ada.id);
        assert_eq!(claims(&session.access_token)["amr"], json!(["fed", "otp", "mfa"]));
        assert_eq!(identities(&ada).await, ["acme"]);
        app.clock.advance(seconds(30));
        let again = challenge_id(&sign_in(&app, &acme, "acme").await);
        let _ = Session::of(&app.anon().answer(&again, "totp", &ada.authenticator.code()).send().await);
    }

    with(|b| b.verification_by_code())
    async fn any_number_of_sign_ins_may_wait_for_their_answers(app) {
        let ada = app.two_step_user("ada").await;
        let challenges = [ada.challenged().await, ada.challenged().await, ada.challenged().await];

        for challenge in &challenges {
            let _ = Session::of(&app.anon().answer(challenge, "totp", &ada.authenticator.code()).send().await);
            app.clock.advance(seconds(30));
        }

        assert_eq!(session_count(&ada).await, 4);
    }

    with(|b| b.verification_by_code())
    async fn challenge_lives_ten_minutes(app) {
        let ada = app.two_step_user("ada").await;
        let (first, second) = (ada.challenged().await, ada.challenged().await);

        app.clock.advance(minutes(10) - seconds(1));
        let _ = Session::of(&app.anon().answer(&first, "totp", &ada.authenticator.code()).send().await);
        app.clock.advance(seconds(1));

        let late = app.anon().answer(&second, "recovery_code", &ada.recovery_codes[0]).send().await;
        late.refused(401, "INVALID_CHALLENGE");
    }

    with(|b| b.verification_by_code())
    async fn challenged_sign_in_is_audited_and_only_its_answer_is_a_sign_in(app) {
        let ada = app.two_step_user("ada").await;
        let sign_ins = |events: &[latchkey_testkit::Value]| {
            events.iter().filter(|event| event["event"] == "sign_in").count()
        };
        let before = sign_ins(&events(&app).await);
        app.clock.advance(seconds(1));

        let challenge = ada.challenged().await;

        let challenged = last(&app, "sign_in_challenged").await;
        assert_eq!((challenged["userId"].as_str(), sign_ins(&events(&app).await)), (Some(ada.id.as_str()), before));
        app.clock.advance(seconds(1));
        fail(&app.anon(), &ada, &challenge, 1).await;
        assert_eq!(last(&app, "second_factor_failed").await["userId"], ada.id);
        app.anon().answer(&challenge, "totp", &ada.authenticator.code()).send().await.expect(200);
        let events = events(&app).await;
        assert_eq!(sign_ins(&events), before + 1);
        assert_eq!(last(&app, "sign_in").await["details"]["amr"], json!(["pwd", "otp", "mfa"]));
    }

    with(|b| b.verification_by_code().cors_origins(&["https://app.example.org"]))
    async fn answer_has_the_cross_site_rules_of_a_sign_in(app) {
        let ada = app.two_step_user("ada").await;
        for origin in ["https://app.example.org", "https://evil.example"] {
            let sign_in = app.anon().sign_in(&ada.email, &ada.password).header("origin", origin).send().await;
            let challenge = challenge_id(&sign_in);

            let answer = app.anon().answer(&challenge, "totp", &ada.authenticator.code());
            let answer = answer.header("origin", origin).send().await;

            assert_eq!(answer.status, sign_in.status);
            for header in ["access-control-allow-origin", "access-control-allow-credentials", "vary"] {
                assert_eq!(answer.header(header), sign_in.header(header), "{origin}");
            }
            app.clock.advance(seconds(30));
        }
    }

    with(|b| b.verification_by_code())
    async fn responses_are_described(app) {
        let ada = app.two_step_user("ada").await;
        let challenge = ada.challenged().await;
        let requests = [
            ("POST /api/auth/sessions", app.anon().sign_in(&ada.email, &ada.password)),
            ("POST /api/auth/challenges/answer", app.anon().answer(&challenge, "totp", &ada.authenticator.code())),
        ];

        assert_successes_are_described(&app, requests).await;
    }
}
