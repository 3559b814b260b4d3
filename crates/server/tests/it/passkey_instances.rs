//! Tests of passkeys on two instances of one database: what one of them saw binds the other at once.

use latchkey_testkit::{Ceremony, Client, Passkey, Request, TestApp, both_stores, json};

use crate::passkey_calls::{passkey_count, remove, session, sign_in};
use crate::races::{one_wins, race};
use crate::two_step_calls::session_count;

/// Ends a registration with a new passkey on a phone.
fn register(app: &TestApp, client: &Client, begun: &Ceremony) -> Request {
    client.register_passkey(&begun.id, &app.phone().create(&begun.options).to_json())
}

/// Ends a sign-in.
fn enter(client: &Client, begun: &Ceremony, passkey: &Passkey) -> Request {
    client.end_passkey_sign_in(&begun.id, &passkey.clone().sign(&begun.options).to_json())
}

both_stores! {
    parallel async fn of_twenty_on_two_instances_one_signs_in(app) {
        let ada = app.passkey_user("ada").await;
        let beside = app.beside().await;
        let begun = app.anon().begin_passkey_sign_in().await;
        let clients = [app.anon(), beside.anon()];

        let answers = race(|number| enter(&clients[number % 2], &begun, &ada.passkey)).await;

        one_wins(&answers, 401, "INVALID_PASSKEY");
        assert_eq!(session_count(&ada).await, 2);
    }

    parallel async fn of_twenty_on_two_instances_one_registers(app) {
        let ada = app.user("ada").await;
        let beside = app.beside().await;
        let begun = ada.begin_passkey().await;
        let clients = [app.with_session(&ada.session), beside.with_session(&ada.session)];

        let answers = race(|number| register(&app, &clients[number % 2], &begun)).await;

        one_wins(&answers, 400, "VALIDATION_ERROR");
        assert_eq!(passkey_count(&ada).await, 1);
    }

    parallel with(|b| b.verification_by_code())
    async fn of_twenty_on_two_instances_one_answers_a_challenge(app) {
        let ada = app.two_step_user("ada").await;
        let (mut passkey, _) = ada.add_passkey(&app.phone()).await;
        let beside = app.beside().await;
        let challenge = ada.challenged().await;
        let begun = app.anon().challenge_options(&challenge).send().await.expect(200);
        let credential = passkey.sign(&begun["options"]).to_json();
        let clients = [app.anon(), beside.anon()];

        let answers = race(|number| clients[number % 2].answer_by_passkey(&challenge, &credential)).await;

        one_wins(&answers, 401, "INVALID_CHALLENGE");
        assert_eq!(session_count(&ada).await, 2);
    }

    async fn registration_belongs_to_its_session_on_the_other_instance_too(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let beside = app.beside().await;
        let begun = ada.begin_passkey().await;

        for session in [ada.sign_in_again().await, bob.session.clone()] {
            let answer = register(&app, &beside.with_session(&session), &begun).send().await;
            assert_eq!(answer.refused(400, "VALIDATION_ERROR")["field"], "ceremonyId");
        }

        register(&app, &beside.with_session(&ada.session), &begun).send().await.expect(200);
    }

    async fn ceremony_of_a_registration_signs_in_nowhere(app) {
        let ada = app.passkey_user("ada").await;
        let beside = app.beside().await;
        let begun = ada.begin_passkey().await;

        for client in [app.anon(), beside.anon()] {
            enter(&client, &begun, &ada.passkey).send().await.refused(401, "INVALID_PASSKEY");
        }
    }

    async fn counter_goes_back_on_no_instance(app) {
        let ada = app.passkey_user_on("ada", &app.security_key()).await;
        let beside = app.beside().await;
        let (mut key, mut copy) = (ada.passkey.clone(), ada.passkey.clone());
        for client in [app.anon(), beside.anon()] {
            let _ = session(&client, &mut key).await;
        }

        for client in [app.anon(), beside.anon()] {
            sign_in(&client, &mut copy).await.refused(401, "INVALID_PASSKEY");
        }

        let _ = session(&beside.anon(), &mut key).await;
    }

    async fn credential_id_is_taken_on_every_instance(app) {
        let (ada, bob) = (app.passkey_user("ada").await, app.user("bob").await);
        let beside = app.beside().await;
        let client = beside.with_session(&bob.session);
        let begun = client.begin_passkey().await;
        let mut creation = app.phone().create(&begun.options);
        creation.passkey.credential_id.clone_from(&ada.passkey.credential_id);
        creation.attested_id.clone_from(&ada.passkey.credential_id);

        let answer = client.register_passkey(&begun.id, &creation.to_json()).send().await;

        answer.refused(409, "PASSKEY_EXISTS");
    }

    async fn removal_binds_the_other_instance(app) {
        let ada = app.passkey_user("ada").await;
        let beside = app.beside().await;
        let _ = session(&beside.anon(), &mut ada.passkey.clone()).await;
        let begun = beside.anon().begin_passkey_sign_in().await;

        remove(&ada, &ada.passkey_id).send().await.expect(200);

        enter(&beside.anon(), &begun, &ada.passkey).send().await.refused(401, "UNKNOWN_PASSKEY");
        let list = beside.with_session(&ada.session).get("/api/auth/passkeys").send().await.expect(200);
        assert_eq!(list["passkeys"], json!([]));
    }
}
