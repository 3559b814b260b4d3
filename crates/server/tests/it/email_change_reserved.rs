//! Tests of the address that an account left: for the time of the undo link it is reserved for that account.

use latchkey_testkit::{PASSWORD, Session, TestApp, both_stores, days, json, minutes, seconds};

use crate::email_calls::{change_user, id_of, resend, send_reset};
use crate::email_change_calls::{begun, change, changed_from, confirm, moved};
use crate::enumeration::shown;
use crate::oauth_calls::{acme, consent, error_of, person, user_count};

const LEFT: &str = "ada@example.org";
const NEW: &str = "countess@example.com";
const OTHER: &str = "another lantern 42";

/// Ada, who left her address; the undo token.
async fn ada_left(app: &TestApp) -> (latchkey_testkit::User, String) {
    let ada = app.user("ada").await;
    let token = moved(app, &ada, NEW).await;
    app.mail().clear();
    (ada, token)
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn sign_up_is_answered_like_that_of_a_taken_address_and_mails_nobody(app) {
        ada_left(&app).await;
        app.user("taken").await;
        app.mail().clear();
        let sign_up = |email: &str| app.anon().sign_up(email, OTHER);
        let free = sign_up("free@example.org").send().await;

        for email in [LEFT, "taken@example.org"] {
            assert_eq!(shown(&sign_up(email).send().await), shown(&free), "{email}");
        }

        app.run_jobs().await;
        assert_eq!((app.mail().count(LEFT), app.mail().count(NEW)), (0, 0));
        for password in [OTHER, PASSWORD, "yet another lantern"] {
            let sign_in = |email: &str| app.anon().sign_in(email, password);
            let taken = sign_in("free@example.org").send().await;
            assert_eq!(shown(&sign_in(LEFT).send().await), shown(&taken), "{password}");
        }
        app.anon().sign_in(NEW, OTHER).send().await.refused(401, "INVALID_CREDENTIALS");
        resend(&app.anon(), LEFT).send().await.expect(202);
        send_reset(&app.anon(), LEFT).send().await.expect(202);
        app.run_jobs().await;
        assert_eq!(app.mail().count(LEFT), 0, "nothing is mailed there");
    }

    with(|b| b.verification_by_code())
    async fn nobody_else_gets_the_address(app) {
        let (ada, _) = ada_left(&app).await;
        let bob = app.user("bob").await;
        let before = user_count(&app).await;
        let body = json!({"email": LEFT, "password": PASSWORD, "autoConfirm": true});
        app.admin().post("/api/auth/users", body).send().await.refused(409, "EMAIL_EXISTS");
        let path = format!("/api/auth/users/{}", bob.id);
        app.admin().patch(&path, json!({"email": LEFT})).send().await.refused(409, "EMAIL_EXISTS");
        let provider = acme(&app).await;
        provider.person(person("ada at home", LEFT));
        let error = error_of(&consent(&app, &provider, "acme").await);
        assert!(error.contains("sign in to link"), "{error}");
        let begun = begun(&app, &bob, &bob.email, LEFT).await;
        assert_eq!(begun.new, "");
        confirm(&bob, &begun.id, "000000", &begun.current).send().await.refused(400, "INVALID_CODE");
        let off = json!({"requireEmailVerification": false});
        app.admin().put("/api/auth/config", off).send().await.expect(200);
        app.anon().sign_up(LEFT, PASSWORD).send().await.refused(409, "EMAIL_EXISTS");

        assert_eq!(user_count(&app).await, before);
        app.run_jobs().await;
        assert_eq!(app.mail().count(LEFT), 0);
        let session = Session::of(&app.anon().sign_in(NEW, PASSWORD).send().await);
        assert_eq!(session.user_id, ada.id);
    }

    with(|b| b.verification_by_code())
    async fn account_itself_may_go_back(app) {
        let (ada, _) = ada_left(&app).await;

        changed_from(&app, &ada, NEW, LEFT).await;

        app.anon().sign_in(LEFT, PASSWORD).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn admin_may_give_it_back_to_the_account(app) {
        let (ada, _) = ada_left(&app).await;

        let path = format!("/api/auth/users/{}", ada.id);
        app.admin().patch(&path, json!({"email": LEFT})).send().await.expect(200);

        assert_eq!(id_of(&app, LEFT).await, ada.id);
    }

    with(|b| b.verification_by_code())
    async fn address_is_free_after_seven_days(app) {
        ada_left(&app).await;
        app.clock.advance(days(7) - minutes(1));
        let body = json!({"email": LEFT, "password": OTHER, "autoConfirm": true});
        app.admin().post("/api/auth/users", body.clone()).send().await.refused(409, "EMAIL_EXISTS");

        app.clock.advance(minutes(1));

        app.admin().post("/api/auth/users", body).send().await.expect(200);
        app.anon().sign_in(LEFT, OTHER).send().await.expect(200);
    }

    with(|b| b.verification_by_code().config(|config| config.lifetimes.email_change.undo = seconds(0)))
    async fn setting_of_no_time_leaves_out_link_and_reservation(app) {
        let ada = app.user("ada").await;
        crate::email_change_calls::changed(&app, &ada, NEW).await;

        let mail = app.mail().last(LEFT);
        assert!(!mail.text.contains("token=") && !mail.html.contains("token="), "{mail:#?}");
        let body = json!({"email": LEFT, "password": OTHER, "autoConfirm": true});
        app.admin().post("/api/auth/users", body).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn deleted_account_leaves_no_reservation(app) {
        let (ada, _) = ada_left(&app).await;
        app.admin().delete("/api/auth/users").json(&json!({"userIds": [ada.id]})).send().await.expect(200);

        app.anon().sign_up(LEFT, PASSWORD).send().await.expect(200);

        assert_eq!(app.mail_to(LEFT).await.code().len(), 6);
    }

    // An admin's change stands: it ends what mailboxes of earlier addresses could do.
    with(|b| b.verification_by_code())
    async fn change_by_an_admin_mails_the_old_address_and_ends_undo_and_open_change(app) {
        let ada = app.two_step_user("ada").await;
        let token = moved(&app, &ada, NEW).await;
        change(&ada, "third@example.com").send().await.expect(202);
        app.run_jobs().await;
        app.mail().clear();

        change_user(&app, NEW, json!({"email": "admins@example.com", "emailVerified": true})).await;

        let mail = app.mail_to(NEW).await;
        assert!(mail.prose().contains("by an administrator") && !mail.text.contains("token="), "{mail:#?}");
        assert!(!mail.text.contains("IP address:"), "{mail:#?}");
        let account = crate::two_step_calls::account(&ada).await;
        assert_eq!((&account["twoStep"], &account["emailChange"]), (&json!(true), &json!(null)));
        assert_eq!(account["totp"].as_array().unwrap().len(), 1);
        crate::email_change_calls::undo(&app.anon(), &token, LEFT).send().await.refused(400, "INVALID_CODE");
        app.anon().sign_up(LEFT, PASSWORD).send().await.expect(200);
        assert_eq!(app.mail_to(LEFT).await.code().len(), 6, "free");
    }

    // The link in the mail about two-step sign-in lives longer than that of the change.
    with(|b| b.verification_by_code().config(|config| config.lifetimes.email_change.undo = minutes(10)))
    async fn address_is_reserved_as_long_as_any_undo_link_lives(app) {
        let ada = app.two_step_user("ada").await;
        let token = app.mail_to(LEFT).await.token();
        changed_from(&app, &ada, LEFT, NEW).await;
        app.clock.advance(minutes(11));

        app.anon().sign_up(LEFT, OTHER).send().await.expect(200);
        let body = json!({"email": LEFT, "password": PASSWORD, "autoConfirm": true});
        app.admin().post("/api/auth/users", body).send().await.refused(409, "EMAIL_EXISTS");

        crate::email_change_calls::undo(&app.anon(), &token, LEFT).send().await.expect(200);
        let user = app.admin().get(&format!("/api/auth/users/{}", ada.id)).send().await.expect(200);
        assert_eq!(user["email"], LEFT);
    }

    with(|b| b.verification_by_code().config(|config| config.lifetimes.email_change.undo = minutes(10)))
    async fn expired_link_of_another_account_does_not_end_a_later_one(app) {
        ada_left(&app).await;
        app.clock.advance(minutes(11));
        let bob = app.user("bob").await;
        changed_from(&app, &bob, &bob.email, LEFT).await;
        changed_from(&app, &bob, LEFT, "third@example.com").await;
        let token = app.mail().last(LEFT).token();

        crate::email_change_calls::undo(&app.anon(), &token, LEFT).send().await.expect(200);

        let user = app.admin().get(&format!("/api/auth/users/{}", bob.id)).send().await.expect(200);
        assert_eq!(user["email"], LEFT);
    }
}
