//! Tests that sign-in by mail tells nothing about accounts to whoever has not the mailbox.

use latchkey_testkit::{PASSWORD, TestApp, both_stores, minutes};

use crate::email_calls::{send_otp, send_sign_in_link, sign_in_by_code};
use crate::email_change_hidden::{KINDS, address, every_kind_of_address};
use crate::email_sign_in::session_by_code;
use crate::email_sign_in_links::linking;
use crate::enumeration::shown;

/// Names of all kinds of addresses: those of [`KINDS`], and accounts without a password, with two-step
/// sign-in and in deletion.
async fn all_kinds(app: &TestApp) -> Vec<&'static str> {
    every_kind_of_address(app).await;
    session_by_code(app, &address("passwordless")).await;
    app.two_step_user("two-step").await;
    crate::deletion_calls::deleted(app, "in-deletion").await;
    app.run_jobs().await;
    app.mail().clear();
    KINDS.into_iter().chain(["passwordless", "two-step", "in-deletion"]).collect()
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn addresses_of_every_kind_are_answered_alike(app) {
        for name in all_kinds(&app).await {
            let email = address(name);
            let mut steps = vec![shown(&sign_in_by_code(&app.anon(), &email, "000000").send().await)];
            steps.push(shown(&send_otp(&app.anon(), &email).send().await));
            // By the sixth attempt the code's budget is used up.
            for code in ["000000", "000001", "000002", "000003", "000004", "000005", "x"] {
                steps.push(shown(&sign_in_by_code(&app.anon(), &email, code).send().await));
            }
            let statuses: Vec<_> = steps.iter().map(|step| format!("{step:?}")).collect();
            let free = address("never-seen");
            let mut expected = vec![shown(&sign_in_by_code(&app.anon(), &free, "000000").send().await)];
            expected.push(shown(&send_otp(&app.anon(), &free).send().await));
            assert_eq!(steps[..2], expected, "{name}: {statuses:?}");
            assert!(steps[2..].iter().all(|step| *step == expected[0]), "{name}: {statuses:?}");
        }
    }

    with(|b| linking(b).verification_by_code())
    async fn mails_with_links_are_answered_alike(app) {
        let free = send_sign_in_link(&app.anon(), &address("never-seen")).send().await;
        for name in all_kinds(&app).await {
            let answer = send_sign_in_link(&app.anon(), &address(name)).send().await;

            assert_eq!(shown(&answer), shown(&free), "{name}");
        }
        assert_eq!(free.status, 202);
    }

    with(|b| b.verification_by_code())
    async fn mail_goes_to_all_but_banned_and_reserved_addresses(app) {
        let kinds = all_kinds(&app).await;
        for name in &kinds {
            send_otp(&app.anon(), &address(name)).send().await.expect(202);
        }

        app.run_jobs().await;

        for name in kinds {
            let is_silent = ["banned", "banned-pending", "reserved"].contains(&name);
            assert_eq!(app.mail().count(&address(name)), usize::from(!is_silent), "{name}");
        }
    }

    with(|b| b.verification_by_code())
    async fn limits_count_every_kind_alike(mut app) {
        let kinds = all_kinds(&app).await;
        app.restart_with(|b| b.limits()).await;
        for (number, name) in kinds.into_iter().enumerate() {
            let client = app.anon().at(&format!("203.0.113.{number}"));
            let send = || send_otp(&client, &address(name)).send();

            send().await.expect(202);
            send().await.refused(429, "TOO_MANY_REQUESTS");
            for _ in 0..4 {
                app.clock.advance(minutes(1));
                send().await.expect(202);
            }
            app.clock.advance(minutes(1));
            let refusal = send().await.refused(429, "TOO_MANY_REQUESTS");
            assert!(refusal["message"].as_str().unwrap().contains("mails, per recipient"), "{refusal}");
        }
    }

    with(|b| b.verification_by_code().limits())
    async fn each_purpose_has_its_own_mails_per_recipient(app) {
        app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);

        send_otp(&app.anon(), "ada@example.org").send().await.expect(202);
        crate::email_calls::send_reset(&app.anon(), "ada@example.org").send().await.expect(202);
    }

    with(|b| b.limits())
    async fn codes_tried_from_one_address_are_limited_together(app) {
        for number in 0..30 {
            let email = format!("person-{number}@example.org");
            sign_in_by_code(&app.anon(), &email, "000000").send().await.refused(400, "INVALID_CODE");
        }

        let refusal = sign_in_by_code(&app.anon(), "ada@example.org", "000000").send().await;

        let refusal = refusal.refused(429, "TOO_MANY_REQUESTS");
        assert!(refusal["message"].as_str().unwrap().contains("verification, per address"), "{refusal}");
    }
}
