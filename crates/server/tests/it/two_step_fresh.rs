//! Tests of calls that need a recent sign-in, and of the step-up that stands in for it.

use latchkey_testkit::{
    Client, Request, Session, TestApp, Value, both_stores, challenge_id, json, minutes, seconds,
};

use crate::described::assert_successes_are_described;
use crate::email_calls::{NEW_PASSWORD, other_than};
use crate::oauth_calls::{acme, identities, link, person, session};
use crate::two_step_calls::{account, claims, keys, stepped_up};

/// Calls that always need a fresh token, each with a body that is wrong where it has one.
fn fresh_calls(client: &Client, id: &str) -> Vec<Request> {
    vec![
        client.post("/api/auth/factors/totp", json!({"name": 5})),
        client.delete(&format!("/api/auth/factors/totp/{id}")),
        client.post("/api/auth/factors/two-step", json!({"enabled": "perhaps"})),
        client.post("/api/auth/factors/recovery-codes", json!({})),
        client.post("/api/auth/email/change", json!({"newEmail": 5})),
        link(client, "nobody"),
        client.delete("/api/auth/identities/nobody"),
    ]
}

/// Steps up by password; the new access token.
async fn by_password(client: &Client, password: &str) -> String {
    let challenge = challenge_id(&client.reauthenticate().send().await);
    let body = client.answer(&challenge, "password", password).send().await.expect(200);
    body["accessToken"].as_str().unwrap().to_owned()
}

/// Session of a user of the provider, who has no password.
async fn passwordless(app: &TestApp) -> Session {
    let acme = acme(app).await;
    acme.person(person("ada at home", "ada@example.org"));
    session(app, &acme, "acme").await
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn token_is_fresh_for_ten_minutes(app) {
        let ada = app.user("ada").await;

        app.clock.advance(minutes(10));
        ada.post("/api/auth/factors/totp", json!({})).send().await.expect(200);
        app.clock.advance(seconds(1));

        let refusal = ada.post("/api/auth/factors/totp", json!({})).send().await;
        let refusal = refusal.refused(403, "REAUTHENTICATION_REQUIRED");
        let remedy = refusal["nextAction"].as_str().unwrap();
        assert!(remedy.contains("/api/auth/reauthenticate"), "{remedy}");
    }

    with(|b| b.verification_by_code())
    async fn stale_token_is_refused_before_any_field_is_judged(app) {
        let ada = app.two_step_user("ada").await;
        app.clock.advance(minutes(10));

        for request in fresh_calls(&ada, &ada.factor_id) {
            request.send().await.refused(403, "REAUTHENTICATION_REQUIRED");
        }

        assert_eq!(account(&ada).await["totp"].as_array().unwrap().len(), 1);
    }

    with(|b| b.verification_by_code())
    async fn missing_token_is_refused_before_freshness(app) {
        for request in fresh_calls(&app.anon(), "none").into_iter().chain(fresh_calls(&app.bearing("x"), "none")) {
            request.send().await.refused(401, "AUTH_UNAUTHORIZED");
        }
    }

    with(|b| b.verification_by_code())
    async fn password_change_needs_a_fresh_token_while_two_step_is_on(app) {
        let (ada, bob) = (app.two_step_user("ada").await, app.user("bob").await);
        app.clock.advance(minutes(10));
        let body = json!({"currentPassword": ada.password, "newPassword": NEW_PASSWORD});

        ada.post("/api/auth/password", body.clone()).send().await.refused(403, "REAUTHENTICATION_REQUIRED");
        ada.post("/api/auth/password", json!({})).send().await.refused(403, "REAUTHENTICATION_REQUIRED");
        app.anon().post("/api/auth/password", body.clone()).send().await.refused(401, "AUTH_UNAUTHORIZED");
        bob.post("/api/auth/password", body.clone()).send().await.expect(200);

        let fresh = app.bearing(&stepped_up(&app, &ada, &ada).await);
        fresh.post("/api/auth/password", body).send().await.expect(200);
    }

    // A refused caller learns nothing, and spends nothing of the owner's guesses.
    with(|b| b.verification_by_code().limits())
    async fn stale_token_counts_no_guess(app) {
        let ada = app.two_step_user("ada").await;
        app.clock.advance(minutes(10));
        let change = |client: &Client, current: &str| {
            client.post("/api/auth/password", json!({"currentPassword": current, "newPassword": NEW_PASSWORD}))
        };
        for _ in 0..12 {
            change(&ada, "a wrong password").send().await.refused(403, "REAUTHENTICATION_REQUIRED");
        }

        let fresh = app.bearing(&stepped_up(&app, &ada, &ada).await);

        change(&fresh, &ada.password).send().await.expect(200);
        assert!(!crate::audit::events(&app).await.iter().any(|event| event["event"] == "sign_in_failed"));
    }

    with(|b| b.verification_by_code())
    async fn second_call_of_an_enrolment_needs_no_fresh_token(app) {
        let ada = app.user("ada").await;
        app.clock.advance(minutes(9));
        let (phone, id) = app.begin_totp(&ada).await;
        app.clock.advance(minutes(5));

        let answer = ada.confirm_totp(&id, &phone.code()).send().await;

        let _ = Session::of(&answer);
    }

    with(|b| b.verification_by_code())
    async fn links_of_identities_need_a_fresh_token(app) {
        let ada = app.user("ada").await;
        let acme = acme(&app).await;
        acme.person(person("ada at home", "home@example.org"));
        app.clock.advance(minutes(10) + seconds(1));
        link(&ada, "acme").send().await.refused(403, "REAUTHENTICATION_REQUIRED");

        let fresh = app.bearing(&by_password(&ada, &ada.password).await);

        let code = crate::oauth_calls::link_code(&fresh, &acme, "acme").await;
        // Only the first call of a ceremony needs it.
        crate::oauth_calls::exchange(&ada, &code, crate::oauth_calls::VERIFIER).send().await.expect(200);
        assert_eq!(identities(&ada).await, ["acme"]);
        ada.delete("/api/auth/identities/acme").send().await.refused(403, "REAUTHENTICATION_REQUIRED");
        fresh.delete("/api/auth/identities/acme").send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn password_steps_up_where_two_step_is_off(app) {
        let ada = app.user("ada").await;
        app.clock.advance(minutes(12));
        let begun = ada.reauthenticate().send().await.expect(200);
        assert_eq!(begun["challenge"]["kinds"], json!(["password"]));

        let id = begun["challenge"]["id"].as_str().unwrap();
        let answer = ada.answer(id, "password", &ada.password).send().await;

        let body = answer.expect(200);
        assert_eq!((keys(&body), answer.set_cookies().len()), (vec!["accessToken", "expiresAt", "user"], 0));
        let claims = claims(body["accessToken"].as_str().unwrap());
        assert_eq!((claims.get("aal"), &claims["amr"]), (None, &json!(["otp", "pwd"])));
        assert_eq!(claims["auth_time"], 1_772_445_600 + 12 * 60);
        let before = crate::two_step_calls::claims(&ada.session.access_token);
        assert_eq!((&body["user"]["id"], &claims["sid"]), (&before["sub"], &before["sid"]));
    }

    with(|b| b.verification_by_code())
    async fn second_factor_steps_up_where_two_step_is_on(app) {
        let ada = app.two_step_user("ada").await;
        app.clock.advance(minutes(11));
        let begun = ada.reauthenticate().send().await.expect(200);
        assert_eq!(begun["challenge"]["kinds"], json!(["totp", "recovery_code"]));
        let id = begun["challenge"]["id"].as_str().unwrap();

        let body = ada.answer(id, "recovery_code", &ada.recovery_codes[0]).send().await.expect(200);

        let token = body["accessToken"].as_str().unwrap();
        assert_eq!(claims(token)["aal"], 2);
        app.bearing(token).post("/api/auth/factors/recovery-codes", json!({})).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn mailed_code_steps_up_where_there_is_no_password(app) {
        let client = app.with_session(&passwordless(&app).await);
        app.clock.advance(minutes(11));
        let begun = client.reauthenticate().send().await.expect(200);
        assert_eq!(begun["challenge"]["kinds"], json!(["email_code"]));
        let id = begun["challenge"]["id"].as_str().unwrap();
        let sent = app.anon().post("/api/auth/challenges/send-code", json!({"challengeId": id})).send().await;
        assert_eq!(sent.expect(202)["success"], true);
        let code = app.mail_to("ada@example.org").await.code();
        assert_eq!(code.len(), 6);

        let wrong = client.answer(id, "email_code", other_than(&code)).send().await;
        wrong.refused(401, "INVALID_SECOND_FACTOR");
        let body = client.answer(id, "email_code", &code).send().await.expect(200);

        let fresh = app.bearing(body["accessToken"].as_str().unwrap());
        fresh.post("/api/auth/factors/totp", json!({})).send().await.expect(200);
    }

    // An access token, a cookie or a refresh token that was copied before.
    with(|b| b.verification_by_code())
    async fn copies_gain_nothing_when_the_owner_steps_up(app) {
        let ada = app.two_step_user("ada").await;
        app.clock.advance(minutes(11));
        let begin = |client: &Client| client.post("/api/auth/factors/totp", json!({}));

        let fresh = app.bearing(&stepped_up(&app, &ada, &ada).await);

        begin(&fresh).send().await.expect(200);
        begin(&ada).send().await.refused(403, "REAUTHENTICATION_REQUIRED");
        let refreshed = Session::of(&app.anon().refresh(&ada.session).send().await);
        begin(&app.with_session(&refreshed)).send().await.refused(403, "REAUTHENTICATION_REQUIRED");
        begin(&fresh).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn wrong_password_costs_an_attempt_and_the_fifth_kills_the_challenge(app) {
        let ada = app.user("ada").await;
        let challenge = challenge_id(&ada.reauthenticate().send().await);
        for _ in 0..5 {
            let answer = ada.answer(&challenge, "password", "a wrong password").send().await;
            answer.refused(401, "INVALID_CREDENTIALS");
        }

        let answer = ada.answer(&challenge, "password", &ada.password).send().await;

        answer.refused(401, "INVALID_CHALLENGE");
        let _ = by_password(&ada, &ada.password).await;
    }

    // Neither a password nor a mailed code is a second factor.
    with(|b| b.verification_by_code().limits())
    async fn wrong_password_at_a_step_up_is_a_failed_sign_in_and_no_second_factor(app) {
        let ada = app.user("ada").await;
        app.run_jobs().await;
        let before = app.mail().total();
        for _ in 0..6 {
            let challenge = challenge_id(&ada.reauthenticate().send().await);
            ada.answer(&challenge, "password", "a wrong password").send().await.refused(401, "INVALID_CREDENTIALS");
        }

        let events = crate::audit::events(&app).await;

        let failed: Vec<_> = events.iter().filter(|event| event["event"] == "sign_in_failed").collect();
        assert_eq!(failed.len(), 6, "{events:#?}");
        let is_hers = |event: &&Value| event["userId"] == ada.id && event["details"]["reason"] == "wrong password";
        assert!(failed.iter().all(is_hers), "{failed:#?}");
        assert!(!events.iter().any(|event| event["event"] == "second_factor_failed"), "{events:#?}");
        app.run_jobs().await;
        assert_eq!(app.mail().total(), before);
    }

    with(|b| b.verification_by_code().limits())
    async fn wrong_mailed_code_at_a_step_up_is_a_failed_sign_in_and_no_second_factor(app) {
        let client = app.with_session(&passwordless(&app).await);
        let challenge = challenge_id(&client.reauthenticate().send().await);
        let send = app.anon().post("/api/auth/challenges/send-code", json!({"challengeId": challenge}));
        send.send().await.expect(202);
        let code = app.mail_to("ada@example.org").await.code();
        for _ in 0..5 {
            let wrong = client.answer(&challenge, "email_code", other_than(&code)).send().await;
            wrong.refused(401, "INVALID_SECOND_FACTOR");
        }

        let events = crate::audit::events(&app).await;

        let failed: Vec<_> = events.iter().filter(|event| event["event"] == "sign_in_failed").collect();
        assert_eq!((failed.len(), &failed[0]["details"]["reason"]), (5, &json!("wrong code")), "{events:#?}");
        assert!(!events.iter().any(|event| event["event"] == "second_factor_failed"), "{events:#?}");
        app.run_jobs().await;
        assert_eq!(app.mail().count("ada@example.org"), 1, "the code alone");
    }

    with(|b| b.verification_by_code())
    async fn newer_step_up_of_a_session_replaces_the_older(app) {
        let ada = app.user("ada").await;
        let other = app.with_session(&ada.sign_in_again().await);
        let (old, others) =
            (challenge_id(&ada.reauthenticate().send().await), challenge_id(&other.reauthenticate().send().await));
        let new = challenge_id(&ada.reauthenticate().send().await);

        ada.answer(&old, "password", &ada.password).send().await.refused(401, "INVALID_CHALLENGE");

        ada.answer(&new, "password", &ada.password).send().await.expect(200);
        other.answer(&others, "password", &ada.password).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn step_up_ends_with_its_session(app) {
        let ada = app.user("ada").await;
        let challenge = challenge_id(&ada.reauthenticate().send().await);
        app.anon().sign_out(&ada.session).send().await.expect(200);

        let answer = ada.answer(&challenge, "password", &ada.password).send().await;

        assert_eq!(answer.status, 401, "{answer:?}");
    }

    async fn identity_alone_with_an_unverified_address_signs_in_again(app) {
        let acme = acme(&app).await;
        let mut unverified = person("ada at home", "ada@example.org");
        unverified["email_verified"] = json!(false);
        acme.person(unverified);
        let client = app.with_session(&session(&app, &acme, "acme").await);

        let refusal = client.reauthenticate().send().await.refused(403, "REAUTHENTICATION_REQUIRED");

        assert!(refusal["nextAction"].as_str().unwrap().contains("Sign in again"), "{refusal}");
        assert_eq!(account(&client).await["reauthenticateWith"], json!([]));
    }

    with(|b| b.verification_by_code())
    async fn account_says_until_when_its_token_is_fresh(app) {
        let ada = app.user("ada").await;
        app.clock.advance(minutes(11));
        let before = account(&ada).await;

        let fresh = app.bearing(&by_password(&ada, &ada.password).await);

        let times = |account: &latchkey_testkit::Value| [account["authTime"].clone(), account["freshUntil"].clone()];
        assert_eq!(times(&before), ["2026-03-02T10:00:00.000Z", "2026-03-02T10:10:00.000Z"]);
        assert_eq!(times(&account(&fresh).await), ["2026-03-02T10:11:00.000Z", "2026-03-02T10:21:00.000Z"]);
    }

    with(|b| b.verification_by_code())
    async fn step_up_is_audited_and_changes_no_session(app) {
        let ada = app.user("ada").await;
        let before = ada.get("/api/auth/sessions").send().await.expect(200);
        let _ = by_password(&ada, &ada.password).await;

        let event = crate::audit::last(&app, "reauthenticated").await;

        assert_eq!((&event["userId"], &event["sessionId"]), (&json!(ada.id), &before["sessions"][0]["id"]));
        assert_eq!(ada.get("/api/auth/sessions").send().await.expect(200), before);
    }

    with(|b| b.verification_by_code())
    async fn responses_are_described(app) {
        let ada = app.user("ada").await;
        let challenge = challenge_id(&ada.reauthenticate().send().await);
        let client = app.with_session(&passwordless_beside(&app).await);
        let mailed = challenge_id(&client.reauthenticate().send().await);
        let send = app.anon().post("/api/auth/challenges/send-code", json!({"challengeId": mailed}));
        let requests = [
            ("GET /api/auth/account", ada.get("/api/auth/account")),
            ("POST /api/auth/challenges/answer", ada.answer(&challenge, "password", &ada.password)),
            ("POST /api/auth/reauthenticate", ada.reauthenticate()),
            ("POST /api/auth/challenges/send-code", send),
        ];

        assert_successes_are_described(&app, requests).await;
    }
}

/// Session of another user of the provider, who has no password.
async fn passwordless_beside(app: &TestApp) -> Session {
    let acme = acme(app).await;
    acme.person(person("bob at home", "bob@example.org"));
    session(app, &acme, "acme").await
}
