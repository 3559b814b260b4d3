//! Tests of answers to challenges by passkey: as second factor at sign-in, at a step-up and at a reset.

use latchkey_testkit::passkeys::flags;
use latchkey_testkit::{
    Ceremony, Client, Passkey, Request, Session, TestApp, TwoStepUser, Value, both_stores, challenge_id,
    json, minutes, seconds,
};

use crate::described::assert_successes_are_described;
use crate::email_calls::{NEW_PASSWORD, reset, reset_token};
use crate::passkey_calls::{enable, passwordless, remove, shown};
use crate::two_step_calls::{account, claims, keys};

/// User with two-step sign-in by TOTP and by a passkey on a phone.
async fn two_ways(app: &TestApp, name: &str) -> (TwoStepUser, Passkey) {
    let user = app.two_step_user(name).await;
    let (passkey, _) = user.add_passkey(&app.phone()).await;
    (user, passkey)
}

/// Asks for the options of a challenge, and makes the request that answers it.
async fn answer(client: &Client, challenge: &str, passkey: &Passkey) -> Request {
    let body = client.challenge_options(challenge).send().await.expect(200);
    client.answer_by_passkey(challenge, &passkey.clone().sign(&body["options"]).to_json())
}

/// Begins a step-up; its challenge.
async fn step_up(client: &Client) -> Value {
    client.reauthenticate().send().await.expect(200)["challenge"].clone()
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn passkey_is_offered_first(app) {
        let (ada, _) = two_ways(&app, "ada").await;

        let answer = app.anon().sign_in(&ada.email, &ada.password).send().await;

        assert_eq!(answer.json()["challenge"]["kinds"], json!(["passkey", "totp", "recovery_code"]));
    }

    with(|b| b.verification_by_code())
    async fn options_list_the_passkeys_of_the_account(app) {
        let (ada, passkey) = two_ways(&app, "ada").await;
        let (other, _) = ada.add_passkey(&app.security_key()).await;
        app.passkey_user("bob").await;
        let challenge = ada.challenged().await;

        let body = app.anon().challenge_options(&challenge).send().await.expect(200);

        let expected = json!({"options": {
            "challenge": body["options"]["challenge"],
            "timeout": 300_000,
            "rpId": "localhost",
            "allowCredentials": [
                {"type": "public-key", "id": passkey.id(), "transports": ["hybrid", "internal"]},
                {"type": "public-key", "id": other.id(), "transports": ["usb"]},
            ],
            "userVerification": "required",
        }});
        assert_eq!(body, expected);
    }

    with(|b| b.verification_by_code())
    async fn right_answer_opens_a_session_of_level_two(app) {
        let (ada, passkey) = two_ways(&app, "ada").await;
        let challenge = ada.challenged().await;

        let opened = Session::of(&answer(&app.anon(), &challenge, &passkey).await.send().await);

        assert_eq!(shown(&opened), (["mfa", "pwd", "swk"].map(str::to_owned).to_vec(), json!(2)));
        answer_is_used_up(&app, &challenge, &passkey).await;
    }

    with(|b| b.verification_by_code())
    async fn each_false_statement_is_a_wrong_answer(app) {
        let (ada, _) = two_ways(&app, "ada").await;
        let (passkey, _) = ada.add_passkey(&app.security_key()).await;

        for (what, lie) in crate::passkey_lies::of_assertions() {
            if what == "no user handle" {
                continue;
            }
            let challenge = ada.challenged().await;
            let body = app.anon().challenge_options(&challenge).send().await.expect(200);
            let mut assertion = passkey.clone().sign(&body["options"]);
            lie(&mut assertion);
            let answer = app.anon().answer_by_passkey(&challenge, &assertion.to_json()).send().await;
            assert_eq!((answer.status, answer.error_code().as_str()), (401, "INVALID_SECOND_FACTOR"), "{what}: {answer:?}");
        }
    }

    // The account is known, and its passkeys were listed (WebAuthn section 7.2, step 6).
    with(|b| b.verification_by_code())
    async fn answer_needs_no_user_handle(app) {
        let (ada, passkey) = two_ways(&app, "ada").await;
        let challenge = ada.challenged().await;
        let body = app.anon().challenge_options(&challenge).send().await.expect(200);
        let mut assertion = passkey.clone().sign(&body["options"]);

        assertion.user_handle = None;

        let answer = app.anon().answer_by_passkey(&challenge, &assertion.to_json()).send().await;
        let _ = Session::of(&answer);
    }

    with(|b| b.verification_by_code())
    async fn fifth_wrong_answer_kills_the_challenge(app) {
        let (ada, passkey) = two_ways(&app, "ada").await;
        let challenge = ada.challenged().await;
        for _ in 0..5 {
            let body = app.anon().challenge_options(&challenge).send().await.expect(200);
            let mut wrong = passkey.clone().sign(&body["options"]);
            wrong.flags &= !flags::UV;
            let answer = app.anon().answer_by_passkey(&challenge, &wrong.to_json()).send().await;
            answer.refused(401, "INVALID_SECOND_FACTOR");
        }

        app.anon().challenge_options(&challenge).send().await.refused(401, "INVALID_CHALLENGE");

        let answer = app.anon().answer(&challenge, "recovery_code", &ada.recovery_codes[0]).send().await;
        answer.refused(401, "INVALID_CHALLENGE");
    }

    with(|b| b.verification_by_code())
    async fn malformed_credential_costs_nothing(app) {
        let (ada, passkey) = two_ways(&app, "ada").await;
        let challenge = ada.challenged().await;
        let body = app.anon().challenge_options(&challenge).send().await.expect(200);
        let good = passkey.clone().sign(&body["options"]).to_json();

        let members = ["clientDataJSON", "authenticatorData", "signature"];
        for (what, credential) in crate::passkey_lies::shapes_of(&good, &members) {
            let answer = app.anon().answer_by_passkey(&challenge, &credential).send().await;
            assert_eq!(answer.status, 400, "{what}: {answer:?}");
            assert_eq!(answer.refused(400, "VALIDATION_ERROR")["field"], "credential", "{what}");
        }

        let _ = Session::of(&app.anon().answer_by_passkey(&challenge, &good).send().await);
    }

    with(|b| b.verification_by_code())
    async fn newest_options_count(app) {
        let (ada, passkey) = two_ways(&app, "ada").await;
        let challenge = ada.challenged().await;
        let old = app.anon().challenge_options(&challenge).send().await.expect(200);
        let new = app.anon().challenge_options(&challenge).send().await.expect(200);
        let answer = |options: &Value| {
            app.anon().answer_by_passkey(&challenge, &passkey.clone().sign(options).to_json())
        };

        answer(&old["options"]).send().await.refused(401, "INVALID_SECOND_FACTOR");

        let _ = Session::of(&answer(&new["options"]).send().await);
    }

    with(|b| b.verification_by_code())
    async fn answer_by_other_options_is_wrong(app) {
        let (ada, passkey) = two_ways(&app, "ada").await;
        let (one, other) = (ada.challenged().await, ada.challenged().await);
        let entry = app.anon().begin_passkey_sign_in().await;
        let others = app.anon().challenge_options(&other).send().await.expect(200);

        // The first has no options yet.
        for options in [&others["options"], &entry.options] {
            let credential = passkey.clone().sign(options).to_json();
            let answer = app.anon().answer_by_passkey(&one, &credential).send().await;
            answer.refused(401, "INVALID_SECOND_FACTOR");
        }
        let credential = passkey.clone().sign(&others["options"]).to_json();
        let end = app.anon().end_passkey_sign_in(&entry.id, &credential).send().await;
        end.refused(401, "INVALID_PASSKEY");
    }

    with(|b| b.verification_by_code())
    async fn passkey_of_another_account_is_wrong(app) {
        let (ada, _) = two_ways(&app, "ada").await;
        let (_, bobs) = two_ways(&app, "bob").await;
        let challenge = ada.challenged().await;

        let answer = answer(&app.anon(), &challenge, &bobs).await.send().await;

        answer.refused(401, "INVALID_SECOND_FACTOR");
    }

    with(|b| b.verification_by_code())
    async fn change_of_passkeys_voids_challenges(app) {
        let (ada, passkey) = two_ways(&app, "ada").await;
        let before_added = ada.challenged().await;
        let (_, id) = ada.add_passkey(&app.phone()).await;
        app.anon().challenge_options(&before_added).send().await.refused(401, "INVALID_CHALLENGE");
        let before_removed = ada.challenged().await;
        let request = answer(&app.anon(), &before_removed, &passkey).await;

        remove(&ada, &id).send().await.expect(200);

        request.send().await.refused(401, "INVALID_CHALLENGE");
    }

    with(|b| b.verification_by_code())
    async fn options_are_for_challenges_that_accept_a_passkey(app) {
        let ada = app.two_step_user("ada").await;
        let totp_only = ada.challenged().await;

        app.anon().challenge_options(&totp_only).send().await.refused(400, "VALIDATION_ERROR");
        let unknown = app.anon().challenge_options(&"A".repeat(43)).send().await;
        unknown.refused(401, "INVALID_CHALLENGE");
        app.anon().challenge_options("x").send().await.refused(401, "INVALID_CHALLENGE");
        let missing = app.anon().post("/api/auth/challenges/passkey-options", json!({})).send().await;
        assert_eq!(missing.refused(400, "VALIDATION_ERROR")["field"], "challengeId");

        let _ = Session::of(&app.anon().answer(&totp_only, "totp", &ada.authenticator.code()).send().await);
    }

    async fn passkey_steps_up_where_two_step_is_off(app) {
        let ada = app.passkey_user("ada").await;
        app.clock.advance(minutes(11));
        let challenge = step_up(&ada).await;
        assert_eq!(challenge["kinds"], json!(["passkey", "password"]));
        assert_eq!(account(&ada).await["reauthenticateWith"], json!(["passkey", "password"]));

        let id = challenge["id"].as_str().unwrap();
        let body = answer(&ada, id, &ada.passkey).await.send().await.expect(200);

        assert_eq!(keys(&body), ["accessToken", "expiresAt", "user"]);
        let token = body["accessToken"].as_str().unwrap();
        let mut methods: Vec<_> =
            claims(token)["amr"].as_array().unwrap().iter().map(|method| method.as_str().unwrap().to_owned()).collect();
        methods.sort();
        assert_eq!((methods.join(" "), &claims(token)["aal"]), ("mfa pwd swk".to_owned(), &json!(2)));
        remove(&app.bearing(token), &ada.passkey_id).send().await.expect(200);
        let refreshed = Session::of(&ada.refreshed().await);
        assert_eq!(shown(&refreshed), (vec!["pwd".to_owned()], json!(null)));
    }

    async fn passkey_steps_up_where_nothing_else_could(app) {
        let client = app.with_session(&passwordless(&app).await);
        let (passkey, id) = client.add_passkey(&app.phone()).await;
        app.clock.advance(minutes(11));
        let challenge = step_up(&client).await;
        assert_eq!(challenge["kinds"], json!(["passkey"]));

        let answered = answer(&client, challenge["id"].as_str().unwrap(), &passkey).await.send().await.expect(200);

        let fresh = app.bearing(answered["accessToken"].as_str().unwrap());
        fresh.add_passkey(&app.phone()).await;
        remove(&fresh, &id).send().await.expect(200);
    }

    async fn step_up_belongs_to_its_session(app) {
        let ada = app.passkey_user("ada").await;
        let challenge = step_up(&ada).await;
        let id = challenge["id"].as_str().unwrap();
        let other = app.with_session(&ada.sign_in_again().await);

        for client in [other, app.anon()] {
            let refused = answer(&client, id, &ada.passkey).await.send().await;
            refused.refused(401, "AUTH_UNAUTHORIZED");
        }

        answer(&ada, id, &ada.passkey).await.send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn passkey_answers_at_a_reset(app) {
        let (ada, passkey) = two_ways(&app, "ada").await;
        let token = reset_token(&app, &ada.email).await;
        let refused = reset(&app.anon(), &token, NEW_PASSWORD).send().await;
        let refused = refused.refused(403, "SECOND_FACTOR_REQUIRED");
        assert_eq!(refused["challenge"]["kinds"][0], "passkey");
        let challenge = refused["challenge"]["id"].as_str().unwrap();

        let body = answer(&app.anon(), challenge, &passkey).await.send().await.expect(200);

        reset(&app.anon(), body["token"].as_str().unwrap(), NEW_PASSWORD).send().await.expect(200);
        let _ = challenge_id(&app.anon().sign_in(&ada.email, NEW_PASSWORD).send().await);
    }

    // Passkeys off: no new ones and no sign-in by one, but who has one is still asked for it.
    with(|b| b.verification_by_code())
    async fn passkey_answers_while_passkeys_are_off(app) {
        let (ada, passkey) = two_ways(&app, "ada").await;
        enable(&app, false).await;
        let challenge = ada.challenged().await;

        let _ = Session::of(&answer(&app.anon(), &challenge, &passkey).await.send().await);
    }

    with(|b| b.verification_by_code())
    async fn failures_of_passkeys_do_not_lock_the_codes(app) {
        let (ada, passkey) = two_ways(&app, "ada").await;
        for _ in 0..12 {
            let challenge = ada.challenged().await;
            let body = app.anon().challenge_options(&challenge).send().await.expect(200);
            let mut wrong = passkey.clone().sign(&body["options"]);
            wrong.signature = Some(vec![1; 64]);
            let answer = app.anon().answer_by_passkey(&challenge, &wrong.to_json()).send().await;
            answer.refused(401, "INVALID_SECOND_FACTOR");
            app.clock.advance(seconds(1));
        }

        let challenge = ada.challenged().await;

        let code = ada.authenticator.code();
        let _ = Session::of(&app.anon().answer(&challenge, "totp", &code).send().await);
    }

    with(|b| b.verification_by_code())
    async fn responses_are_described(app) {
        let (ada, passkey) = two_ways(&app, "ada").await;
        let challenge = ada.challenged().await;
        let request = answer(&app.anon(), &challenge, &passkey).await;
        let other = ada.challenged().await;
        let requests = [
            ("POST /api/auth/challenges/passkey-options", app.anon().challenge_options(&other)),
            ("POST /api/auth/challenges/answer", request),
        ];

        assert_successes_are_described(&app, requests).await;
    }
}

/// Asserts that neither the challenge nor a sign-in ceremony takes another answer of the passkey.
async fn answer_is_used_up(app: &TestApp, challenge: &str, passkey: &Passkey) {
    app.anon().challenge_options(challenge).send().await.refused(401, "INVALID_CHALLENGE");
    let entry: Ceremony = app.anon().begin_passkey_sign_in().await;
    let credential = passkey.clone().sign(&entry.options).to_json();
    app.anon().answer_by_passkey(challenge, &credential).send().await.refused(401, "INVALID_CHALLENGE");
}
