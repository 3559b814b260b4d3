//! Tests of changes of an email address by its owner: the way through, and its effects. Codes, hidden accounts,
//! reserved addresses and undo links have files of their own.

use latchkey_testkit::{PASSWORD, Session, TestApp, both_stores, challenge_id, json, minutes, seconds};

use crate::described::assert_successes_are_described;
use crate::email_calls::{exchange, reset_code};
use crate::email_change_calls::{
    Begun, assert_tells_the_request, begun, cancel, change, changed, confirm, id_of,
};
use crate::races::{count, race};
use crate::two_step_calls::{account, claims, keys, session_count, stepped_up};

const NEW: &str = "Countess@example.com";

/// Asserts that the account with this address is as before: password and address sign in, no change is open.
async fn is_unchanged(app: &TestApp, email: &str) {
    let session = Session::of(&app.anon().sign_in(email, PASSWORD).send().await);
    assert_eq!(account(&app.with_session(&session)).await["emailChange"], json!(null));
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn codes_of_both_mailboxes_change_the_address(app) {
        let ada = app.user("ada").await;

        let begun = change(&ada, NEW).send().await.expect(202);

        assert_eq!(keys(&begun), ["changeId", "expiresAt", "message", "needs", "success"]);
        assert_eq!((&begun["needs"], &begun["success"]), (&json!(["new", "current"]), &json!(true)));
        assert_eq!(begun["expiresAt"], "2026-03-02T10:30:00.000Z");
        let (id, expiry) = (&begun["changeId"], &begun["expiresAt"]);
        let open = json!({"changeId": id, "newEmail": NEW, "proven": [], "expiresAt": expiry});
        assert_eq!(account(&ada).await["emailChange"], open);
        let (id, new) = (id_of(&begun), app.mail_to(NEW).await.code());
        let needs = confirm(&ada, &id, &new, "").send().await.expect(200);
        assert_eq!(needs, json!({"needs": ["current"]}));
        assert_eq!(account(&ada).await["emailChange"]["proven"], json!(["new"]));
        assert_eq!(account(&ada).await["user"]["email"], ada.email);

        let current = app.mail_to(&ada.email).await.code();
        let done = confirm(&ada, &id, "", &current).send().await.expect(200);

        assert_eq!(keys(&done), ["accessToken", "user"]);
        assert_eq!((&done["user"]["email"], &done["user"]["emailVerified"]), (&json!(NEW), &json!(true)));
        let claims = claims(done["accessToken"].as_str().unwrap());
        assert_eq!((&claims["email"], &claims["sub"]), (&json!(NEW), &json!(ada.id)));
        assert_eq!(account(&ada).await["emailChange"], json!(null));
        app.anon().sign_in(NEW, PASSWORD).send().await.expect(200);
        app.anon().sign_in(&ada.email, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
    }

    with(|b| b.verification_by_code())
    async fn session_goes_on_and_the_others_end(app) {
        let ada = app.user("ada").await;
        let other = ada.sign_in_again().await;

        let done = changed(&app, &ada, NEW).await;

        assert!(done.set_cookies().is_empty(), "{done:?}");
        assert_eq!(session_count(&ada).await, 1);
        ada.refreshed().await.expect(200);
        app.anon().refresh(&other).send().await.refused(401, "AUTH_UNAUTHORIZED");
        let body = done.expect(200);
        let renewed = app.bearing(body["accessToken"].as_str().unwrap());
        assert_eq!(account(&renewed).await["user"]["email"], NEW);
    }

    with(|b| b.verification_by_code())
    async fn outstanding_codes_tokens_and_challenges_die(app) {
        let ada = app.user("ada").await;
        let token = crate::email_calls::reset_token(&app, &ada.email).await;
        let code = reset_code(&app, &ada.email).await;
        let challenge = challenge_id(&ada.reauthenticate().send().await);

        changed(&app, &ada, NEW).await;

        for email in [&ada.email, NEW] {
            exchange(&app.anon(), email, &code).send().await.refused(400, "INVALID_CODE");
        }
        let reset = crate::email_calls::reset(&app.anon(), &token, "a wholly new lantern");
        reset.send().await.refused(400, "INVALID_CODE");
        ada.answer(&challenge, "password", PASSWORD).send().await.refused(401, "INVALID_CHALLENGE");
    }

    with(|b| b.verification_by_code())
    async fn nothing_but_the_account_shows_the_new_address_before(app) {
        let ada = app.user("ada").await;
        let Begun { id, new, .. } = begun(&app, &ada, &ada.email, NEW).await;
        confirm(&ada, &id, &new, "").send().await.expect(200);

        let views = [
            ada.get("/api/auth/sessions/current").send().await,
            ada.get("/api/profiles/me").send().await,
            app.anon().get(&format!("/api/profiles/{}", ada.id)).send().await,
            app.admin().get(&format!("/api/auth/users/{}", ada.id)).send().await,
            app.admin().get("/api/auth/users").query("search", "countess").send().await,
            app.admin().get("/api/auth/audit").send().await,
            ada.refreshed().await,
        ];

        for view in views {
            view.expect(200);
            assert!(!view.text().to_lowercase().contains("countess@"), "{view:?}");
        }
    }

    with(|b| b.verification_by_code())
    async fn second_factor_stands_for_the_current_mailbox(app) {
        let ada = app.two_step_user("ada").await;
        app.mail().clear();

        let Begun { id, new, current } = begun(&app, &ada, &ada.email, NEW).await;

        assert_eq!(current, "", "nothing is mailed to the current address");
        confirm(&ada, &id, &new, "").send().await.expect(200);
        let account = account(&ada).await;
        assert_eq!((&account["user"]["email"], &account["twoStep"]), (&json!(NEW), &json!(true)));
        assert_eq!(account["recoveryCodesLeft"], 10);
    }

    with(|b| b.verification_by_code())
    async fn change_needs_a_fresh_token_before_any_field_is_judged(app) {
        let (ada, bob) = (app.user("ada").await, app.two_step_user("bob").await);
        app.clock.advance(minutes(10) + seconds(1));

        for client in [&*ada, &**bob] {
            for body in [json!({"newEmail": NEW}), json!({"newEmail": 5}), json!({})] {
                let stale = client.post("/api/auth/email/change", body).send().await;
                stale.refused(403, "REAUTHENTICATION_REQUIRED");
            }
        }
        change(&app.anon(), "nonsense").send().await.refused(401, "AUTH_UNAUTHORIZED");

        app.run_jobs().await;
        assert_eq!(app.mail().count(NEW), 0);
        let fresh = app.bearing(&stepped_up(&app, &bob, &bob).await);
        change(&fresh, NEW).send().await.expect(202);
    }

    // The second of two calls is bound to the first one.
    with(|b| b.verification_by_code())
    async fn codes_are_accepted_with_a_token_that_is_fresh_no_more(app) {
        let ada = app.user("ada").await;
        app.clock.advance(minutes(9));
        let Begun { id, new, current } = begun(&app, &ada, &ada.email, NEW).await;
        app.clock.advance(minutes(5));

        confirm(&ada, &id, &new, &current).send().await.expect(200);
    }

    async fn unverified_address_is_left_without_its_code_mail_or_reservation(app) {
        let ada = app.user("ada").await;

        let body = change(&ada, NEW).send().await.expect(202);

        assert_eq!(body["needs"], json!(["new"]));
        let code = app.mail_to(NEW).await.code();
        let done = confirm(&ada, &id_of(&body), &code, "").send().await.expect(200);
        assert_eq!(done["user"]["emailVerified"], true);
        app.run_jobs().await;
        assert_eq!(app.mail().count(&ada.email), 0);
        app.anon().sign_up(&ada.email, PASSWORD).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn own_address_in_any_spelling_is_refused_and_costs_nothing(app) {
        let ada = app.user("ada").await;
        app.mail().clear();
        for same in ["ada@example.org", "ADA@Example.ORG"] {
            let refusal = change(&ada, same).send().await.refused(400, "VALIDATION_ERROR");
            assert_eq!((&refusal["field"], &refusal["reasons"]), (&json!("newEmail"), &json!(["not_allowed"])));
        }
        for bad in ["ada", "", "ada@example", " x@example.org"] {
            let refusal = change(&ada, bad).send().await.refused(400, "VALIDATION_ERROR");
            assert_eq!(refusal["field"], "newEmail");
        }

        app.run_jobs().await;
        assert_eq!(app.mail().total(), 0);
        is_unchanged(&app, &ada.email).await;
    }

    with(|b| b.verification_by_code())
    async fn cancelled_change_is_dead_and_cancelling_again_is_no_error(app) {
        let ada = app.user("ada").await;
        let Begun { id, new, current } = begun(&app, &ada, &ada.email, NEW).await;
        app.clock.advance(seconds(1));

        let body = cancel(&ada).send().await.expect(200);

        assert_eq!(keys(&body), ["message"]);
        confirm(&ada, &id, &new, &current).send().await.refused(404, "NOT_FOUND");
        assert_eq!(cancel(&ada).send().await.expect(200), body);
        cancel(&app.anon()).send().await.refused(401, "AUTH_UNAUTHORIZED");
        is_unchanged(&app, &ada.email).await;
        let events = crate::audit::events(&app).await;
        let cancelled = events.iter().filter(|event| event["event"] == "email_change_cancelled");
        assert_eq!(cancelled.count(), 1, "{events:?}");
    }

    with(|b| b.verification_by_code())
    async fn newer_change_replaces_the_older(app) {
        let ada = app.user("ada").await;
        let older = begun(&app, &ada, &ada.email, "first@example.com").await;
        let newer = begun(&app, &ada, &ada.email, NEW).await;

        confirm(&ada, &older.id, &older.new, &older.current).send().await.refused(404, "NOT_FOUND");
        let mixed = confirm(&ada, &newer.id, &older.new, &newer.current).send().await;
        mixed.refused(400, "INVALID_CODE");

        confirm(&ada, &newer.id, &newer.new, "").send().await.expect(200);
        assert_eq!(account(&ada).await["user"]["email"], NEW);
    }

    with(|b| b.verification_by_code())
    async fn change_belongs_to_the_session_that_began_it(app) {
        let ada = app.user("ada").await;
        let Begun { id, new, current } = begun(&app, &ada, &ada.email, NEW).await;
        let other = app.with_session(&ada.sign_in_again().await);

        for _ in 0..10 {
            confirm(&other, &id, "000000", "000000").send().await.refused(404, "NOT_FOUND");
        }
        confirm(&other, &id, &new, &current).send().await.refused(404, "NOT_FOUND");

        confirm(&ada, &id, &new, &current).send().await.expect(200);
        assert_eq!(session_count(&ada).await, 1);
        other.get("/api/auth/account").send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    // A page that was loaded anew, by the same session.
    with(|b| b.verification_by_code())
    async fn change_goes_on_after_a_reload_in_its_session_alone(app) {
        let ada = app.user("ada").await;
        let Begun { new, current, .. } = begun(&app, &ada, &ada.email, NEW).await;
        let other = app.with_session(&ada.sign_in_again().await);
        assert_eq!(keys(&account(&other).await["emailChange"]), ["expiresAt", "newEmail", "proven"]);

        let refreshed = app.with_session(&Session::of(&ada.refreshed().await));
        let id = id_of(&account(&refreshed).await["emailChange"]);

        confirm(&refreshed, &id, &new, &current).send().await.expect(200);
        assert_eq!(account(&refreshed).await["user"]["email"], NEW);
    }

    with(|b| b.verification_by_code())
    async fn password_change_reset_and_admin_end_an_open_change(app) {
        for way in ["password", "reset", "admin", "ban", "two-step"] {
            let user = app.user(way).await;
            let Begun { id, new, current } = begun(&app, &user, &user.email, &format!("new-{way}@example.com")).await;
            let client = match way {
                "password" => {
                    let body = json!({"currentPassword": PASSWORD, "newPassword": "a wholly new lantern"});
                    user.post("/api/auth/password", body).send().await.expect(200);
                    app.with_session(&user.session)
                }
                "reset" => {
                    let token = crate::email_calls::reset_token(&app, &user.email).await;
                    crate::email_calls::reset(&app.anon(), &token, PASSWORD).send().await.expect(200);
                    app.with_session(&user.sign_in_again().await)
                }
                "admin" => {
                    let change = json!({"email": "moved@example.com", "emailVerified": true});
                    crate::email_calls::change_user(&app, &user.email, change).await;
                    app.with_session(&user.session)
                }
                "ban" => {
                    for banned in [true, false] {
                        crate::email_calls::change_user(&app, &user.email, json!({"banned": banned})).await;
                    }
                    app.with_session(&user.sign_in_again().await)
                }
                _ => {
                    let (phone, factor) = app.begin_totp(&user).await;
                    let on = user.confirm_totp(&factor, &phone.code()).send().await;
                    app.with_session(&Session::of(&on))
                }
            };

            assert_eq!(account(&client).await["emailChange"], json!(null), "{way}");
            confirm(&client, &id, &new, &current).send().await.refused(404, "NOT_FOUND");
        }
    }

    parallel with(|b| b.verification_by_code())
    async fn of_twenty_that_enter_the_codes_one_wins(app) {
        let ada = app.user("ada").await;
        let Begun { id, new, current } = begun(&app, &ada, &ada.email, NEW).await;

        let answers = race(|_| confirm(&ada, &id, &new, &current)).await;

        assert_eq!(count(&answers, 200), 1, "{answers:?}");
        assert_eq!(count(&answers, 404), answers.len() - 1, "{answers:?}");
    }

    parallel with(|b| b.verification_by_code())
    async fn of_twenty_changes_begun_at_once_one_is_open(app) {
        let ada = app.user("ada").await;

        let answers = race(|number| change(&ada, &format!("new-{number}@example.com"))).await;

        assert_eq!(count(&answers, 202), answers.len(), "{answers:?}");
        app.run_jobs().await;
        let open = account(&ada).await["emailChange"]["newEmail"].as_str().unwrap().to_owned();
        let codes = app.mail().all(&ada.email);
        let mut done = 0;
        for (number, answer) in answers.iter().enumerate() {
            let address = format!("new-{number}@example.com");
            let new = app.mail().last(&address).code();
            let answer = confirm(&ada, &id_of(&answer.expect(202)), &new, "").send().await;
            assert_eq!(answer.status, if address == open { 200 } else { 404 }, "{address} {open}");
            done += usize::from(answer.status == 200);
        }
        assert_eq!((done, codes.len()), (1, 21), "a mail at sign-up and one for each change");
    }

    with(|b| b.verification_by_code())
    async fn mails_carry_codes_before_and_news_after(app) {
        let ada = app.user("ada").await;
        app.mail().clear();
        let Begun { id, new, current } = begun(&app, &ada, &ada.email, NEW).await;
        for (address, code) in [(NEW, &new), (&ada.email, &current)] {
            let mail = app.mail().last(address);
            assert!(mail.text.contains("30 minutes") && mail.html.contains(code.as_str()), "{mail:#?}");
            assert!(!mail.subject.contains(code.as_str()) && !mail.text.contains("token="), "{mail:#?}");
            assert_tells_the_request(&mail);
            assert!(!mail.text.contains("@example"), "neither mail tells the other address: {mail:#?}");
        }
        assert_ne!(new, current);
        app.mail().clear();

        confirm(&ada, &id, &new, &current).send().await.expect(200);

        let (old, news) = (app.mail_to(&ada.email).await, app.mail().last(NEW));
        assert_eq!(app.mail().total(), 2);
        for mail in [&old, &news] {
            assert_tells_the_request(mail);
            assert!(!mail.text.contains("@example"), "{mail:#?}");
        }
        assert!(old.text.contains("/api/auth/undo?token=") && old.html.contains(&old.token()), "{old:#?}");
        assert!(old.text.contains("2026-03-09 10:00 UTC"), "{old:#?}");
        assert!(!news.text.contains("token="), "{news:#?}");
    }

    with(|b| b.verification_by_code())
    async fn change_is_audited_without_addresses_and_codes(app) {
        let ada = app.user("ada").await;
        app.clock.advance(seconds(1));
        let Begun { id, new, current } = begun(&app, &ada, &ada.email, NEW).await;
        app.clock.advance(seconds(1));

        confirm(&ada, &id, &new, &current).send().await.expect(200);

        for kind in ["email_change_started", "email_changed"] {
            let event = crate::audit::last(&app, kind).await;
            assert_eq!((&event["userId"], &event["actor"]), (&json!(ada.id), &json!("user")), "{event}");
            assert!(event["sessionId"].is_string() && event["details"] == json!({}), "{event}");
        }
    }

    with(|b| b.no_mail_transport())
    async fn change_without_a_mail_transport_is_refused(app) {
        let ada = app.user("ada").await;

        change(&ada, NEW).send().await.refused(400, "EMAIL_PROVIDER_NOT_CONFIGURED");
    }

    with(|b| b.verification_by_code())
    async fn responses_are_described(app) {
        let ada = app.user("ada").await;
        let Begun { id, new, current } = begun(&app, &ada, &ada.email, NEW).await;
        let open = ("GET /api/auth/account", ada.get("/api/auth/account"));
        let half = ("POST /api/auth/email/change/confirm", confirm(&ada, &id, &new, ""));
        let whole = ("POST /api/auth/email/change/confirm", confirm(&ada, &id, "", &current));
        let begin = ("POST /api/auth/email/change", change(&ada, "again@example.com"));
        let end = ("DELETE /api/auth/email/change", cancel(&ada));

        assert_successes_are_described(&app, [open, half, whole, begin, end]).await;
    }
}
