//! Tests of limits and passkeys: failed answers from an address over its limit, failed passwords before a sign-in by
//! passkey, and what the owner and the audit log hear of each.

use latchkey_testkit::passkeys::flags;
use latchkey_testkit::{Answer, Assertion, Client, Passkey, TestApp, both_stores, json};

use crate::audit::{events, last};
use crate::passkey_calls::{session, sign_in};

const HERE: &str = "203.0.113.9";

/// Signs in by passkey with a wrong ceremony until the limit of the client's address is reached.
async fn reach_the_limit(client: &Client, passkey: &Passkey) {
    let begun = client.begin_passkey_sign_in().await;
    let credential = passkey.clone().sign(&begun.options).to_json();
    for _ in 0..200 {
        if client.end_passkey_sign_in("none", &credential).send().await.status == 429 {
            return;
        }
    }
    panic!("no limit");
}

/// Answers a challenge for new options by an assertion with one change.
async fn answer(client: &Client, challenge: &str, passkey: &Passkey, change: fn(&mut Assertion)) -> Answer {
    let body = client.challenge_options(challenge).send().await.expect(200);
    let mut assertion = passkey.clone().sign(&body["options"]);
    change(&mut assertion);
    client.answer_by_passkey(challenge, &assertion.to_json()).send().await
}

fn without_verification(assertion: &mut Assertion) {
    assertion.flags &= !flags::UV;
}

fn copied(assertion: &mut Assertion) {
    assertion.counter = 1;
}

/// Number of events of this name.
async fn count(app: &TestApp, name: &str) -> usize {
    events(app).await.iter().filter(|event| event["event"] == name).count()
}

both_stores! {
    with(|b| b.verification_by_code().limits())
    async fn wrong_answer_over_the_limit_costs_an_attempt(app) {
        let ada = app.two_step_user("ada").await;
        let (passkey, _) = ada.add_passkey(&app.phone()).await;
        let challenge = ada.challenged().await;
        let here = app.anon().at(HERE);
        reach_the_limit(&here, &passkey).await;

        for _ in 0..5 {
            let refused = answer(&here, &challenge, &passkey, without_verification).await;
            refused.refused(429, "TOO_MANY_REQUESTS");
        }

        app.anon().challenge_options(&challenge).send().await.refused(401, "INVALID_CHALLENGE");
        assert_eq!(count(&app, "second_factor_failed").await, 5);
    }

    with(|b| b.verification_by_code().limits())
    async fn copied_answer_over_the_limit_is_audited_and_mailed(app) {
        let ada = app.two_step_user("ada").await;
        let (passkey, _) = ada.add_passkey(&app.security_key()).await;
        let challenge = ada.challenged().await;
        let here = app.anon().at(HERE);
        reach_the_limit(&here, &passkey).await;
        app.run_jobs().await;
        app.mail().clear();

        answer(&here, &challenge, &passkey, copied).await.refused(429, "TOO_MANY_REQUESTS");

        assert_eq!(last(&app, "passkey_refused").await["userId"], ada.id);
        app.run_jobs().await;
        assert_eq!(app.mail().count(&ada.email), 1, "{:?}", app.mail().all(&ada.email));
    }

    with(|b| b.verification_by_code().limits())
    async fn right_answer_over_the_limit_is_accepted(app) {
        let ada = app.two_step_user("ada").await;
        let (passkey, _) = ada.add_passkey(&app.phone()).await;
        let challenge = ada.challenged().await;
        let here = app.anon().at(HERE);
        reach_the_limit(&here, &passkey).await;

        answer(&here, &challenge, &passkey, |_| ()).await.expect(200);
    }

    // Whoever has a copy cannot fill the mailbox with one assertion.
    with(|b| b.verification_by_code())
    async fn copied_answer_is_told_once_for_its_options(app) {
        let ada = app.two_step_user("ada").await;
        let (mut passkey, _) = ada.add_passkey(&app.security_key()).await;
        app.run_jobs().await;
        app.mail().clear();
        let challenge = ada.challenged().await;
        let body = app.anon().challenge_options(&challenge).send().await.expect(200);
        let mut assertion = passkey.sign(&body["options"]);
        copied(&mut assertion);

        for _ in 0..2 {
            let again = app.anon().answer_by_passkey(&challenge, &assertion.to_json()).send().await;
            again.refused(401, "INVALID_SECOND_FACTOR");
        }

        app.run_jobs().await;
        assert_eq!((count(&app, "passkey_refused").await, app.mail().count(&ada.email)), (1, 1));
        assert_eq!(count(&app, "second_factor_failed").await, 2);
        answer(&app.anon(), &challenge, &passkey, |_| ()).await.expect(200);
    }

    with(|b| b.limits())
    async fn refusal_of_a_sign_in_by_the_limit_is_audited(app) {
        let ada = app.passkey_user("ada").await;
        let here = app.anon().at(HERE);
        reach_the_limit(&here, &ada.passkey).await;
        app.run_jobs().await;
        assert_eq!(count(&app, "request_limited").await, 0, "no account is known yet");
        let begun = here.begin_passkey_sign_in().await;
        let mut wrong = ada.passkey.clone().sign(&begun.options);
        without_verification(&mut wrong);

        let answer = here.end_passkey_sign_in(&begun.id, &wrong.to_json()).send().await;

        answer.refused(429, "TOO_MANY_REQUESTS");
        app.run_jobs().await;
        let event = last(&app, "request_limited").await;
        assert_eq!((&event["userId"], &event["ip"]), (&json!(ada.id), &json!(HERE)));
    }

    with(|b| b.limits())
    async fn sign_in_by_passkey_forgets_failed_passwords(app) {
        let ada = app.passkey_user("ada").await;
        let here = app.anon().at(HERE);

        for _ in 0..2 {
            for _ in 0..9 {
                let wrong = here.sign_in(&ada.email, "a wrong password").send().await;
                wrong.refused(401, "INVALID_CREDENTIALS");
            }
            let _ = session(&here, &mut ada.passkey.clone()).await;
        }

        sign_in(&here, &mut ada.passkey.clone()).await.expect(200);
    }
}
