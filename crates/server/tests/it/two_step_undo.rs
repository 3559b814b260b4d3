//! Tests of the effects and limits of the undo link in the mail that two-step sign-in was turned on. Its page is tested
//! in `undo_page`.

use latchkey_testkit::{Client, Request, Session, TestApp, TwoStepUser, both_stores, hours, json, seconds};

use crate::described::assert_successes_are_described;
use crate::email_calls::{NEW_PASSWORD, exchange, reset};
use crate::oauth_calls::{
    VERIFIER, acme, exchange as exchange_identity, identities, link_code, person, sign_in,
};
use crate::races::{one_wins, race};
use crate::two_step_calls::account;

const UNDO: &str = "/api/auth/undo";

/// Ada, and the token of the newest mail that two-step sign-in was turned on.
async fn told(app: &TestApp) -> (TwoStepUser, String) {
    let ada = app.two_step_user("ada").await;
    let token = app.mail_to(&ada.email).await.token();
    (ada, token)
}

fn undo(client: &Client, token: &str, email: &str) -> Request {
    client.post(UNDO, json!({"token": token, "email": email}))
}

/// Turns two-step sign-in on again; the token of the mail.
async fn turn_on_again(app: &TestApp, client: &Client, email: &str) -> (Session, String) {
    let (phone, id) = app.begin_totp(client).await;
    let session = Session::of(&client.confirm_totp(&id, &phone.code()).send().await);
    (session, app.mail_to(email).await.token())
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn owner_of_the_mailbox_takes_two_step_back(app) {
        let (ada, token) = told(&app).await;
        let open = ada.challenged().await;

        let body = undo(&app.anon(), &token, "ADA@example.org").send().await.expect(200);

        assert_eq!(crate::two_step_calls::keys(&body), ["message"]);
        ada.get("/api/auth/account").send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.anon().refresh(&ada.session).send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.anon().sign_in(&ada.email, &ada.password).send().await.refused(401, "INVALID_CREDENTIALS");
        let answer = app.anon().answer(&open, "recovery_code", &ada.recovery_codes[0]).send().await;
        answer.refused(401, "INVALID_CHALLENGE");
        let code = reset_code(&app, &ada.email).await;
        let body = exchange(&app.anon(), &ada.email, &code).send().await.expect(200);
        reset(&app.anon(), body["token"].as_str().unwrap(), NEW_PASSWORD).send().await.expect(200);
        let session = Session::of(&app.anon().sign_in(&ada.email, NEW_PASSWORD).send().await);
        let account = account(&app.with_session(&session)).await;
        assert_eq!((&account["twoStep"], &account["totp"]), (&json!(false), &json!([])));
        assert_eq!(account["recoveryCodesLeft"], 0);
    }

    with(|b| b.verification_by_code())
    async fn link_is_good_once_and_for_its_address_alone(app) {
        let (ada, token) = told(&app).await;
        undo(&app.anon(), &token, "bob@example.org").send().await.refused(400, "INVALID_CODE");
        undo(&app.anon(), &"0".repeat(64), &ada.email).send().await.refused(400, "INVALID_CODE");
        undo(&app.anon(), "none", &ada.email).send().await.refused(400, "INVALID_CODE");
        undo(&app.anon(), &token, "no address").send().await.refused(400, "VALIDATION_ERROR");
        assert_eq!(account(&ada).await["twoStep"], true);

        undo(&app.anon(), &token, &ada.email).send().await.expect(200);

        undo(&app.anon(), &token, &ada.email).send().await.refused(400, "INVALID_CODE");
        app.anon().get(&format!("{UNDO}?token={token}")).send().await.page(400);
    }

    with(|b| b.verification_by_code())
    async fn link_is_good_for_72_hours(app) {
        let (ada, token) = told(&app).await;
        app.clock.advance(hours(72) - seconds(31));
        app.anon().get(&format!("{UNDO}?token={token}")).send().await.page(200);

        app.clock.advance(seconds(1));

        app.anon().get(&format!("{UNDO}?token={token}")).send().await.page(400);
        undo(&app.anon(), &token, &ada.email).send().await.refused(400, "INVALID_CODE");
    }

    parallel with(|b| b.verification_by_code())
    async fn of_twenty_that_undo_one_wins(app) {
        let (ada, token) = told(&app).await;

        let answers = race(|_| undo(&app.anon(), &token, &ada.email)).await;

        one_wins(&answers, 400, "INVALID_CODE");
    }

    // What an intruder of the day before may have added goes, what is older stays.
    with(|b| b.verification_by_code())
    async fn identities_of_the_day_before_go_and_older_ones_stay(app) {
        let ada = app.user("ada").await;
        let (old, young) = (acme(&app).await, crate::oauth_calls::provider(&app, "young").await);
        old.person(person("ada at work", "work@example.org"));
        let code = link_code(&ada, &old, "acme").await;
        exchange_identity(&ada, &code, VERIFIER).send().await.expect(200);
        app.clock.advance(hours(25));
        let session = Session::of(&app.anon().sign_in(&ada.email, &ada.password).send().await);
        let client = app.with_session(&session);
        young.person(person("intruder", "intruder@example.org"));
        let code = link_code(&client, &young, "young").await;
        exchange_identity(&client, &code, VERIFIER).send().await.expect(200);
        let (_, token) = turn_on_again(&app, &client, &ada.email).await;

        undo(&app.anon(), &token, &ada.email).send().await.expect(200);

        let back = Session::of(&sign_in(&app, &old, "acme").await);
        assert_eq!(back.user_id, ada.id);
        assert_eq!(identities(&app.with_session(&back)).await, ["acme"]);
        let stranger = sign_in(&app, &young, "young").await;
        assert_ne!(Session::of(&stranger).user_id, ada.id);
    }

    with(|b| b.verification_by_code())
    async fn links_of_later_events_die_and_those_of_earlier_ones_live_on(app) {
        let (ada, first) = told(&app).await;
        ada.post("/api/auth/factors/two-step", json!({"enabled": false})).send().await.expect(200);
        let (session, second) = turn_on_again(&app, &ada, &ada.email).await;
        app.clock.advance(seconds(30));
        let client = app.with_session(&session);
        client.post("/api/auth/factors/two-step", json!({"enabled": false})).send().await.expect(200);
        let (_, third) = turn_on_again(&app, &client, &ada.email).await;

        undo(&app.anon(), &second, &ada.email).send().await.expect(200);

        undo(&app.anon(), &third, &ada.email).send().await.refused(400, "INVALID_CODE");
        undo(&app.anon(), &first, &ada.email).send().await.expect(200);
    }

    with(|b| b.verification_by_code().config(|config| config.lifetimes.factors.undo = seconds(0)))
    async fn setting_of_no_time_leaves_the_link_out(app) {
        let ada = app.two_step_user("ada").await;

        let mail = app.mail_to(&ada.email).await;

        assert!(!mail.text.contains("token=") && !mail.html.contains("token="), "{mail:#?}");
    }

    with(|b| b.verification_by_code())
    async fn undo_is_audited_and_told(app) {
        let (ada, token) = told(&app).await;
        app.mail().clear();
        app.clock.advance(seconds(1));

        undo(&app.anon(), &token, &ada.email).send().await.expect(200);

        assert_eq!(crate::audit::last(&app, "undone").await["userId"], ada.id);
        app.run_jobs().await;
        assert_eq!(app.mail().count(&ada.email), 2, "{:?}", app.mail().all(&ada.email));
    }

    with(|b| b.verification_by_code().limits())
    async fn wrong_addresses_count_like_wrong_codes(app) {
        let (ada, token) = told(&app).await;
        let here = app.anon().at("203.0.113.9");
        let mut statuses = Vec::new();
        for number in 0..200 {
            let answer = undo(&here, &token, &format!("nobody-{number}@example.org")).send().await;
            statuses.push(answer.status);
            if answer.status == 429 {
                break;
            }
        }

        assert_eq!(statuses.last(), Some(&429), "{statuses:?}");
        undo(&app.anon().at("203.0.113.10"), &token, &ada.email).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn responses_are_described(app) {
        let (ada, token) = told(&app).await;
        let link = format!("{UNDO}?token={token}");
        let requests = [
            ("GET /api/auth/undo", app.anon().get(&link)),
            ("POST /api/auth/undo", undo(&app.anon(), &token, &ada.email)),
        ];

        assert_successes_are_described(&app, requests).await;
    }
}

/// Code of the newest mail that has one.
async fn reset_code(app: &TestApp, email: &str) -> String {
    app.run_jobs().await;
    let mails = app.mail().all(email);
    let mail = mails.iter().rev().find(|mail| {
        mail.text
            .lines()
            .any(|line| line.trim().len() == 6 && line.trim().bytes().all(|byte| byte.is_ascii_digit()))
    });
    mail.expect("a mail with a code").code()
}
