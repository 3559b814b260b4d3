//! Attacks on two-step sign-in: by providers, by intruders who were in before, and on the undo link.

use latchkey_testkit::{
    Answer, Client, LyingProvider, PASSWORD, Request, Session, TestApp, TestAppBuilder, TwoStepUser,
    both_stores, challenge_id, json, seconds,
};

use crate::email_calls::{change_user, resend, reset_token};
use crate::oauth_calls::{
    VERIFIER, acme, consent, error_of, exchange, identities, link_code, person, sign_in,
};
use crate::two_step_calls::account;

const UNDO: &str = "/api/auth/undo";
const NONE: [String; 0] = [];

fn links(builder: TestAppBuilder) -> TestAppBuilder {
    builder.verification_by_code().link_reset()
}

/// Two-step user with the address that the provider vouches for, with a challenge after a sign-in by the provider.
async fn challenged_by_provider(app: &TestApp) -> (TwoStepUser, LyingProvider, String) {
    let (ada, acme) = (app.two_step_user("ada").await, acme(app).await);
    let challenge = challenge_id(&sign_in(app, &acme, "acme").await);
    (ada, acme, challenge)
}

fn undo(client: &Client, token: &str, email: &str) -> Request {
    client.post(UNDO, json!({"token": token, "email": email}))
}

async fn set_password(app: &TestApp, token: &str, password: &str) -> Answer {
    let body = json!({"otp": token, "newPassword": password});
    app.anon().post("/api/auth/email/reset-password", body).send().await
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn provider_of_the_address_is_linked_by_the_right_answer_alone(app) {
        let (ada, acme, challenge) = challenged_by_provider(&app).await;
        let wrong = app.anon().answer(&challenge, "recovery_code", "0000-0000-0000-0000").send().await;
        wrong.refused(401, "INVALID_SECOND_FACTOR");
        assert_eq!(identities(&ada).await, NONE);

        let right = app.anon().answer(&challenge, "totp", &ada.authenticator.code()).send().await;

        assert_eq!(Session::of(&right).user_id, ada.id);
        assert_eq!(identities(&ada).await, ["acme"]);
        let _ = challenge_id(&sign_in(&app, &acme, "acme").await);
    }

    with(|b| b.verification_by_code())
    async fn identity_that_another_account_linked_meanwhile_opens_nothing(app) {
        let (ada, acme, challenge) = challenged_by_provider(&app).await;
        let bob = app.user("bob").await;
        let code = link_code(&bob, &acme, "acme").await;
        exchange(&bob, &code, VERIFIER).send().await.expect(200);

        let answer = app.anon().answer(&challenge, "totp", &ada.authenticator.code()).send().await;

        answer.refused(401, "INVALID_CHALLENGE");
        assert_eq!(identities(&ada).await, NONE);
    }

    with(|b| b.verification_by_code())
    async fn identity_that_was_unlinked_meanwhile_opens_nothing(app) {
        let (ada, acme, challenge) = challenged_by_provider(&app).await;
        app.anon().answer(&challenge, "totp", &ada.authenticator.code()).send().await.expect(200);
        let challenge = challenge_id(&sign_in(&app, &acme, "acme").await);
        app.clock.advance(seconds(30));
        ada.delete("/api/auth/identities/acme").send().await.expect(200);

        let answer = app.anon().answer(&challenge, "totp", &ada.authenticator.code()).send().await;

        answer.refused(401, "INVALID_CHALLENGE");
    }

    with(|b| b.verification_by_code())
    async fn session_that_turned_two_step_on_ends_with_the_identity_that_opened_it(app) {
        let acme = acme(&app).await;
        acme.person(person("eve-at-the-provider", "ada@example.org"));
        let ada = app.user("ada").await;
        let eve = app.with_session(&Session::of(&sign_in(&app, &acme, "acme").await));
        let (phone, id) = app.begin_totp(&eve).await;
        let eve = Session::of(&eve.confirm_totp(&id, &phone.code()).send().await);
        app.clock.advance(seconds(30));
        let challenge = challenge_id(&app.anon().sign_in(&ada.email, PASSWORD).send().await);
        let own = Session::of(&app.anon().answer(&challenge, "totp", &phone.code()).send().await);

        app.with_session(&own).delete("/api/auth/identities/acme").send().await.expect(200);

        app.with_session(&eve).get("/api/auth/account").send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.anon().refresh(&eve).send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    with(|b| b.verification_by_code())
    async fn undo_leaves_no_way_in_of_whoever_turned_two_step_on(app) {
        let (acme, ada) = (acme(&app).await, app.user("ada").await);
        acme.person(person("eve-at-the-provider", "eve@example.org"));
        let code = link_code(&ada, &acme, "acme").await;
        exchange(&ada, &code, VERIFIER).send().await.expect(200);
        let (phone, id) = app.begin_totp(&ada).await;
        let eve = Session::of(&ada.confirm_totp(&id, &phone.code()).send().await);
        let token = app.mail_to(&ada.email).await.token();
        let challenge = challenge_id(&sign_in(&app, &acme, "acme").await);
        app.clock.advance(seconds(30));

        undo(&app.anon(), &token, &ada.email).send().await.expect(200);

        let answer = app.anon().answer(&challenge, "totp", &phone.code()).send().await;
        answer.refused(401, "INVALID_CHALLENGE");
        app.with_session(&eve).get("/api/auth/account").send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.anon().refresh(&eve).send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.anon().sign_in(&ada.email, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
        assert_ne!(Session::of(&sign_in(&app, &acme, "acme").await).user_id, ada.id);
        undo(&app.anon(), &token, &ada.email).send().await.refused(400, "INVALID_CODE");
    }

    with(links)
    async fn undo_mails_a_code_where_a_link_would_lead_nowhere(app) {
        let ada = app.two_step_user("ada").await;
        let token = app.mail_to(&ada.email).await.token();

        undo(&app.anon(), &token, &ada.email).send().await.expect(200);

        app.run_jobs().await;
        let mails = app.mail().all(&ada.email);
        assert!(mails.iter().all(|mail| !mail.text.contains("reset-password-link")), "{mails:#?}");
        let reset = mails.iter().rev().find(|mail| mail.subject.contains("reset code")).unwrap();
        let body = json!({"email": ada.email, "code": reset.code()});
        let exchanged = app.anon().post("/api/auth/email/exchange-reset-password-token", body).send().await;
        let token = exchanged.expect(200)["token"].as_str().unwrap().to_owned();
        set_password(&app, &token, "a new password of ada").await.expect(200);
    }

    with(|b| links(b).default_redirect("http://localhost:3000/reset"))
    async fn undo_mails_a_link_where_links_reset(app) {
        let ada = app.two_step_user("ada").await;
        let token = app.mail_to(&ada.email).await.token();

        undo(&app.anon(), &token, &ada.email).send().await.expect(200);

        app.run_jobs().await;
        let mails = app.mail().all(&ada.email);
        let reset = mails.iter().rev().find(|mail| mail.text.contains("reset-password-link")).unwrap();
        let target = app.anon().get(&reset.link()).send().await.redirected();
        assert!(target.as_str().starts_with("http://localhost:3000/reset?"), "{target}");
        set_password(&app, &reset.token(), "a new password of ada").await.expect(200);
    }

    // The address was verified once, so its proof is not the first one, and removes nothing. A mailbox alone is never
    // a second factor.
    with(|b| b.verification_by_code())
    async fn proofs_of_an_address_that_an_admin_unverified_leave_the_factors(app) {
        let ada = app.two_step_user("ada").await;
        let waiting = ada.challenged().await;
        change_user(&app, &ada.email, json!({"emailVerified": false})).await;
        app.anon().sign_in(&ada.email, PASSWORD).send().await.refused(403, "EMAIL_NOT_VERIFIED");
        let answer = app.anon().answer(&waiting, "totp", &ada.authenticator.code()).send().await;
        answer.refused(401, "INVALID_CHALLENGE");
        resend(&app.anon(), &ada.email).send().await.expect(202);
        let code = app.mail_to(&ada.email).await.code();

        let verified = app.anon().verify(&ada.email, &code).send().await;

        let challenge = challenge_id(&verified);
        assert_eq!(verified.json()["challenge"]["kinds"], json!(["totp", "recovery_code"]));
        app.anon().verify(&ada.email, &code).send().await.refused(400, "INVALID_CODE");
        // What the code proved stays, whether or not the challenge is answered.
        let _ = ada.challenged().await;
        let answer = app.anon().answer(&challenge, "totp", &ada.authenticator.code()).send().await;
        let session = app.with_session(&Session::of(&answer));
        let account = account(&session).await;
        assert_eq!((&account["twoStep"], &account["recoveryCodesLeft"]), (&json!(true), &json!(10)));
    }

    with(|b| b.verification_by_code())
    async fn reset_and_provider_open_no_unverified_account_with_two_step(app) {
        let (ada, acme) = (app.two_step_user("ada").await, acme(&app).await);
        change_user(&app, &ada.email, json!({"emailVerified": false})).await;
        let token = reset_token(&app, &ada.email).await;

        let reset = set_password(&app, &token, "a new password of ada").await;
        let provider = consent(&app, &acme, "acme").await;

        reset.refused(403, "SECOND_FACTOR_REQUIRED");
        assert_eq!(error_of(&provider), "sign in to link this provider");
        assert_eq!((identities(&ada).await, account(&ada).await["twoStep"].clone()), (NONE.to_vec(), json!(true)));
    }
}
