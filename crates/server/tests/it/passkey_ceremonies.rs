//! Tests of the ceremonies of passkeys: lifetime, one success on all instances, and to whom and to which kind they belong.

use latchkey_testkit::{
    Answer, Ceremony, Client, Passkey, Session, TestApp, both_stores, json, minutes, seconds,
};

use crate::passkey_calls::passkey_count;

/// Ends a registration with a new passkey.
async fn register(app: &TestApp, client: &Client, begun: &Ceremony) -> Answer {
    client.register_passkey(&begun.id, &app.phone().create(&begun.options).to_json()).send().await
}

/// Ends a sign-in.
async fn sign_in(client: &Client, begun: &Ceremony, passkey: &Passkey) -> Answer {
    client.end_passkey_sign_in(&begun.id, &passkey.clone().sign(&begun.options).to_json()).send().await
}

/// Asserts that a registration is refused for its ceremony.
#[track_caller]
fn is_unknown(answer: &Answer) {
    assert_eq!(answer.refused(400, "VALIDATION_ERROR")["field"], "ceremonyId", "{answer:?}");
}

both_stores! {
    async fn registration_may_last_ten_minutes(app) {
        let ada = app.user("ada").await;
        let (early, late) = (ada.begin_passkey().await, ada.begin_passkey().await);
        app.clock.advance(minutes(10) - seconds(1));
        register(&app, &ada, &early).await.expect(200);

        app.clock.advance(seconds(1));

        is_unknown(&register(&app, &ada, &late).await);
    }

    async fn sign_in_may_last_ten_minutes(app) {
        let ada = app.passkey_user("ada").await;
        let client = app.anon();
        let (early, late) = (client.begin_passkey_sign_in().await, client.begin_passkey_sign_in().await);
        app.clock.advance(minutes(10) - seconds(1));
        sign_in(&client, &early, &ada.passkey).await.expect(200);

        app.clock.advance(seconds(1));

        sign_in(&client, &late, &ada.passkey).await.refused(401, "INVALID_PASSKEY");
    }

    async fn registration_succeeds_once(app) {
        let ada = app.user("ada").await;
        let begun = ada.begin_passkey().await;
        register(&app, &ada, &begun).await.expect(200);

        is_unknown(&register(&app, &ada, &begun).await);

        assert_eq!(passkey_count(&ada).await, 1);
    }

    async fn sign_in_succeeds_once(app) {
        let ada = app.passkey_user("ada").await;
        let begun = app.anon().begin_passkey_sign_in().await;
        let credential = ada.passkey.clone().sign(&begun.options).to_json();
        app.anon().end_passkey_sign_in(&begun.id, &credential).send().await.expect(200);

        for _ in 0..2 {
            let again = app.anon().end_passkey_sign_in(&begun.id, &credential).send().await;
            again.refused(401, "INVALID_PASSKEY");
        }
        sign_in(&app.anon(), &begun, &ada.passkey).await.refused(401, "INVALID_PASSKEY");
    }

    // The use is forgotten with the ceremony, not before.
    async fn use_is_remembered_while_the_ceremony_lives(app) {
        let ada = app.passkey_user("ada").await;
        let begun = app.anon().begin_passkey_sign_in().await;
        sign_in(&app.anon(), &begun, &ada.passkey).await.expect(200);

        for _ in 0..12 {
            app.clock.advance(minutes(1));
            app.run_jobs().await;
            sign_in(&app.anon(), &begun, &ada.passkey).await.refused(401, "INVALID_PASSKEY");
        }
    }

    async fn failure_does_not_use_a_ceremony_up(app) {
        let ada = app.passkey_user("ada").await;
        let begun = ada.begin_passkey().await;
        let mut wrong = app.phone().create(&begun.options);
        "example.org".clone_into(&mut wrong.rp_id);
        ada.register_passkey(&begun.id, &wrong.to_json()).send().await.refused(400, "VALIDATION_ERROR");
        let entered = app.anon().begin_passkey_sign_in().await;
        let mut wrong = ada.passkey.clone().sign(&entered.options);
        "example.org".clone_into(&mut wrong.rp_id);
        let refused = app.anon().end_passkey_sign_in(&entered.id, &wrong.to_json()).send().await;
        refused.refused(401, "INVALID_PASSKEY");

        register(&app, &ada, &begun).await.expect(200);
        sign_in(&app.anon(), &entered, &ada.passkey).await.expect(200);
    }

    async fn registration_belongs_to_its_session(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let other_session = app.with_session(&ada.sign_in_again().await);
        let begun = ada.begin_passkey().await;

        is_unknown(&register(&app, &other_session, &begun).await);
        is_unknown(&register(&app, &bob, &begun).await);
        app.anon().register_passkey(&begun.id, &json!({})).send().await.refused(401, "AUTH_UNAUTHORIZED");

        let refreshed = Session::of(&ada.refreshed().await);
        register(&app, &app.with_session(&refreshed), &begun).await.expect(200);
    }

    async fn registration_ends_with_its_session(app) {
        let ada = app.user("ada").await;
        let begun = ada.begin_passkey().await;
        ada.sign_out(&ada.session).send().await.expect(200);

        register(&app, &ada, &begun).await.refused(401, "AUTH_UNAUTHORIZED");

        let session = ada.sign_in_again().await;
        is_unknown(&register(&app, &app.with_session(&session), &begun).await);
    }

    async fn each_kind_is_unknown_to_the_other(app) {
        let ada = app.passkey_user("ada").await;
        let (registration, entry) = (ada.begin_passkey().await, app.anon().begin_passkey_sign_in().await);
        let passkey = &ada.passkey;

        sign_in(&app.anon(), &registration, passkey).await.refused(401, "INVALID_PASSKEY");
        let options = json!({
            "rp": {"id": "localhost"}, "user": registration.options["user"], "challenge": entry.options["challenge"],
        });
        is_unknown(&register(&app, &ada, &Ceremony { id: entry.id.clone(), options }).await);

        sign_in(&app.anon(), &entry, passkey).await.expect(200);
        register(&app, &ada, &registration).await.expect(200);
    }

    // A conditional ceremony demands less, so its id must not pass for a prompted one.
    async fn challenge_of_another_ceremony_is_refused(app) {
        let ada = app.passkey_user("ada").await;
        let (one, other) = (ada.begin_passkey().await, ada.begin_passkey().await);
        let mixed = Ceremony { id: one.id, options: other.options };
        let refused = register(&app, &ada, &mixed).await;
        assert_eq!(refused.refused(400, "VALIDATION_ERROR")["field"], "credential");
        let (one, other) = (app.anon().begin_passkey_sign_in().await, app.anon().begin_passkey_sign_in().await);

        let mixed = Ceremony { id: one.id, options: other.options };

        sign_in(&app.anon(), &mixed, &ada.passkey).await.refused(401, "INVALID_PASSKEY");
    }

    async fn unknown_ids_are_one_refusal(app) {
        let ada = app.passkey_user("ada").await;
        let good = app.anon().begin_passkey_sign_in().await;
        let mut texts = Vec::new();

        let cut = &good.id[..good.id.len() - 1];
        for id in ["", "x", "…", cut, &format!("{}A", good.id), &"A".repeat(good.id.len()), &"A".repeat(20_000)] {
            let begun = Ceremony { id: id.to_owned(), ..good.clone() };
            let answer = sign_in(&app.anon(), &begun, &ada.passkey).await;
            answer.refused(401, "INVALID_PASSKEY");
            texts.push(answer.text_without_id());
            is_unknown(&register(&app, &ada, &Ceremony { id: id.to_owned(), ..ada.begin_passkey().await }).await);
        }

        texts.dedup();
        assert_eq!(texts.len(), 1, "{texts:?}");
        let missing = app.anon().post("/api/auth/passkeys/sign-in", json!({"credential": {}})).send().await;
        assert_eq!(missing.refused(400, "VALIDATION_ERROR")["field"], "ceremonyId");
    }

    async fn other_instance_ends_a_ceremony_and_the_first_knows(app) {
        let ada = app.passkey_user("ada").await;
        let beside = app.beside().await;
        let there = beside.bearing(&ada.session.access_token);
        let (registration, entry) = (ada.begin_passkey().await, app.anon().begin_passkey_sign_in().await);

        register(&app, &there, &registration).await.expect(200);
        sign_in(&beside.anon(), &entry, &ada.passkey).await.expect(200);

        is_unknown(&register(&app, &ada, &registration).await);
        is_unknown(&register(&app, &there, &registration).await);
        for client in [app.anon(), beside.anon()] {
            sign_in(&client, &entry, &ada.passkey).await.refused(401, "INVALID_PASSKEY");
        }
    }

    async fn ceremony_survives_a_restart(mut app) {
        let ada = app.passkey_user("ada").await;
        let (registration, entry) = (ada.begin_passkey().await, app.anon().begin_passkey_sign_in().await);

        app.restart().await;

        register(&app, &ada, &registration).await.expect(200);
        sign_in(&app.anon(), &entry, &ada.passkey).await.expect(200);
    }
}
