//! Tests of passkeys under `auth.second_factor = "required"`: enrolment by a challenge, and accounts that have one.

use latchkey_testkit::{
    Answer, Ceremony, Client, Passkey, Request, Session, TestApp, both_stores, challenge_id, json, minutes,
    recovery_codes,
};

use crate::described::assert_successes_are_described;
use crate::passkey_calls::{passkey_count, required, session, shown};
use crate::two_step_calls::{account, keys, session_count, set_policy};

const PASSWORD: &str = latchkey_testkit::PASSWORD;
const OPTIONS: &str = "/api/auth/passkeys/registration-options";

/// Signs up and verifies, up to the challenge.
async fn enrolling(app: &TestApp, email: &str) -> String {
    app.anon().sign_up(email, PASSWORD).send().await.expect(200);
    let code = app.mail_to(email).await.code();
    challenge_id(&app.anon().verify(email, &code).send().await)
}

/// Begins a registration by a challenge.
async fn begin(client: &Client, challenge: &str) -> Ceremony {
    let body = json!({"challengeId": challenge});
    Ceremony::of(&client.post(OPTIONS, body).send().await.expect(200))
}

/// Ends a registration by a challenge.
fn end(client: &Client, challenge: &str, begun: &Ceremony, app: &TestApp) -> (Passkey, Request) {
    let creation = app.phone().create(&begun.options);
    let body = json!({"challengeId": challenge, "ceremonyId": begun.id, "credential": creation.to_json()});
    (creation.passkey, client.post("/api/auth/passkeys", body))
}

/// Enrols a passkey by a challenge.
async fn enrol(app: &TestApp, challenge: &str) -> (Passkey, Answer) {
    let begun = begin(&app.anon(), challenge).await;
    let (passkey, request) = end(&app.anon(), challenge, &begun, app);
    (passkey, request.send().await)
}

both_stores! {
    with(required)
    async fn passkey_enrols_turns_two_step_on_and_signs_in(app) {
        let challenge = enrolling(&app, "ada@example.org").await;

        let (mut passkey, answer) = enrol(&app, &challenge).await;

        assert_eq!(keys(&answer.json()), ["accessToken", "csrfToken", "passkey", "recoveryCodes", "user"]);
        assert_eq!(recovery_codes(&answer.json()).len(), 10);
        let opened = Session::of(&answer);
        assert_eq!(shown(&opened).1, json!(2));
        assert!(shown(&opened).0.contains(&"swk".to_owned()), "{:?}", shown(&opened));
        let client = app.with_session(&opened);
        assert_eq!((session_count(&client).await, &account(&client).await["twoStep"]), (1, &json!(true)));
        app.anon().refresh(&opened).send().await.expect(200);
        let _ = session(&app.anon(), &mut passkey).await;
        begun_is_dead(&app, &challenge).await;
    }

    with(required)
    async fn account_with_a_passkey_is_asked_for_it_alone(app) {
        set_policy(&app, "optional").await;
        let ada = app.passkey_user("ada").await;
        set_policy(&app, "required").await;

        let answer = app.anon().sign_in(&ada.email, &ada.password).send().await;

        assert_eq!(answer.json()["challenge"]["kinds"], json!(["passkey"]));
        let challenge = challenge_id(&answer);
        let body = json!({"challengeId": challenge});
        for path in [OPTIONS, "/api/auth/factors/totp"] {
            app.anon().post(path, body.clone()).send().await.refused(401, "INVALID_CHALLENGE");
        }
        let begun = app.anon().challenge_options(&challenge).send().await.expect(200);
        let credential = ada.passkey.clone().sign(&begun["options"]).to_json();
        let opened = Session::of(&app.anon().answer_by_passkey(&challenge, &credential).send().await);
        assert_eq!(shown(&opened).1, json!(2));
        app.anon().refresh(&opened).send().await.expect(200);
    }

    with(required)
    async fn sign_in_by_passkey_is_asked_for_nothing(app) {
        set_policy(&app, "optional").await;
        let ada = app.passkey_user("ada").await;
        set_policy(&app, "required").await;

        let opened = session(&app.anon(), &mut ada.passkey.clone()).await;

        app.anon().refresh(&opened).send().await.expect(200);
    }

    with(required)
    async fn enrolment_belongs_to_its_challenge(app) {
        let (adas, bobs) = (enrolling(&app, "ada@example.org").await, enrolling(&app, "bob@example.org").await);
        let begun = begin(&app.anon(), &adas).await;

        let (_, foreign) = end(&app.anon(), &bobs, &begun, &app);
        assert_eq!(foreign.send().await.refused(400, "VALIDATION_ERROR")["field"], "ceremonyId");
        for challenge in ["x".to_owned(), "A".repeat(43)] {
            let (_, unknown) = end(&app.anon(), &challenge, &begun, &app);
            unknown.send().await.refused(401, "INVALID_CHALLENGE");
            let answer = app.anon().post(OPTIONS, json!({"challengeId": challenge})).send().await;
            answer.refused(401, "INVALID_CHALLENGE");
        }

        let (_, right) = end(&app.anon(), &adas, &begun, &app);
        let _ = Session::of(&right.send().await);
    }

    with(required)
    async fn enrolment_ends_with_its_challenge(app) {
        let challenge = enrolling(&app, "ada@example.org").await;
        app.clock.advance(minutes(5));
        let begun = begin(&app.anon(), &challenge).await;

        app.clock.advance(minutes(5));

        let (_, late) = end(&app.anon(), &challenge, &begun, &app);
        late.send().await.refused(401, "INVALID_CHALLENGE");
    }

    with(required)
    async fn ceremony_of_a_challenge_is_not_that_of_a_session(app) {
        let challenge = enrolling(&app, "ada@example.org").await;
        let (_, answer) = enrol(&app, &challenge).await;
        let client = app.with_session(&Session::of(&answer));
        let bobs = enrolling(&app, "bob@example.org").await;
        let (of_session, of_challenge) = (client.begin_passkey().await, begin(&app.anon(), &bobs).await);

        let creation = app.phone().create(&of_challenge.options).to_json();
        let wrong = client.register_passkey(&of_challenge.id, &creation).send().await;
        let (_, other) = end(&app.anon(), &bobs, &of_session, &app);

        assert_eq!(wrong.refused(400, "VALIDATION_ERROR")["field"], "ceremonyId");
        assert_eq!(other.send().await.refused(400, "VALIDATION_ERROR")["field"], "ceremonyId");
        assert_eq!(passkey_count(&client).await, 1);
    }

    // It would demand neither presence nor verification, and so show no second factor.
    with(required)
    async fn conditional_creation_does_not_enrol(app) {
        let challenge = enrolling(&app, "ada@example.org").await;

        let body = json!({"challengeId": challenge, "mediation": "conditional"});
        let answer = app.anon().post(OPTIONS, body).send().await;

        assert_eq!(answer.refused(400, "VALIDATION_ERROR")["field"], "mediation");
    }

    with(required)
    async fn client_type_of_the_sign_in_decides_at_enrolment_too(app) {
        let _ = enrolling(&app, "ada@example.org").await;
        let began = app.anon().sign_in("ada@example.org", PASSWORD).client_type("mobile");
        let challenge = challenge_id(&began.send().await);
        let begun = begin(&app.anon(), &challenge).await;

        let (_, request) = end(&app.anon(), &challenge, &begun, &app);

        let opened = Session::of(&request.client_type("web").send().await);
        assert!(opened.refresh_token.is_some() && opened.cookie.is_none());
    }

    with(required)
    async fn mail_tells_that_two_step_is_on_and_not_of_the_passkey_besides(app) {
        let challenge = enrolling(&app, "ada@example.org").await;
        app.mail().clear();

        let (_, answer) = enrol(&app, &challenge).await;

        answer.expect(200);
        app.run_jobs().await;
        let mails = app.mail().all("ada@example.org");
        assert_eq!(mails.len(), 1, "{mails:#?}");
        assert!(mails[0].text.contains("/api/auth/undo?token="), "{mails:#?}");
    }

    with(required)
    async fn responses_are_described(app) {
        let challenge = enrolling(&app, "ada@example.org").await;
        let begun = begin(&app.anon(), &challenge).await;
        let requests = [
            ("POST /api/auth/passkeys/registration-options", app.anon().post(OPTIONS, json!({"challengeId": challenge}))),
            ("POST /api/auth/passkeys", end(&app.anon(), &challenge, &begun, &app).1),
        ];

        assert_successes_are_described(&app, requests).await;
    }
}

/// Asserts that a challenge begins nothing any more.
async fn begun_is_dead(app: &TestApp, challenge: &str) {
    let answer = app.anon().post(OPTIONS, json!({"challengeId": challenge})).send().await;
    answer.refused(401, "INVALID_CHALLENGE");
}
