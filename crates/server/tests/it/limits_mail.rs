//! Tests of mail limits per recipient: one a minute and five an hour for each purpose.

use latchkey_testkit::{PASSWORD, TestApp, both_stores, json, minutes, seconds};

use crate::email_calls::{resend, resend_to, send_reset, send_reset_to, sign_up_to, signed_up_code};
use crate::limits::limited;

const ADA: &str = "ada@example.org";
const RECIPIENT: &str = "mails, per recipient";

async fn user_count(app: &TestApp) -> u64 {
    let users = app.admin().get("/api/auth/users").send().await.expect(200);
    users["pagination"]["total"].as_u64().unwrap()
}

both_stores! {
    with(|b| b.limits())
    async fn recipient_gets_one_mail_a_minute(app) {
        app.user("ada").await;
        resend(&app.anon(), ADA).send().await.expect(202);

        let refused = resend(&app.anon(), "ADA@example.org").send().await;

        assert_eq!(limited(&refused, RECIPIENT), 60);
        app.clock.advance(seconds(59));
        assert_eq!(limited(&resend(&app.anon(), ADA).send().await, RECIPIENT), 1);
        app.clock.advance(seconds(1));
        resend(&app.anon(), ADA).send().await.expect(202);
        app.run_jobs().await;
        assert_eq!(app.mail().count(ADA), 2);
    }

    with(|b| b.limits())
    async fn recipient_gets_five_mails_an_hour(app) {
        app.user("ada").await;
        for _ in 0..5 {
            send_reset(&app.anon(), ADA).send().await.expect(202);
            app.clock.advance(minutes(1));
        }

        let wait = limited(&send_reset(&app.anon(), ADA).send().await, RECIPIENT);

        assert!((60..=3600).contains(&wait), "{wait}");
        app.clock.advance(seconds(wait));
        send_reset(&app.anon(), ADA).send().await.expect(202);
    }

    with(|b| b.limits())
    async fn plus_tags_of_a_recipient_share_the_five_of_an_hour_but_not_the_pause(app) {
        app.user("ada").await;
        for tag in 0..5 {
            send_reset(&app.anon(), &format!("ada+{tag}@example.org")).send().await.expect(202);
        }

        let refused = send_reset(&app.anon(), ADA).send().await;
        let tagged = send_reset(&app.anon(), "ada+5@example.org").send().await;

        let wait = limited(&refused, RECIPIENT);
        assert!(wait > 60, "{wait}");
        assert_eq!(limited(&tagged, RECIPIENT), wait);
        send_reset(&app.anon(), "eve+0@example.org").send().await.expect(202);
        resend(&app.anon(), ADA).send().await.expect(202);
    }

    with(|b| b.limits())
    async fn verification_and_reset_are_counted_each(app) {
        app.user("ada").await;

        resend(&app.anon(), ADA).send().await.expect(202);
        send_reset(&app.anon(), ADA).send().await.expect(202);

        limited(&resend(&app.anon(), ADA).send().await, RECIPIENT);
        limited(&send_reset(&app.anon(), ADA).send().await, RECIPIENT);
    }

    with(|b| b.limits())
    async fn mails_of_a_recipient_are_counted_over_all_addresses(app) {
        app.user("ada").await;
        send_reset(&app.anon(), ADA).from_ip("203.0.113.1").send().await.expect(202);

        limited(&send_reset(&app.anon(), ADA).from_ip("203.0.113.2").send().await, RECIPIENT);
    }

    with(|b| b.limits())
    async fn unknown_recipient_is_counted_alike(app) {
        app.user("ada").await;
        let mut answers = Vec::new();
        for email in [ADA, "nobody@example.org"] {
            for request in [resend, send_reset] {
                request(&app.anon(), email).send().await.expect(202);
                let refused = request(&app.anon(), email).send().await;
                answers.push((refused.text_without_id(), limited(&refused, RECIPIENT)));
            }
        }

        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    }

    with(|b| b.verification_by_code().limits())
    async fn sign_up_counts_as_a_mail_of_verification(app) {
        signed_up_code(&app, ADA).await;

        limited(&resend(&app.anon(), ADA).send().await, RECIPIENT);

        send_reset(&app.anon(), ADA).send().await.expect(202);
    }

    with(|b| b.verification_by_code().limits())
    async fn sign_up_over_the_limit_is_refused_for_known_and_unknown_alike(app) {
        app.user("ada").await;
        app.clock.advance(minutes(10));
        let mut answers = Vec::new();
        for email in [ADA, "pending@example.org"] {
            app.anon().sign_up(email, PASSWORD).send().await.expect(200);
            let refused = app.anon().sign_up(email, PASSWORD).send().await;
            answers.push((refused.text_without_id(), limited(&refused, RECIPIENT)));
        }
        resend(&app.anon(), "unknown@example.org").send().await.expect(202);
        let refused = app.anon().sign_up("unknown@example.org", PASSWORD).send().await;
        answers.push((refused.text_without_id(), limited(&refused, RECIPIENT)));

        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
        assert_eq!(user_count(&app).await, 2, "no account for the address without one");
    }

    with(|b| b.verification_by_code().limits())
    async fn sign_up_over_the_limit_changes_nothing(app) {
        let code = signed_up_code(&app, ADA).await;

        let refused = app.anon().sign_up(ADA, "the password of an impostor").send().await;

        limited(&refused, RECIPIENT);
        app.run_jobs().await;
        assert_eq!(app.mail().count(ADA), 1);
        app.anon().verify(ADA, &code).send().await.expect(200);
        app.anon().sign_in(ADA, PASSWORD).send().await.expect(200);
    }

    with(|b| b.verification_by_link().link_reset().limits().redirects(&["https://app.example/**"]))
    async fn target_off_the_list_costs_no_mail(app) {
        let evil = "https://evil.example/";
        for _ in 0..25 {
            sign_up_to(&app.anon(), ADA, evil).send().await.refused(400, "REDIRECT_NOT_ALLOWED");
            resend_to(&app.anon(), ADA, evil).send().await.refused(400, "REDIRECT_NOT_ALLOWED");
            send_reset_to(&app.anon(), ADA, evil).send().await.refused(400, "REDIRECT_NOT_ALLOWED");
            resend(&app.anon(), ADA).send().await.refused(400, "VALIDATION_ERROR");
        }

        sign_up_to(&app.anon(), ADA, "https://app.example/").send().await.expect(200);
        send_reset_to(&app.anon(), ADA, "https://app.example/").send().await.expect(202);
    }

    with(|b| b.verification_by_code().limits())
    async fn sign_up_refused_for_its_form_costs_no_mail(app) {
        for body in [
            json!({"email": ADA, "password": "short"}),
            json!({"email": ADA}),
            json!({"email": ADA, "password": PASSWORD, "name": 1}),
            json!({"email": ADA, "password": PASSWORD, "name": "x".repeat(101)}),
        ] {
            let answer = app.anon().post("/api/auth/users", body).send().await;
            assert_eq!(answer.status, 400, "{answer:?}");
        }

        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
    }

    with(|b| b.limits())
    async fn refused_request_for_a_mail_takes_nothing_from_the_other_limits(app) {
        resend(&app.anon(), ADA).send().await.expect(202);
        for _ in 0..30 {
            limited(&resend(&app.anon(), ADA).send().await, RECIPIENT);
        }

        // The limit per client address is twenty mails; one is used already.
        for number in 0..19 {
            resend(&app.anon(), &format!("user{number}@example.org")).send().await.expect(202);
        }
        limited(&resend(&app.anon(), "last@example.org").send().await, "mails, per address");
    }
}
