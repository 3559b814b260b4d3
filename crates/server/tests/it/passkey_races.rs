//! Tests of twenty concurrent calls of passkeys.

use latchkey_testkit::{Answer, Ceremony, Client, Session, TestApp, Value, both_stores, json};

use crate::passkey_calls::{passkey_count, passwordless, remove, required, session};
use crate::races::{count, one_wins, race};
use crate::two_step_calls::{account, session_count};

/// Number of answers with this refusal.
fn refused(answers: &[Answer], status: u16, code: &str) -> usize {
    answers.iter().filter(|answer| answer.status == status && answer.error_code() == code).count()
}

/// Asserts that nothing was answered by a fault.
#[track_caller]
fn no_fault(answers: &[Answer]) {
    assert!(answers.iter().all(|answer| answer.status < 500), "{answers:?}");
}

/// Twenty begun registrations of this caller, each with its credential.
async fn registrations(app: &TestApp, client: &Client, count: usize) -> Vec<(Ceremony, Value)> {
    let mut begun = Vec::new();
    for _ in 0..count {
        let ceremony = client.begin_passkey().await;
        let credential = app.phone().create(&ceremony.options).to_json();
        begun.push((ceremony, credential));
    }
    begun
}

both_stores! {
    parallel async fn of_twenty_registrations_of_one_ceremony_one_wins(app) {
        let ada = app.user("ada").await;
        let begun = ada.begin_passkey().await;
        let credentials: Vec<_> = (0..20).map(|_| app.phone().create(&begun.options).to_json()).collect();

        let answers = race(|number| ada.register_passkey(&begun.id, &credentials[number])).await;

        one_wins(&answers, 400, "VALIDATION_ERROR");
        assert_eq!(passkey_count(&ada).await, 1);
    }

    parallel async fn of_twenty_sign_ins_of_one_ceremony_one_wins(app) {
        let ada = app.passkey_user("ada").await;
        let begun = app.anon().begin_passkey_sign_in().await;
        let credential = ada.passkey.clone().sign(&begun.options).to_json();

        let answers = race(|_| app.anon().end_passkey_sign_in(&begun.id, &credential)).await;

        one_wins(&answers, 401, "INVALID_PASSKEY");
        assert_eq!(session_count(&ada).await, 2);
    }

    parallel async fn of_twenty_sign_ins_on_two_instances_one_wins(app) {
        let ada = app.passkey_user("ada").await;
        let beside = app.beside().await;
        let begun = app.anon().begin_passkey_sign_in().await;
        let credential = ada.passkey.clone().sign(&begun.options).to_json();
        let client = |number: usize| if number.is_multiple_of(2) { app.anon() } else { beside.anon() };

        let answers = race(|number| client(number).end_passkey_sign_in(&begun.id, &credential)).await;

        one_wins(&answers, 401, "INVALID_PASSKEY");
    }

    parallel async fn of_twenty_registrations_of_one_credential_id_one_wins(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let mut begun = Vec::new();
        for number in 0..20_usize {
            let client: &Client = if number.is_multiple_of(2) { &ada } else { &bob };
            let ceremony = client.begin_passkey().await;
            let mut creation = app.phone().create(&ceremony.options);
            creation.attested_id = vec![7; 32];
            creation.passkey.credential_id = vec![7; 32];
            begun.push((client.clone(), ceremony.id, creation.to_json()));
        }

        let answers = race(|number| {
            let (client, id, credential) = &begun[number];
            client.register_passkey(id, credential)
        })
        .await;

        one_wins(&answers, 409, "PASSKEY_EXISTS");
        assert_eq!(passkey_count(&ada).await + passkey_count(&bob).await, 1);
    }

    parallel async fn twenty_registrations_do_not_exceed_twenty_passkeys(app) {
        let ada = app.user("ada").await;
        for _ in 0..15 {
            ada.add_passkey(&app.phone()).await;
        }
        let begun = registrations(&app, &ada, 20).await;

        let answers = race(|number| ada.register_passkey(&begun[number].0.id, &begun[number].1)).await;

        assert_eq!((count(&answers, 200), refused(&answers, 409, "TOO_MANY_FACTORS")), (5, 15), "{answers:?}");
        assert_eq!(passkey_count(&ada).await, 20);
    }

    parallel async fn twenty_first_options_make_one_user_handle(app) {
        let ada = app.user("ada").await;

        let answers = race(|_| ada.creation_options()).await;

        let handles: Vec<_> = answers.iter().map(|answer| answer.expect(200)["options"]["user"]["id"].clone()).collect();
        assert!(handles.iter().all(|handle| *handle == handles[0]), "{handles:?}");
    }

    parallel async fn last_way_in_stays_however_many_are_removed_at_once(app) {
        let client = app.with_session(&passwordless(&app).await);
        let mut ids = Vec::new();
        for _ in 0..5 {
            ids.push(client.add_passkey(&app.phone()).await.1);
        }

        let answers = race(|number| match number {
            0..15 => remove(&client, &ids[number % 5]),
            _ => client.delete("/api/auth/identities/acme"),
        })
        .await;

        no_fault(&answers);
        let identities = crate::oauth_calls::identities(&client).await.len();
        assert_eq!(passkey_count(&client).await + identities, 1, "{answers:?}");
    }

    parallel with(|b| b.verification_by_code())
    async fn last_second_factor_stays_however_many_are_removed_at_once(app) {
        let ada = app.two_step_user("ada").await;
        let mut paths = vec![format!("/api/auth/factors/totp/{}", ada.factor_id)];
        for _ in 0..3 {
            paths.push(format!("/api/auth/passkeys/{}", ada.add_passkey(&app.phone()).await.1));
        }

        let answers = race(|number| ada.delete(&paths[number % 4])).await;

        no_fault(&answers);
        let account = account(&ada).await;
        let left = passkey_count(&ada).await + account["totp"].as_array().unwrap().len();
        assert_eq!((left, count(&answers, 200)), (1, 3), "{answers:?}");
        assert!(refused(&answers, 409, "LAST_SECOND_FACTOR") >= 1, "{answers:?}");
    }

    // The authenticator counts: of assertions that it made in a row, the stored counter never goes back.
    parallel async fn counter_never_goes_back_among_twenty(app) {
        let ada = app.passkey_user_on("ada", &app.security_key()).await;
        let mut key = ada.passkey.clone();
        let mut ends = Vec::new();
        for _ in 0..20 {
            let begun = app.anon().begin_passkey_sign_in().await;
            ends.push((begun.id, key.sign(&begun.options).to_json()));
        }

        let answers = race(|number| app.anon().end_passkey_sign_in(&ends[number].0, &ends[number].1)).await;

        no_fault(&answers);
        assert!(count(&answers, 200) >= 1, "{answers:?}");
        assert_eq!(count(&answers, 200) + refused(&answers, 401, "INVALID_PASSKEY"), 20, "{answers:?}");
        let begun = app.anon().begin_passkey_sign_in().await;
        let mut copied = ada.passkey.clone().sign(&begun.options);
        copied.counter = 1 + u32::try_from(answers.iter().rposition(|answer| answer.status == 200).unwrap()).unwrap();
        let answer = app.anon().end_passkey_sign_in(&begun.id, &copied.to_json()).send().await;
        answer.refused(401, "INVALID_PASSKEY");
        let _ = session(&app.anon(), &mut key).await;
    }

    parallel async fn one_counter_signs_in_once_among_twenty_ceremonies(app) {
        let ada = app.passkey_user_on("ada", &app.security_key()).await;
        let mut ends = Vec::new();
        for _ in 0..20 {
            let begun = app.anon().begin_passkey_sign_in().await;
            ends.push((begun.id, ada.passkey.clone().sign(&begun.options).to_json()));
        }

        let answers = race(|number| app.anon().end_passkey_sign_in(&ends[number].0, &ends[number].1)).await;

        one_wins(&answers, 401, "INVALID_PASSKEY");
    }

    parallel async fn removal_while_it_signs_in_leaves_no_session(app) {
        let ada = app.passkey_user("ada").await;
        let mut ends = Vec::new();
        for _ in 0..20 {
            let begun = app.anon().begin_passkey_sign_in().await;
            ends.push((begun.id, ada.passkey.clone().sign(&begun.options).to_json()));
        }

        let answers = race(|number| match number {
            10 => remove(&ada, &ada.passkey_id),
            _ => app.anon().end_passkey_sign_in(&ends[number].0, &ends[number].1),
        })
        .await;

        no_fault(&answers);
        assert_eq!(answers[10].status, 200, "{answers:?}");
        assert_eq!(session_count(&ada).await, 1, "{answers:?}");
        for answer in answers.iter().enumerate().filter(|(number, _)| *number != 10).map(|(_, answer)| answer) {
            if answer.status == 200 {
                let client = app.with_session(&Session::of(answer));
                client.get("/api/auth/account").send().await.refused(401, "AUTH_UNAUTHORIZED");
            }
        }
    }

    parallel with(required)
    async fn of_twenty_enrolments_by_one_challenge_one_wins(app) {
        let email = "ada@example.org";
        app.anon().sign_up(email, latchkey_testkit::PASSWORD).send().await.expect(200);
        let code = app.mail_to(email).await.code();
        let challenge = latchkey_testkit::challenge_id(&app.anon().verify(email, &code).send().await);
        let mut bodies = Vec::new();
        for _ in 0..20 {
            let options = json!({"challengeId": challenge});
            let begun = app.anon().post("/api/auth/passkeys/registration-options", options).send().await.expect(200);
            let credential = app.phone().create(&begun["options"]).to_json();
            bodies.push(json!({"challengeId": challenge, "ceremonyId": begun["ceremonyId"], "credential": credential}));
        }

        let answers = race(|number| app.anon().post("/api/auth/passkeys", bodies[number].clone())).await;

        one_wins(&answers, 401, "INVALID_CHALLENGE");
        let winner = answers.iter().find(|answer| answer.status == 200).unwrap();
        let client = app.with_session(&Session::of(winner));
        assert_eq!((session_count(&client).await, passkey_count(&client).await), (1, 1));
    }

    parallel with(|b| b.verification_by_code())
    async fn of_twenty_passkey_answers_to_one_challenge_one_wins(app) {
        let ada = app.two_step_user("ada").await;
        let (passkey, _) = ada.add_passkey(&app.phone()).await;
        let challenge = ada.challenged().await;
        let begun = app.anon().challenge_options(&challenge).send().await.expect(200);
        let credential = passkey.clone().sign(&begun["options"]).to_json();

        let answers = race(|_| app.anon().answer_by_passkey(&challenge, &credential)).await;

        one_wins(&answers, 401, "INVALID_CHALLENGE");
        assert_eq!(session_count(&ada).await, 2);
    }
}
