//! Tests of passkeys that may have been copied: the signature counter did not grow, or the backup eligibility changed.

use latchkey_testkit::passkeys::flags;
use latchkey_testkit::{Answer, Assertion, Client, PasskeyUser, TestApp, both_stores, json, seconds};

use crate::audit::{events, last};
use crate::passkey_calls::{passkeys, session, shown};

/// Signs in with one change to an honest assertion.
async fn sign_in(client: &Client, user: &PasskeyUser, change: impl FnOnce(&mut Assertion)) -> Answer {
    let begun = client.begin_passkey_sign_in().await;
    let mut assertion = user.passkey.clone().sign(&begun.options);
    change(&mut assertion);
    client.end_passkey_sign_in(&begun.id, &assertion.to_json()).send().await
}

async fn with_counter(client: &Client, user: &PasskeyUser, counter: u32) -> Answer {
    sign_in(client, user, |assertion| assertion.counter = counter).await
}

/// Number of events of this name.
async fn count(app: &TestApp, name: &str) -> usize {
    events(app).await.iter().filter(|event| event["event"] == name).count()
}

both_stores! {
    async fn counter_that_does_not_grow_is_refused_and_the_stored_one_stays(app) {
        let ada = app.passkey_user_on("ada", &app.security_key()).await;
        let client = app.anon();
        with_counter(&client, &ada, 5).await.expect(200);

        for counter in [5, 4, 1, 0] {
            with_counter(&client, &ada, counter).await.refused(401, "INVALID_PASSKEY");
        }

        with_counter(&client, &ada, 6).await.expect(200);
        with_counter(&client, &ada, u32::MAX).await.expect(200);
        for counter in [u32::MAX, 7] {
            with_counter(&client, &ada, counter).await.refused(401, "INVALID_PASSKEY");
        }
    }

    async fn counter_may_stay_0_and_may_begin_later(app) {
        let ada = app.passkey_user("ada").await;
        for counter in [0, 0, 1] {
            with_counter(&app.anon(), &ada, counter).await.expect(200);
        }

        with_counter(&app.anon(), &ada, 0).await.refused(401, "INVALID_PASSKEY");
    }

    async fn counter_of_the_registration_counts(app) {
        let ada = app.passkey_user_on("ada", &app.security_key()).await;

        with_counter(&app.anon(), &ada, 1).await.refused(401, "INVALID_PASSKEY");

        with_counter(&app.anon(), &ada, 2).await.expect(200);
    }

    async fn change_of_backup_eligibility_is_refused(app) {
        let (ada, bob) = (app.passkey_user("ada").await, app.passkey_user_on("bob", &app.security_key()).await);

        let less = sign_in(&app.anon(), &ada, |assertion| assertion.flags &= !(flags::BE | flags::BS)).await;
        let more = sign_in(&app.anon(), &bob, |assertion| assertion.flags |= flags::BE).await;

        less.refused(401, "INVALID_PASSKEY");
        more.refused(401, "INVALID_PASSKEY");
        assert_eq!(passkeys(&ada).await["passkeys"][0]["synced"], true);
    }

    async fn backup_state_of_the_last_use_is_shown(app) {
        let ada = app.passkey_user("ada").await;

        for (is_synced, bits) in [(false, flags::BE), (true, flags::BE | flags::BS)] {
            sign_in(&app.anon(), &ada, |it| it.flags = flags::UP | flags::UV | bits).await.expect(200);
            assert_eq!(passkeys(&ada).await["passkeys"][0]["synced"], is_synced);
        }
        assert!(shown(&session(&app.anon(), &mut ada.passkey.clone()).await).0.contains(&"swk".to_owned()));
    }

    with(|b| b.verification_by_code())
    async fn refusal_is_audited_and_mailed(app) {
        let ada = app.passkey_user_on("ada", &app.security_key()).await;
        app.run_jobs().await;
        app.mail().clear();
        let lies: [fn(&mut Assertion); 2] = [|it| it.counter = 0, |it| it.flags |= flags::BE];

        for (number, lie) in lies.into_iter().enumerate() {
            app.clock.advance(seconds(1));
            sign_in(&app.anon(), &ada, lie).await.refused(401, "INVALID_PASSKEY");

            let event = last(&app, "passkey_refused").await;
            assert_eq!(event["userId"], ada.id);
            assert_eq!(count(&app, "passkey_refused").await, number + 1);
        }
        app.run_jobs().await;
        let mails = app.mail().all(&ada.email);
        assert!(!mails.is_empty(), "no mail about a refused passkey");
        assert!(mails.iter().all(|mail| mail.text.contains("passkey")), "{mails:#?}");
    }

    // Whoever has no key can neither fill the mailbox nor the trail.
    with(|b| b.verification_by_code())
    async fn forged_assertion_tells_nobody(app) {
        let ada = app.passkey_user_on("ada", &app.security_key()).await;
        app.run_jobs().await;
        app.mail().clear();

        let forge = |assertion: &mut Assertion| {
            assertion.counter = 0;
            assertion.signature = Some(vec![0x30; 70]);
        };
        sign_in(&app.anon(), &ada, forge).await.refused(401, "INVALID_PASSKEY");

        app.run_jobs().await;
        assert_eq!((count(&app, "passkey_refused").await, app.mail().total()), (0, 0));
    }

    with(|b| b.verification_by_code())
    async fn refused_answer_to_a_challenge_is_told_too(app) {
        let ada = app.two_step_user("ada").await;
        let (mut passkey, _) = ada.add_passkey(&app.security_key()).await;
        app.run_jobs().await;
        app.mail().clear();
        let challenge = ada.challenged().await;
        let begun = app.anon().challenge_options(&challenge).send().await.expect(200);
        let mut assertion = passkey.sign(&begun["options"]);
        assertion.counter = 1;

        let answer = app.anon().answer_by_passkey(&challenge, &assertion.to_json()).send().await;

        answer.refused(401, "INVALID_SECOND_FACTOR");
        assert_eq!(last(&app, "passkey_refused").await["userId"], ada.id);
        app.run_jobs().await;
        assert_eq!(app.mail().count(&ada.email), 1, "{:?}", app.mail().all(&ada.email));
        let begun = app.anon().challenge_options(&challenge).send().await.expect(200);
        let credential = passkey.sign(&begun["options"]).to_json();
        app.anon().answer_by_passkey(&challenge, &credential).send().await.expect(200);
        assert_eq!(json!(1), passkeys(&ada).await["passkeys"].as_array().unwrap().len());
    }
}
