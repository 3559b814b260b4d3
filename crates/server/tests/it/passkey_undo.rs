//! Tests of what removes passkeys besides their owner: the link in the mail about a new one, and the first proof of the
//! mailbox.

use latchkey_testkit::{
    Client, Request, Session, TestApp, TestAppBuilder, User, both_stores, hours, json, seconds,
};

use crate::audit::last;
use crate::passkey_calls::{passkey_count, providers, session, sign_in};
use crate::races::{one_wins, race};
use crate::two_step_calls::account;

const UNDO: &str = "/api/auth/undo";

fn verified(builder: TestAppBuilder) -> TestAppBuilder {
    builder.verification_by_code()
}

fn undo(client: &Client, token: &str, email: &str) -> Request {
    client.post(UNDO, json!({"token": token, "email": email}))
}

/// Another session of the user, which is fresh.
async fn again(app: &TestApp, user: &User) -> Client {
    app.with_session(&user.sign_in_again().await)
}

both_stores! {
    with(verified)
    async fn new_passkey_is_told_with_a_link_that_removes_it(app) {
        let ada = app.passkey_user("ada").await;
        let opened = session(&app.anon(), &mut ada.passkey.clone()).await;
        let mail = app.mail_to(&ada.email).await;
        assert!(mail.text.contains("passkey"), "{mail:#?}");

        let body = undo(&app.anon(), &mail.token(), "ADA@example.org").send().await.expect(200);

        assert_eq!(crate::two_step_calls::keys(&body), ["message"]);
        sign_in(&app.anon(), &mut ada.passkey.clone()).await.refused(401, "UNKNOWN_PASSKEY");
        for session in [&opened, &ada.session] {
            app.anon().refresh(session).send().await.refused(401, "AUTH_UNAUTHORIZED");
        }
        app.anon().sign_in(&ada.email, &ada.password).send().await.refused(401, "INVALID_CREDENTIALS");
        let token = code_and_token(&app, &ada.email).await;
        crate::email_calls::reset(&app.anon(), &token, "a wholly new lantern").send().await.expect(200);
        let session = Session::of(&app.anon().sign_in(&ada.email, "a wholly new lantern").send().await);
        assert_eq!(passkey_count(&app.with_session(&session)).await, 0);
        assert_eq!(last(&app, "undone").await["userId"], ada.id);
    }

    with(verified)
    async fn older_passkeys_stay(app) {
        let ada = app.passkey_user("ada").await;
        app.clock.advance(hours(25));
        let client = again(&app, &ada).await;
        let (mut intruders, _) = client.add_passkey(&app.phone()).await;
        app.clock.advance(hours(23));
        let client = again(&app, &ada).await;
        let (mut second, _) = client.add_passkey(&app.phone()).await;
        let token = app.mail_to(&ada.email).await.token();

        undo(&app.anon(), &token, &ada.email).send().await.expect(200);

        let opened = session(&app.anon(), &mut ada.passkey.clone()).await;
        assert_eq!(passkey_count(&app.with_session(&opened)).await, 1);
        for passkey in [&mut intruders, &mut second] {
            sign_in(&app.anon(), passkey).await.refused(401, "UNKNOWN_PASSKEY");
        }
    }

    with(verified)
    async fn link_is_good_for_72_hours_and_once(app) {
        let (ada, bob) = (app.passkey_user("ada").await, app.passkey_user("bob").await);
        let (adas, bobs) = (app.mail_to(&ada.email).await.token(), app.mail_to(&bob.email).await.token());
        undo(&app.anon(), &adas, &bob.email).send().await.refused(400, "INVALID_CODE");
        app.clock.advance(hours(72) - seconds(1));
        app.anon().get(&format!("{UNDO}?token={adas}")).send().await.page(200);
        undo(&app.anon(), &adas, &ada.email).send().await.expect(200);

        app.clock.advance(seconds(1));

        undo(&app.anon(), &adas, &ada.email).send().await.refused(400, "INVALID_CODE");
        undo(&app.anon(), &bobs, &bob.email).send().await.refused(400, "INVALID_CODE");
        app.anon().get(&format!("{UNDO}?token={bobs}")).send().await.page(400);
        let _ = session(&app.anon(), &mut bob.passkey.clone()).await;
    }

    with(verified)
    async fn mail_has_no_link_while_two_step_is_on(app) {
        let ada = app.two_step_user("ada").await;
        app.run_jobs().await;
        app.mail().clear();

        ada.add_passkey(&app.phone()).await;

        let mail = app.mail_to(&ada.email).await;
        assert!(!mail.text.contains("token=") && !mail.html.contains("token="), "{mail:#?}");
        assert!(mail.text.contains("passkey"), "{mail:#?}");
    }

    with(|b| verified(b).config(|config| config.lifetimes.factors.undo = seconds(0)))
    async fn setting_of_no_time_leaves_the_link_out(app) {
        let ada = app.passkey_user("ada").await;

        let mail = app.mail_to(&ada.email).await;

        assert!(mail.text.contains("passkey") && !mail.text.contains("token="), "{mail:#?}");
    }

    // The undo link of the passkey also takes back what came after it: two-step sign-in by that passkey.
    with(verified)
    async fn two_step_that_the_passkey_turned_on_goes_with_it(app) {
        let ada = app.passkey_user("ada").await;
        let token = app.mail_to(&ada.email).await.token();
        ada.post("/api/auth/factors/two-step", json!({"enabled": true})).send().await.expect(200);

        undo(&app.anon(), &token, &ada.email).send().await.expect(200);

        let reset = code_and_token(&app, &ada.email).await;
        crate::email_calls::reset(&app.anon(), &reset, "a wholly new lantern").send().await.expect(200);
        let session = Session::of(&app.anon().sign_in(&ada.email, "a wholly new lantern").send().await);
        let account = account(&app.with_session(&session)).await;
        assert_eq!((&account["twoStep"], &account["passkeyCount"]), (&json!(false), &json!(0)));
    }

    parallel with(verified)
    async fn of_twenty_that_undo_one_wins(app) {
        let ada = app.passkey_user("ada").await;
        let token = app.mail_to(&ada.email).await.token();

        let answers = race(|_| undo(&app.anon(), &token, &ada.email)).await;

        one_wins(&answers, 400, "INVALID_CODE");
    }

    async fn first_proof_of_the_mailbox_removes_the_squatters_passkey(app) {
        let squatter = app.passkey_user("ada").await;
        let opened = session(&app.anon(), &mut squatter.passkey.clone()).await;
        crate::email_calls::resend(&app.anon(), &squatter.email).send().await.expect(202);
        let code = app.mail_to(&squatter.email).await.code();

        let owner = Session::of(&app.anon().verify(&squatter.email, &code).send().await);

        sign_in(&app.anon(), &mut squatter.passkey.clone()).await.refused(401, "UNKNOWN_PASSKEY");
        app.anon().refresh(&opened).send().await.refused(401, "AUTH_UNAUTHORIZED");
        let client = app.with_session(&owner);
        assert_eq!(passkey_count(&client).await, 0);
        assert!(!providers(&client).await.as_array().unwrap().contains(&json!("passkey")));
    }

    async fn owner_of_the_account_who_verifies_keeps_the_passkey(app) {
        let ada = app.passkey_user("ada").await;
        crate::email_calls::resend(&app.anon(), &ada.email).send().await.expect(202);
        let code = app.mail_to(&ada.email).await.code();

        ada.verify(&ada.email, &code).send().await.expect(200);

        let _ = session(&app.anon(), &mut ada.passkey.clone()).await;
    }

    async fn reset_that_is_the_first_proof_removes_it_too(app) {
        let squatter = app.passkey_user("ada").await;
        let token = crate::email_calls::reset_token(&app, &squatter.email).await;

        crate::email_calls::reset(&app.anon(), &token, "a wholly new lantern").send().await.expect(200);

        sign_in(&app.anon(), &mut squatter.passkey.clone()).await.refused(401, "UNKNOWN_PASSKEY");
    }

    // A reset of an address that was verified before proves nothing new: a thief of the mailbox gains no more by it.
    with(verified)
    async fn later_reset_keeps_the_passkey(app) {
        let ada = app.passkey_user("ada").await;
        let token = crate::email_calls::reset_token(&app, &ada.email).await;

        crate::email_calls::reset(&app.anon(), &token, "a wholly new lantern").send().await.expect(200);

        let _ = session(&app.anon(), &mut ada.passkey.clone()).await;
    }
}

/// Reset token by the code of the mail that an undo sends.
async fn code_and_token(app: &TestApp, email: &str) -> String {
    app.run_jobs().await;
    let mails = app.mail().all(email);
    let is_code =
        |line: &str| line.trim().len() == 6 && line.trim().bytes().all(|byte| byte.is_ascii_digit());
    let mail = mails.iter().rev().find(|mail| mail.text.lines().any(is_code)).expect("a mail with a code");
    let body = crate::email_calls::exchange(&app.anon(), email, &mail.code()).send().await.expect(200);
    body["token"].as_str().unwrap().to_owned()
}
