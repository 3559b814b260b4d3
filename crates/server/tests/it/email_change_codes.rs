//! Tests of the codes of a change of address: lifetime, attempts, lanes, limits.

use latchkey_testkit::{Client, Session, TestApp, User, both_stores, hours, json, minutes, seconds};

use crate::email_calls::{change_user, exchange, other_than, reset_code, sign_in_by_code};
use crate::email_change_calls::{Begun, begun, change, confirm};
use crate::two_step_calls::account;

const NEW: &str = "countess@example.com";

async fn open(app: &TestApp, user: &User) -> Begun {
    begun(app, user, &user.email, NEW).await
}

/// Enters a wrong code for the new address this many times.
async fn guess(client: &Client, begun: &Begun, times: usize) {
    for _ in 0..times {
        let answer = confirm(client, &begun.id, other_than(&begun.new), "").send().await;
        answer.refused(400, "INVALID_CODE");
    }
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn wrong_code_is_refused_and_a_right_one_beside_it_counts(app) {
        let ada = app.user("ada").await;
        let Begun { id, new, current } = open(&app, &ada).await;

        let answer = confirm(&ada, &id, other_than(&new), &current).send().await;

        answer.refused(400, "INVALID_CODE");
        assert_eq!(account(&ada).await["emailChange"]["proven"], json!(["current"]));
        let needs = confirm(&ada, &id, "", "").send().await.expect(200);
        assert_eq!(needs, json!({"needs": ["new"]}));
        confirm(&ada, &id, &new, &current).send().await.expect(200);
        assert_eq!(account(&ada).await["user"]["email"], NEW);
    }

    // A thief of the session who also has the new mailbox needs the current one as well, and the other way around.
    with(|b| b.verification_by_code())
    async fn one_side_alone_changes_nothing(app) {
        for (name, missing) in [("ada", "current"), ("bob", "new")] {
            let user = app.user(name).await;
            let Begun { id, new, current } = begun(&app, &user, &user.email, &format!("{name}@example.com")).await;
            let sole = if missing == "current" { &new } else { &current };
            let proof = if missing == "current" { (sole.as_str(), "") } else { ("", sole.as_str()) };

            confirm(&user, &id, proof.0, proof.1).send().await.expect(200);
            for _ in 0..3 {
                confirm(&user, &id, sole, sole).send().await.refused(400, "INVALID_CODE");
            }
            let needs = confirm(&user, &id, proof.0, proof.1).send().await.expect(200);

            assert_eq!(needs, json!({"needs": [missing]}));
            assert_eq!(account(&user).await["user"]["email"], user.email);
            app.anon().sign_in(&user.email, &user.password).send().await.expect(200);
            confirm(&user, &id, &new, &current).send().await.expect(200);
            assert_eq!(account(&user).await["user"]["email"], format!("{name}@example.com"));
        }
    }

    with(|b| b.verification_by_code())
    async fn code_has_five_attempts_and_the_other_side_its_own(app) {
        let ada = app.user("ada").await;
        let begun = open(&app, &ada).await;

        guess(&ada, &begun, 5).await;

        confirm(&ada, &begun.id, &begun.new, "").send().await.refused(400, "INVALID_CODE");
        let needs = confirm(&ada, &begun.id, "", &begun.current).send().await.expect(200);
        assert_eq!(needs, json!({"needs": ["new"]}));
    }

    with(|b| b.verification_by_code())
    async fn ten_wrong_codes_an_hour_hold_over_all_changes(app) {
        let ada = app.user("ada").await;
        for _ in 0..2 {
            let begun = open(&app, &ada).await;
            guess(&ada, &begun, 5).await;
        }
        let begun = open(&app, &ada).await;
        confirm(&ada, &begun.id, &begun.new, "").send().await.refused(400, "INVALID_CODE");

        app.clock.advance(hours(1));
        let fresh = app.with_session(&ada.sign_in_again().await);
        let begun = crate::email_change_calls::begun(&app, &fresh, &ada.email, NEW).await;

        confirm(&fresh, &begun.id, &begun.new, &begun.current).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn thirty_wrong_codes_a_day_bring_one_of_sixteen_characters(app) {
        let ada = app.user("ada").await;
        let mut client = app.with_session(&ada.session);
        for _ in 0..3 {
            for _ in 0..2 {
                let begun = begun(&app, &client, &ada.email, NEW).await;
                guess(&client, &begun, 5).await;
            }
            app.clock.advance(hours(1));
            client = app.with_session(&ada.sign_in_again().await);
        }

        let begun = begun(&app, &client, &ada.email, NEW).await;

        assert_eq!((begun.new.len(), begun.current.len()), (19, 6), "{}", begun.new);
        guess(&client, &begun, 1).await;
        let typed = begun.new.to_uppercase().replace('-', " ");
        confirm(&client, &begun.id, &typed, &begun.current).send().await.expect(200);
    }

    // Guesses with a stolen token do not lock the owner out of the places that the account knows.
    with(|b| b.verification_by_code().limits())
    async fn strangers_use_up_their_own_lane(app) {
        let ada = app.user("ada").await;
        let thief = app.with_session(&ada.session).at("203.0.113.9");
        app.clock.advance(minutes(2));
        let begun = open(&app, &ada).await;
        guess(&thief, &begun, 5).await;

        confirm(&thief, &begun.id, &begun.new, &begun.current).send().await.refused(400, "INVALID_CODE");

        confirm(&ada, &begun.id, &begun.new, "").send().await.expect(200);
        assert_eq!(account(&ada).await["user"]["email"], NEW);
    }

    // The place that the owner signed in from stays known under the new address.
    with(|b| b.verification_by_code().limits())
    async fn known_place_is_known_under_the_new_address(app) {
        let ada = app.user("ada").await;
        app.clock.advance(minutes(2));
        let begun = open(&app, &ada).await;
        confirm(&ada, &begun.id, &begun.new, &begun.current).send().await.expect(200);
        let code = reset_code(&app, NEW).await;
        let stranger = app.anon().at("203.0.113.9");
        for _ in 0..5 {
            exchange(&stranger, NEW, other_than(&code)).send().await.refused(400, "INVALID_CODE");
        }
        exchange(&stranger, NEW, &code).send().await.refused(400, "INVALID_CODE");

        exchange(&ada, NEW, &code).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn codes_live_as_long_as_the_change(app) {
        let ada = app.user("ada").await;
        let first = open(&app, &ada).await;
        app.clock.advance(minutes(30) - seconds(1));
        let fresh = app.with_session(&Session::of(&ada.refreshed().await));
        confirm(&fresh, &first.id, "", &first.current).send().await.expect(200);

        app.clock.advance(seconds(1));

        confirm(&fresh, &first.id, &first.new, "").send().await.refused(404, "NOT_FOUND");
        assert_eq!(account(&fresh).await["emailChange"], json!(null));
    }

    with(|b| b.verification_by_code().config(|config| config.lifetimes.email_change.change = minutes(2)))
    async fn lifetime_is_a_setting(app) {
        let ada = app.user("ada").await;
        let begun = open(&app, &ada).await;
        assert!(app.mail().last(NEW).text.contains("2 minutes"));

        app.clock.advance(minutes(2));

        confirm(&ada, &begun.id, &begun.new, &begun.current).send().await.refused(404, "NOT_FOUND");
    }

    with(|b| b.verification_by_code())
    async fn change_that_is_unknown_or_of_another_account_is_not_found_and_costs_its_owner_nothing(app) {
        let (ada, eve) = (app.user("ada").await, app.user("eve").await);
        let begun = open(&app, &ada).await;
        for id in ["0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", "none", "", &begun.id.replace('-', "")] {
            confirm(&ada, id, &begun.new, &begun.current).send().await.refused(404, "NOT_FOUND");
        }
        for _ in 0..6 {
            confirm(&eve, &begun.id, "000000", "111111").send().await.refused(404, "NOT_FOUND");
            confirm(&eve, &begun.id, &begun.new, &begun.current).send().await.refused(404, "NOT_FOUND");
        }
        confirm(&app.anon(), &begun.id, &begun.new, &begun.current).send().await.refused(401, "AUTH_UNAUTHORIZED");

        confirm(&ada, &begun.id, &begun.new, &begun.current).send().await.expect(200);
    }

    // The codes of one change are nothing to another one, though account and addresses are the same.
    with(|b| b.verification_by_code())
    async fn code_of_another_change_is_wrong(app) {
        let ada = app.user("ada").await;
        let first = open(&app, &ada).await;
        let second = open(&app, &ada).await;
        assert_ne!(first.id, second.id);

        let answer = confirm(&ada, &second.id, &first.new, &first.current).send().await;

        answer.refused(400, "INVALID_CODE");
        confirm(&ada, &second.id, &second.new, &second.current).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn codes_of_other_purposes_are_unknown_here_and_these_elsewhere(app) {
        let ada = app.user("ada").await;
        let reset = reset_code(&app, &ada.email).await;
        let begun = open(&app, &ada).await;

        confirm(&ada, &begun.id, &reset, &reset).send().await.refused(400, "INVALID_CODE");
        for code in [&begun.new, &begun.current] {
            for email in [&ada.email, NEW] {
                exchange(&app.anon(), email, code).send().await.refused(400, "INVALID_CODE");
                app.anon().verify(email, code).send().await.refused(400, "INVALID_CODE");
                sign_in_by_code(&app.anon(), email, code).send().await.refused(400, "INVALID_CODE");
            }
        }

        let swapped = confirm(&ada, &begun.id, &begun.current, &begun.new).send().await;
        swapped.refused(400, "INVALID_CODE");
        confirm(&ada, &begun.id, &begun.new, &begun.current).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn malformed_code_is_refused_like_a_wrong_one_and_costs_nothing(app) {
        let ada = app.user("ada").await;
        let begun = open(&app, &ada).await;
        let wrong = confirm(&ada, &begun.id, other_than(&begun.new), "").send().await;
        for bad in ["12345", "1234567", "abcdef", "123 456", "１２３４５６", "x"] {
            let answer = confirm(&ada, &begun.id, bad, bad).send().await;
            assert_eq!(crate::enumeration::shown(&answer), crate::enumeration::shown(&wrong), "{bad}");
        }
        let number = json!({"changeId": begun.id, "newCode": 123_456});
        ada.post("/api/auth/email/change/confirm", number).send().await.refused(400, "VALIDATION_ERROR");

        let nothing = json!({"changeId": begun.id, "newCode": begun.new, "currentCode": null});
        let needs = ada.post("/api/auth/email/change/confirm", nothing).send().await.expect(200);
        assert_eq!(needs, json!({"needs": ["current"]}));
    }

    with(|b| b.verification_by_code().limits())
    async fn second_change_within_a_minute_is_limited_like_any_mail(app) {
        let (ada, bob) = (app.user("ada").await, app.two_step_user("bob").await);
        for client in [&*ada, &**bob] {
            change(client, NEW).send().await.expect(202);

            for other in [NEW, "other@example.com"] {
                let refusal = change(client, other).send().await.refused(429, "TOO_MANY_REQUESTS");
                assert!(refusal["message"].as_str().unwrap().contains("mails, per recipient"), "{refusal}");
            }

            app.clock.advance(seconds(60));
            change(client, "other@example.com").send().await.expect(202);
            app.clock.advance(seconds(60));
        }
    }

    with(|b| b.verification_by_code().limits())
    async fn mails_to_one_recipient_are_limited_over_all_accounts(app) {
        for number in 0..5 {
            let user = app.user(&format!("user{number}")).await;
            change(&user, &format!("wanted+{number}@example.com")).send().await.expect(202);
        }
        let last = app.user("last").await;

        change(&last, "wanted@example.com").send().await.refused(429, "TOO_MANY_REQUESTS");

        let reset = crate::email_calls::send_reset(&app.anon(), "wanted@example.com").send().await;
        reset.expect(202);
    }

    with(|b| b.verification_by_code().limits())
    async fn codes_tried_from_one_address_share_a_limit(app) {
        let ada = app.user("ada").await;
        let begun = open(&app, &ada).await;
        let here = app.with_session(&ada.session).at("203.0.113.9");
        let mut statuses = Vec::new();
        for _ in 0..200 {
            let answer = confirm(&here, &begun.id, "12345", "").send().await;
            statuses.push(answer.status);
            if answer.status == 429 {
                break;
            }
        }

        assert_eq!((statuses.len(), statuses.last()), (31, Some(&429)), "{statuses:?}");
        confirm(&ada, &begun.id, &begun.new, &begun.current).send().await.expect(200);
    }

    // The address was not verified when the change began, so its mailbox got no code.
    with(|b| b.verification_by_code())
    async fn current_address_that_was_verified_meanwhile_is_needed(app) {
        let ada = app.user("ada").await;
        change_user(&app, &ada.email, json!({"emailVerified": false})).await;
        let Begun { id, new, current } = open(&app, &ada).await;
        assert_eq!(current, "");
        change_user(&app, &ada.email, json!({"emailVerified": true})).await;

        let needs = confirm(&ada, &id, &new, "").send().await.expect(200);

        assert_eq!(needs, json!({"needs": ["current"]}));
        assert_eq!(account(&ada).await["user"]["email"], ada.email);
    }

    with(|b| b.verification_by_code())
    async fn current_address_is_needed_once_two_step_sign_in_is_off(app) {
        let ada = app.two_step_user("ada").await;
        let Begun { id, new, current } = open(&app, &ada).await;
        assert_eq!(current, "");
        ada.post("/api/auth/factors/two-step", json!({"enabled": false})).send().await.expect(200);

        let needs = confirm(&ada, &id, &new, "").send().await.expect(200);

        assert_eq!(needs, json!({"needs": ["current"]}));
        assert_eq!(account(&ada).await["user"]["email"], ada.email);
    }

    with(|b| b.verification_by_code())
    async fn removal_of_a_pending_account_by_the_proof_is_audited(app) {
        let ada = app.user("ada").await;
        app.anon().sign_up(NEW, "another lantern 42").send().await.expect(200);
        let pending = crate::email_calls::id_of(&app, NEW).await;
        let Begun { id, new, current } = open(&app, &ada).await;

        confirm(&ada, &id, &new, &current).send().await.expect(200);

        let event = crate::audit::last(&app, "user_deleted").await;
        assert_eq!((&event["userId"], &event["actor"]), (&json!(pending), &json!("user")));
        assert!(!event.to_string().contains("example"), "{event}");
    }
}
