//! Tests of sign-in by passkey: the session that it opens, and each refusal. Counters and backup flags are tested in
//! `passkey_copies`, ceremonies in `passkey_ceremonies`.

use latchkey_testkit::{Ceremony, Passkey, Session, TestApp, Value, both_stores, json, minutes, seconds};

use crate::audit::last;
use crate::passkey_calls::{passkeys, remove, session, shown, sign_in};
use crate::two_step_calls::{account, keys};

/// Ends a sign-in that was begun with this address.
async fn sign_in_as(app: &TestApp, email: &str, passkey: &Passkey) -> latchkey_testkit::Answer {
    let body = json!({"email": email});
    let begun = app.anon().post("/api/auth/passkeys/authentication-options", body).send().await.expect(200);
    let begun = Ceremony::of(&begun);
    let credential = passkey.clone().sign(&begun.options).to_json();
    app.anon().end_passkey_sign_in(&begun.id, &credential).send().await
}

both_stores! {
    async fn synced_passkey_is_both_factors(app) {
        let ada = app.passkey_user("ada").await;

        let answer = sign_in(&app.anon(), &mut ada.passkey.clone()).await;

        assert_eq!(keys(&answer.json()), ["accessToken", "csrfToken", "user"]);
        let opened = Session::of(&answer);
        assert_eq!(opened.user_id, ada.id);
        assert_eq!(shown(&opened), (vec!["mfa".to_owned(), "swk".to_owned()], json!(2)));
        assert!(opened.cookie.is_some());
    }

    async fn bound_passkey_has_a_method_of_its_own(app) {
        let ada = app.passkey_user_on("ada", &app.security_key()).await;

        let opened = session(&app.anon(), &mut ada.passkey.clone()).await;

        assert_eq!(shown(&opened), (vec!["hwk".to_owned(), "mfa".to_owned()], json!(2)));
        let refreshed = Session::of(&app.anon().refresh(&opened).send().await);
        assert_eq!(shown(&refreshed), shown(&opened));
    }

    async fn client_type_decides_between_cookie_and_body(app) {
        let ada = app.passkey_user("ada").await;
        for client_type in ["mobile", "desktop", "server"] {
            let request = app.anon().sign_in_by_passkey(&mut ada.passkey.clone()).await;
            let answer = request.client_type(client_type).send().await;

            let opened = Session::of(&answer);
            assert!(opened.cookie.is_none() && opened.refresh_token.is_some(), "{answer:?}");
            assert_eq!(keys(&answer.json()), ["accessToken", "refreshToken", "user"]);
        }
    }

    with(|b| b.verification_by_code())
    async fn two_step_asks_nothing_more(app) {
        let ada = app.two_step_user("ada").await;
        let (mut passkey, _) = ada.add_passkey(&app.phone()).await;

        let opened = session(&app.anon(), &mut passkey).await;

        let client = app.with_session(&opened);
        assert_eq!(account(&client).await["level"], 2);
        client.post("/api/auth/factors/recovery-codes", json!({})).send().await.expect(200);
    }

    async fn given_address_must_be_that_of_the_account(app) {
        let (ada, bob) = (app.passkey_user("ada").await, app.passkey_user("bob").await);

        for email in [&bob.email, "nobody@example.org", "ada@example.com"] {
            sign_in_as(&app, email, &ada.passkey).await.refused(401, "INVALID_PASSKEY");
        }

        for email in ["ada@example.org", "ADA@Example.org"] {
            assert_eq!(Session::of(&sign_in_as(&app, email, &ada.passkey).await).user_id, ada.id);
        }
    }

    async fn each_false_statement_is_refused_alike(app) {
        let ada = app.passkey_user_on("ada", &app.security_key()).await;
        let mut texts = Vec::new();

        for (what, lie) in crate::passkey_lies::of_assertions() {
            let begun = app.anon().begin_passkey_sign_in().await;
            let mut assertion = ada.passkey.clone().sign(&begun.options);
            lie(&mut assertion);
            let answer = app.anon().end_passkey_sign_in(&begun.id, &assertion.to_json()).send().await;
            assert_eq!((answer.status, answer.error_code().as_str()), (401, "INVALID_PASSKEY"), "{what}: {answer:?}");
            answer.refused(401, "INVALID_PASSKEY");
            texts.push(answer.text_without_id());
        }

        texts.dedup();
        assert_eq!(texts.len(), 1, "{texts:?}");
        let _ = session(&app.anon(), &mut ada.passkey.clone()).await;
    }

    async fn response_without_its_shape_is_refused(app) {
        let ada = app.passkey_user("ada").await;
        let begun = app.anon().begin_passkey_sign_in().await;
        let good = ada.passkey.clone().sign(&begun.options).to_json();

        let members = ["clientDataJSON", "authenticatorData", "signature"];
        for (what, credential) in crate::passkey_lies::shapes_of(&good, &members) {
            let answer = app.anon().end_passkey_sign_in(&begun.id, &credential).send().await;
            assert_eq!(answer.status, 400, "{what}: {answer:?}");
            assert_eq!(answer.refused(400, "VALIDATION_ERROR")["field"], "credential", "{what}");
        }

        app.anon().end_passkey_sign_in(&begun.id, &good).send().await.expect(200);
    }

    async fn signature_of_another_passkey_is_refused(app) {
        let (ada, bob) = (app.passkey_user("ada").await, app.passkey_user("bob").await);
        let begun = app.anon().begin_passkey_sign_in().await;
        let bobs = bob.passkey.clone().sign(&begun.options).to_json();
        let mut mixed = ada.passkey.clone().sign(&begun.options).to_json();
        mixed["response"]["signature"] = bobs["response"]["signature"].clone();
        let mut adas_id = bobs.clone();
        adas_id["id"] = mixed["id"].clone();
        adas_id["rawId"] = mixed["rawId"].clone();
        let mut bobs_handle = ada.passkey.clone().sign(&begun.options).to_json();
        bobs_handle["response"]["userHandle"] = bobs["response"]["userHandle"].clone();

        for credential in [mixed, adas_id, bobs_handle] {
            let answer = app.anon().end_passkey_sign_in(&begun.id, &credential).send().await;
            answer.refused(401, "INVALID_PASSKEY");
        }
    }

    async fn id_that_nobody_has_is_a_refusal_of_its_own(app) {
        let ada = app.passkey_user("ada").await;
        let options = ada.begin_passkey().await.options;
        let mut unknown = app.phone().create(&options).passkey;
        sign_in(&app.anon(), &mut unknown).await.refused(401, "UNKNOWN_PASSKEY");
        sign_in_as(&app, &ada.email, &unknown).await.refused(401, "UNKNOWN_PASSKEY");

        let dead = app.anon().begin_passkey_sign_in().await;
        app.clock.advance(minutes(10));

        let credential = unknown.sign(&dead.options).to_json();
        let answer = app.anon().end_passkey_sign_in(&dead.id, &credential).send().await;
        answer.refused(401, "INVALID_PASSKEY");
    }

    // Only a live ceremony tells that nobody has the passkey.
    async fn used_ceremony_does_not_tell_that_a_passkey_is_unknown(app) {
        let ada = app.passkey_user("ada").await;
        let mut unknown = app.phone().create(&ada.begin_passkey().await.options).passkey;
        let begun = app.anon().begin_passkey_sign_in().await;
        let credential = ada.passkey.clone().sign(&begun.options).to_json();
        app.anon().end_passkey_sign_in(&begun.id, &credential).send().await.expect(200);

        let credential = unknown.sign(&begun.options).to_json();
        let answer = app.anon().end_passkey_sign_in(&begun.id, &credential).send().await;

        answer.refused(401, "INVALID_PASSKEY");
    }

    async fn removed_passkey_is_unknown(app) {
        let ada = app.passkey_user("ada").await;
        let begun = app.anon().begin_passkey_sign_in().await;
        remove(&ada, &ada.passkey_id).send().await.expect(200);

        let credential = ada.passkey.clone().sign(&begun.options).to_json();
        let answer = app.anon().end_passkey_sign_in(&begun.id, &credential).send().await;

        answer.refused(401, "UNKNOWN_PASSKEY");
    }

    async fn ban_is_told_after_a_good_signature_alone(app) {
        let ada = app.passkey_user("ada").await;
        let body = json!({"banned": true});
        app.admin().patch(&format!("/api/auth/users/{}", ada.id), body).send().await.expect(200);

        sign_in(&app.anon(), &mut ada.passkey.clone()).await.refused(403, "USER_BANNED");

        let begun = app.anon().begin_passkey_sign_in().await;
        let mut assertion = ada.passkey.clone().sign(&begun.options);
        assertion.signature = Some(vec![7; 70]);
        let answer = app.anon().end_passkey_sign_in(&begun.id, &assertion.to_json()).send().await;
        answer.refused(401, "INVALID_PASSKEY");
    }

    async fn unverified_address_is_told_after_a_good_signature_alone(app) {
        let ada = app.passkey_user("ada").await;
        let body = json!({"requireEmailVerification": true});
        app.admin().put("/api/auth/config", body).send().await.expect(200);

        sign_in(&app.anon(), &mut ada.passkey.clone()).await.refused(403, "EMAIL_NOT_VERIFIED");

        let begun = app.anon().begin_passkey_sign_in().await;
        let mut assertion = ada.passkey.clone().sign(&begun.options);
        assertion.flags &= !latchkey_testkit::passkeys::flags::UV;
        let answer = app.anon().end_passkey_sign_in(&begun.id, &assertion.to_json()).send().await;
        answer.refused(401, "INVALID_PASSKEY");
    }

    async fn last_use_is_shown(app) {
        let ada = app.passkey_user("ada").await;
        app.clock.advance(minutes(3));

        let _ = session(&app.anon(), &mut ada.passkey.clone()).await;

        let list = passkeys(&ada).await;
        assert_eq!(list["passkeys"][0]["lastUsedAt"], "2026-03-02T10:03:00.000Z");
        assert_eq!(list["passkeys"][0]["createdAt"], "2026-03-02T10:00:00.000Z");
    }

    async fn sign_in_is_audited_with_its_methods(app) {
        let ada = app.passkey_user("ada").await;
        app.clock.advance(seconds(1));

        let _ = session(&app.anon(), &mut ada.passkey.clone()).await;

        let event = last(&app, "sign_in").await;
        assert_eq!((&event["userId"], &event["actor"]), (&json!(ada.id), &json!("user")));
        let mut methods: Vec<_> = event["details"]["amr"].as_array().unwrap().iter().map(Value::to_string).collect();
        methods.sort();
        assert_eq!(methods, ["\"mfa\"", "\"swk\""]);
    }

    async fn failed_sign_in_is_audited(app) {
        let ada = app.passkey_user("ada").await;
        let begun = app.anon().begin_passkey_sign_in().await;
        let mut wrong = ada.passkey.clone().sign(&begun.options);
        wrong.signature = Some(vec![7; 70]);

        let answer = app.anon().end_passkey_sign_in(&begun.id, &wrong.to_json()).send().await;

        answer.refused(401, "INVALID_PASSKEY");
        let event = last(&app, "sign_in_failed").await;
        assert_eq!(event["details"]["reason"], "wrong passkey");
    }

    with(|b| b.limits())
    async fn failures_share_the_limit_of_codes_and_good_ones_cost_nothing(app) {
        let ada = app.passkey_user("ada").await;
        let here = app.anon().at("203.0.113.9");
        let mut statuses = Vec::new();
        for _ in 0..200 {
            let begun = here.begin_passkey_sign_in().await;
            let mut wrong = ada.passkey.clone().sign(&begun.options);
            wrong.signature = Some(vec![7; 70]);
            statuses.push(here.end_passkey_sign_in(&begun.id, &wrong.to_json()).send().await.status);
            if statuses.last() == Some(&429) {
                break;
            }
        }
        assert_eq!(statuses.last(), Some(&429), "{statuses:?}");
        let codes = here.verify(&ada.email, "000000").send().await;
        codes.refused(429, "TOO_MANY_REQUESTS");

        let office = app.anon().at("203.0.113.10");
        for _ in 0..statuses.len() + 20 {
            let _ = session(&office, &mut ada.passkey.clone()).await;
        }
        office.verify(&ada.email, "000000").send().await.refused(400, "INVALID_CODE");
    }

    with(|b| b.limits())
    async fn options_have_a_limit_of_300_in_5_minutes(app) {
        let here = app.anon().at("203.0.113.9");
        for _ in 0..300 {
            here.request_options().send().await.expect(200);
        }

        let answer = here.request_options().send().await;

        answer.refused(429, "TOO_MANY_REQUESTS");
        assert!(answer.number("retry-after") > 0);
        app.anon().at("203.0.113.10").request_options().send().await.expect(200);
        app.clock.advance(minutes(5));
        here.request_options().send().await.expect(200);
    }

    // As at sign-in by password: a stranger's page must not sign a browser in.
    async fn stranger_page_signs_nobody_in(app) {
        let ada = app.passkey_user("ada").await;
        let sent = |request: latchkey_testkit::Request| {
            request.header("origin", "https://evil.example").header("sec-fetch-site", "cross-site").send()
        };
        let by_password = sent(app.anon().sign_in(&ada.email, &ada.password)).await;

        let by_passkey = sent(app.anon().sign_in_by_passkey(&mut ada.passkey.clone()).await).await;

        assert_eq!(by_passkey.status, by_password.status, "{by_passkey:?} {by_password:?}");
        assert_eq!(by_passkey.error_code(), by_password.error_code());
    }

    async fn other_credentials_of_the_request_do_not_matter(app) {
        let (ada, bob) = (app.passkey_user("ada").await, app.user("bob").await);
        let request = app.anon().sign_in_by_passkey(&mut ada.passkey.clone()).await;

        let answer = request.bearer(&bob.session.access_token).cookie(bob.session.cookie.as_ref().unwrap());

        assert_eq!(Session::of(&answer.send().await).user_id, ada.id);
    }
}
