//! Tests of the undo link in the mail to the old address of a changed email address.

use latchkey_testkit::{
    Client, PASSWORD, Session, TestApp, User, Value, both_stores, days, hours, json, seconds,
};

use crate::described::assert_successes_are_described;
use crate::email_calls::{NEW_PASSWORD, exchange, reset};
use crate::email_change_calls::{begun, changed, changed_from, confirm, moved, undo};
use crate::oauth_calls::VERIFIER;
use crate::oauth_calls::{
    acme, exchange as exchange_identity, identities, link_code, person, provider, sign_in,
};
use crate::races::{one_wins, race};
use crate::two_step_calls::{account, signed_in};

pub(crate) const LEFT: &str = "ada@example.org";
pub(crate) const NEW: &str = "countess@example.com";

/// Ada, who left her address; the undo token.
async fn ada_left(app: &TestApp) -> (User, String) {
    let ada = app.user("ada").await;
    let token = moved(app, &ada, NEW).await;
    app.mail().clear();
    (ada, token)
}

/// Undoes with a code of a second factor.
pub(crate) async fn undo_with(client: &Client, token: &str, code: &str) -> latchkey_testkit::Answer {
    let body = json!({"token": token, "email": LEFT, "code": code});
    client.post("/api/auth/undo", body).send().await
}

/// Sets a password by the reset code that an undo mailed to the old address, and signs in with it.
pub(crate) async fn reset_and_sign_in(app: &TestApp) -> Session {
    app.run_jobs().await;
    let mails = app.mail().all(LEFT);
    let mail = mails.iter().rev().find(|mail| mail.subject.contains("password")).expect("a reset mail");
    let body = exchange(&app.anon(), LEFT, &mail.code()).send().await.expect(200);
    reset(&app.anon(), body["token"].as_str().unwrap(), NEW_PASSWORD).send().await.expect(200);
    Session::of(&app.anon().sign_in(LEFT, NEW_PASSWORD).send().await)
}

/// Address of the user with this id.
pub(crate) async fn email_of(app: &TestApp, id: &str) -> Value {
    app.admin().get(&format!("/api/auth/users/{id}")).send().await.expect(200)["email"].clone()
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn old_mailbox_takes_the_account_back(app) {
        let (ada, token) = ada_left(&app).await;
        let reset_of_thief = crate::email_calls::reset_token(&app, NEW).await;
        let open = begun(&app, &ada, NEW, "third@example.com").await;

        let body = undo(&app.anon(), &token, "ADA@example.org").send().await.expect(200);

        assert_eq!(crate::two_step_calls::keys(&body), ["message"]);
        confirm(&ada, &open.id, &open.new, &open.current).send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.anon().refresh(&ada.session).send().await.refused(401, "AUTH_UNAUTHORIZED");
        for email in [LEFT, NEW] {
            app.anon().sign_in(email, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
        }
        reset(&app.anon(), &reset_of_thief, NEW_PASSWORD).send().await.refused(400, "INVALID_CODE");
        let session = reset_and_sign_in(&app).await;
        assert_eq!(session.user_id, ada.id);
        let account = account(&app.with_session(&session)).await;
        assert_eq!((&account["user"]["email"], &account["user"]["emailVerified"]), (&json!(LEFT), &json!(true)));
        let body = json!({"email": NEW, "password": PASSWORD, "autoConfirm": true});
        app.admin().post("/api/auth/users", body).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn link_is_good_once_for_its_address_and_seven_days(app) {
        let (ada, token) = ada_left(&app).await;
        app.clock.advance(days(7) - seconds(1));
        app.anon().get(&format!("/api/auth/undo?token={token}")).send().await.page(200);
        for email in [NEW, "bob@example.org"] {
            undo(&app.anon(), &token, email).send().await.refused(400, "INVALID_CODE");
        }
        assert_eq!(email_of(&app, &ada.id).await, NEW);
        undo(&app.anon(), &token, LEFT).send().await.expect(200);
        undo(&app.anon(), &token, LEFT).send().await.refused(400, "INVALID_CODE");

        let bob = app.user("bob").await;
        let late = moved(&app, &bob, "bert@example.com").await;
        app.clock.advance(days(7));
        undo(&app.anon(), &late, &bob.email).send().await.refused(400, "INVALID_CODE");
        app.anon().get(&format!("/api/auth/undo?token={late}")).send().await.page(400);
        assert_eq!(email_of(&app, &bob.id).await, "bert@example.com");
    }

    with(|b| b.verification_by_code())
    async fn page_says_what_happened_and_its_form_takes_it_back(app) {
        let (ada, token) = ada_left(&app).await;
        let link = format!("/api/auth/undo?token={token}");
        for method in ["HEAD", "GET", "GET"] {
            assert_eq!(app.anon().request(method, &link).send().await.status, 200);
        }
        let answer = app.anon().get(&link).send().await;
        let page = answer.page(200);
        assert!(page.contains("Another email address was given") && page.contains("2026-03-02 10:00 UTC"), "{page}");
        assert!(!page.contains(NEW) && !page.contains(LEFT) && !page.contains("name=\"code\""), "{page}");
        assert_eq!(email_of(&app, &ada.id).await, NEW, "GET changes nothing");

        let form = |email: &str| {
            let body = format!("token={token}&email={}", email.replace('@', "%40"));
            app.anon().request("POST", "/api/auth/undo").raw("application/x-www-form-urlencoded", body)
        };
        form(NEW).send().await.page(400);
        assert!(form(LEFT).send().await.page(200).contains("It was undone"));

        assert_eq!(email_of(&app, &ada.id).await, LEFT);
    }

    // What an intruder of the day before may have added goes, what is older stays.
    with(|b| b.verification_by_code())
    async fn identities_since_the_day_before_go_and_older_ones_stay(app) {
        let ada = app.user("ada").await;
        let (old, young) = (acme(&app).await, provider(&app, "young").await);
        old.person(person("ada at work", "work@example.org"));
        let code = link_code(&ada, &old, "acme").await;
        exchange_identity(&ada, &code, VERIFIER).send().await.expect(200);
        app.clock.advance(hours(25));
        let client = app.with_session(&ada.sign_in_again().await);
        young.person(person("intruder", "intruder@example.org"));
        let code = link_code(&client, &young, "young").await;
        exchange_identity(&client, &code, VERIFIER).send().await.expect(200);
        changed_from(&app, &client, LEFT, NEW).await;
        let token = app.mail().last(LEFT).token();

        undo(&app.anon(), &token, LEFT).send().await.expect(200);

        let back = Session::of(&sign_in(&app, &old, "acme").await);
        assert_eq!(back.user_id, ada.id);
        assert_eq!(identities(&app.with_session(&back)).await, ["acme"]);
        assert_ne!(Session::of(&sign_in(&app, &young, "young").await).user_id, ada.id);
    }

    with(|b| b.verification_by_code())
    async fn link_of_an_earlier_change_ends_that_of_a_later_one(app) {
        let (ada, first) = ada_left(&app).await;
        changed_from(&app, &ada, NEW, "third@example.com").await;
        let second = app.mail().last(NEW).token();
        app.clock.advance(seconds(1));

        undo(&app.anon(), &first, LEFT).send().await.expect(200);

        assert_eq!(email_of(&app, &ada.id).await, LEFT);
        undo(&app.anon(), &second, NEW).send().await.refused(400, "INVALID_CODE");
        assert_eq!(email_of(&app, &ada.id).await, LEFT);
    }

    with(|b| b.verification_by_code())
    async fn link_of_a_later_change_leaves_that_of_an_earlier_one(app) {
        let (ada, first) = ada_left(&app).await;
        app.clock.advance(seconds(1));
        changed_from(&app, &ada, NEW, "third@example.com").await;
        let second = app.mail().last(NEW).token();

        undo(&app.anon(), &second, NEW).send().await.expect(200);
        assert_eq!(email_of(&app, &ada.id).await, NEW);
        undo(&app.anon(), &first, LEFT).send().await.expect(200);

        assert_eq!(email_of(&app, &ada.id).await, LEFT);
    }

    // After an undo and another change, the first link is no way back.
    with(|b| b.verification_by_code())
    async fn used_link_does_nothing_after_a_later_change(app) {
        let (ada, token) = ada_left(&app).await;
        undo(&app.anon(), &token, LEFT).send().await.expect(200);
        let session = reset_and_sign_in(&app).await;
        changed_from(&app, &app.with_session(&session), LEFT, "third@example.com").await;

        undo(&app.anon(), &token, LEFT).send().await.refused(400, "INVALID_CODE");

        assert_eq!(email_of(&app, &ada.id).await, "third@example.com");
    }

    with(|b| b.verification_by_code())
    async fn two_step_from_before_the_change_is_asked_for(app) {
        let ada = app.two_step_user("ada").await;
        app.clock.advance(days(2));
        let session = signed_in(&app, &ada).await;
        changed_from(&app, &app.with_session(&session), LEFT, NEW).await;
        let token = app.mail().last(LEFT).token();

        let answer = undo(&app.anon(), &token, LEFT).send().await;

        let refusal = answer.refused(403, "SECOND_FACTOR_REQUIRED");
        assert_eq!(refusal["challenge"]["kinds"], json!(["totp", "recovery_code"]));
        assert_eq!(email_of(&app, &ada.id).await, NEW, "not yet");
        let wrong = ada.authenticator.wrong_code(0);
        undo_with(&app.anon(), &token, &wrong).await.refused(401, "INVALID_SECOND_FACTOR");
        undo(&app.anon(), &token, NEW).send().await.refused(400, "INVALID_CODE");
        let challenge = undo(&app.anon(), &token, LEFT).send().await.refused(403, "SECOND_FACTOR_REQUIRED");
        let id = challenge["challenge"]["id"].as_str().unwrap();
        let done = app.anon().answer(id, "totp", &ada.authenticator.code()).send().await.expect(200);
        assert_eq!(crate::two_step_calls::keys(&done), ["message"]);

        assert_eq!(email_of(&app, &ada.id).await, LEFT);
        undo(&app.anon(), &token, LEFT).send().await.refused(400, "INVALID_CODE");
        let mail = app.mail_to(LEFT).await;
        assert!(!mail.to.is_empty());
        let challenged = reset_needs_second_factor(&app).await;
        assert_eq!(challenged, 403, "two-step is still on");
    }

    with(|b| b.verification_by_code())
    async fn passkey_answers_the_challenge_of_an_undo(app) {
        let ada = app.two_step_user("ada").await;
        let (mut passkey, _) = ada.add_passkey(&app.phone()).await;
        app.clock.advance(days(2));
        let session = signed_in(&app, &ada).await;
        changed_from(&app, &app.with_session(&session), LEFT, NEW).await;
        let token = app.mail().last(LEFT).token();

        let refusal = undo(&app.anon(), &token, LEFT).send().await.refused(403, "SECOND_FACTOR_REQUIRED");

        assert_eq!(refusal["challenge"]["kinds"], json!(["passkey", "totp", "recovery_code"]));
        let id = refusal["challenge"]["id"].as_str().unwrap();
        let begun = app.anon().challenge_options(id).send().await.expect(200);
        let mut of_bob = app.passkey_user("bob").await.passkey.clone();
        let wrong = of_bob.sign(&begun["options"]).to_json();
        app.anon().answer_by_passkey(id, &wrong).send().await.refused(401, "INVALID_SECOND_FACTOR");
        let right = passkey.sign(&begun["options"]).to_json();
        let done = app.anon().answer_by_passkey(id, &right).send().await.expect(200);
        assert_eq!(crate::two_step_calls::keys(&done), ["message"]);
        assert_eq!(email_of(&app, &ada.id).await, LEFT);
        app.anon().answer_by_passkey(id, &right).send().await.refused(401, "INVALID_CHALLENGE");
    }

    with(|b| b.verification_by_code())
    async fn page_has_a_field_for_the_second_factor_and_takes_a_recovery_code(app) {
        let ada = app.two_step_user("ada").await;
        app.clock.advance(days(2));
        let session = signed_in(&app, &ada).await;
        changed_from(&app, &app.with_session(&session), LEFT, NEW).await;
        let token = app.mail().last(LEFT).token();
        let form = |code: &str| {
            let code = if code.is_empty() { String::new() } else { format!("&code={code}") };
            let body = format!("token={token}&email=ada%40example.org{code}");
            app.anon().request("POST", "/api/auth/undo").raw("application/x-www-form-urlencoded", body)
        };

        assert!(form("").send().await.page(200).contains("name=\"code\""));
        assert!(form("000000").send().await.page(400).contains("name=\"code\""));
        let done = form(&ada.recovery_codes[0]).send().await;

        assert!(done.page(200).contains("It was undone"));
        assert_eq!(email_of(&app, &ada.id).await, LEFT);
        app.run_jobs().await;
        let told = app.mail().all(LEFT);
        assert!(told.iter().any(|mail| mail.subject.to_lowercase().contains("recovery code")), "{told:#?}");
    }

    // An intruder turns two-step on, so that the change needs the new mailbox alone: the earlier mail takes all back.
    with(|b| b.verification_by_code())
    async fn link_of_two_step_takes_a_later_change_back_too(app) {
        let ada = app.user("ada").await;
        let (phone, factor) = app.begin_totp(&ada).await;
        let intruder = Session::of(&ada.confirm_totp(&factor, &phone.code()).send().await);
        let first = app.mail_to(LEFT).await.token();
        app.clock.advance(seconds(30));
        changed_from(&app, &app.with_session(&intruder), LEFT, NEW).await;
        let second = app.mail().last(LEFT).token();

        undo(&app.anon(), &first, LEFT).send().await.expect(200);

        let session = reset_and_sign_in(&app).await;
        let account = account(&app.with_session(&session)).await;
        assert_eq!((&account["user"]["email"], &account["twoStep"]), (&json!(LEFT), &json!(false)));
        undo(&app.anon(), &second, LEFT).send().await.refused(400, "INVALID_CODE");
    }

    // Whoever left a mailbox on purpose: it can do for seven days what it could do before, and no more.
    with(|b| b.verification_by_code())
    async fn mailbox_that_was_left_on_purpose_can_do_no_more_than_before(app) {
        let bob = app.two_step_user("bob").await;
        app.clock.advance(days(2));
        let ada = app.user("ada").await;
        let of_ada = moved(&app, &ada, NEW).await;
        let session = signed_in(&app, &bob).await;
        changed_from(&app, &app.with_session(&session), &bob.email, "bert@example.com").await;
        let of_bob = app.mail().last(&bob.email).token();
        for user in [&ada, &*bob] {
            crate::email_calls::send_reset(&app.anon(), &user.email).send().await.expect(202);
            app.mail().clear();
            app.run_jobs().await;
            assert_eq!(app.mail().count(&user.email), 0, "no reset of an address that was left");
        }
        let refused = undo(&app.anon(), &of_bob, &bob.email).send().await;
        refused.refused(403, "SECOND_FACTOR_REQUIRED");
        assert_eq!(email_of(&app, &bob.id).await, "bert@example.com");
        app.clock.advance(days(7));

        for (token, email) in [(of_ada, LEFT), (of_bob, "bob@example.org")] {
            undo(&app.anon(), &token, email).send().await.refused(400, "INVALID_CODE");
        }

        assert_eq!(email_of(&app, &ada.id).await, NEW);
        app.anon().sign_in(NEW, PASSWORD).send().await.expect(200);
    }

    parallel with(|b| b.verification_by_code())
    async fn of_twenty_that_undo_one_wins(app) {
        let (ada, token) = ada_left(&app).await;

        let answers = race(|_| undo(&app.anon(), &token, LEFT)).await;

        one_wins(&answers, 400, "INVALID_CODE");
        assert_eq!(email_of(&app, &ada.id).await, LEFT);
    }

    parallel with(|b| b.verification_by_code())
    async fn undo_wins_against_a_change_and_sign_ups_of_the_same_moment(app) {
        let (ada, token) = ada_left(&app).await;
        let open = begun(&app, &ada, NEW, "third@example.com").await;

        let answers = race(|number| match number % 3 {
            0 => undo(&app.anon(), &token, LEFT),
            1 => confirm(&ada, &open.id, &open.new, &open.current),
            _ => app.anon().sign_up(LEFT, "another lantern 42"),
        })
        .await;

        assert!(answers.iter().all(|answer| answer.status < 500 || answer.status == 503), "{answers:?}");
        let undone = answers.iter().step_by(3).filter(|answer| answer.status == 200).count();
        assert_eq!(undone, 1, "{answers:?}");
        assert_eq!(email_of(&app, &ada.id).await, LEFT);
        assert_eq!(reset_and_sign_in(&app).await.user_id, ada.id);
    }

    // The mail to the address that the account leaves tells nothing about the person who undid.
    with(|b| b.verification_by_code())
    async fn undo_is_audited_and_told_on_both_sides(app) {
        let (ada, token) = ada_left(&app).await;
        app.clock.advance(seconds(1));

        undo(&app.anon().at("203.0.113.9"), &token, LEFT).send().await.expect(200);

        let event = crate::audit::last(&app, "undone").await;
        assert_eq!((&event["userId"], &event["details"]), (&json!(ada.id), &json!({})));
        app.run_jobs().await;
        let (back, left) = (app.mail().all(LEFT), app.mail().all(NEW));
        assert_eq!((back.len(), left.len()), (2, 1), "{back:#?} {left:#?}");
        assert!(back.iter().any(|mail| mail.text.contains("203.0.113.9")), "{back:#?}");
        assert!(!left[0].text.contains("203.0.113.9") && left[0].text.contains("changed back"), "{left:#?}");
        assert!(!left[0].text.contains("@example"), "{left:#?}");
    }

    with(|b| b.verification_by_code())
    async fn responses_are_described(app) {
        let (_, token) = ada_left(&app).await;
        let link = format!("/api/auth/undo?token={token}");
        let requests = [
            ("GET /api/auth/undo", app.anon().get(&link)),
            ("POST /api/auth/undo", undo(&app.anon(), &token, LEFT)),
        ];

        assert_successes_are_described(&app, requests).await;
    }

    with(|b| b.verification_by_code().link_reset().redirects(&["https://app.example/done"]).default_redirect("https://app.example/done"))
    async fn reset_link_of_an_undo_goes_to_the_old_address(app) {
        let ada = app.user("ada").await;
        changed(&app, &ada, NEW).await;
        let token = app.mail().last(LEFT).token();
        app.mail().clear();

        undo(&app.anon(), &token, LEFT).send().await.expect(200);

        app.run_jobs().await;
        let mails = app.mail().all(LEFT);
        let mail = mails.iter().find(|mail| mail.text.contains("reset-password-link")).expect("a reset link");
        reset(&app.anon(), &mail.token(), NEW_PASSWORD).send().await.expect(200);
        app.anon().sign_in(LEFT, NEW_PASSWORD).send().await.expect(200);
    }
}

/// Status of a reset with the code that an undo mailed to the old address.
async fn reset_needs_second_factor(app: &TestApp) -> u16 {
    let mails = app.mail().all(LEFT);
    let mail = mails.iter().rev().find(|mail| mail.subject.contains("password")).expect("a reset mail");
    let body = exchange(&app.anon(), LEFT, &mail.code()).send().await.expect(200);
    reset(&app.anon(), body["token"].as_str().unwrap(), NEW_PASSWORD).send().await.status
}
