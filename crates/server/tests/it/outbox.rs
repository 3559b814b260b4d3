//! Tests of the outbox. Mails are written in the transaction of their cause, sent by a worker, retried, and finally
//! marked dead. Their content is tested in `mails`.

use std::time::Duration;

use latchkey_domain::operator::Party;
use latchkey_service::outbox::ListMails;
use latchkey_testkit::{PASSWORD, TestApp, both_stores, days, hours, json, minutes, seconds};
use tokio::net::TcpListener;

use crate::email_calls::{id_of, reset_link, signed_up_link};

const ADA: &str = "ada@example.org";

/// Runs the mail worker once. Returns the numbers of mails sent, postponed and dead.
async fn deliver(app: &TestApp) -> (usize, usize, usize) {
    let done = app.service().outbox.deliver_due().await.unwrap();
    (done.sent, done.retried, done.dead)
}

/// Queues all dead mails again. Returns the numbers of mails queued and left.
async fn retry_all(app: &TestApp) -> (u64, u64) {
    let retried = app.service().outbox.retry_all(Party::System, None).await.unwrap();
    (retried.queued, retried.left)
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn mail_survives_a_restart_before_it_is_sent(mut app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);

        app.restart().await;

        let code = app.mail_to(ADA).await.code();
        app.anon().verify(ADA, &code).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn mail_is_sent_once(app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        assert_eq!(deliver(&app).await, (1, 0, 0));

        app.clock.advance(days(1));

        assert_eq!(deliver(&app).await, (0, 0, 0));
    }

    with(|b| b.verification_by_code())
    async fn mail_that_fails_for_the_time_being_is_sent_later(app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        app.mail().fail_next(1);
        assert_eq!(deliver(&app).await, (0, 1, 0));

        app.clock.advance(seconds(3));
        assert_eq!(deliver(&app).await, (0, 0, 0), "too soon");
        app.clock.advance(seconds(3));

        assert_eq!(deliver(&app).await, (1, 0, 0));
        assert_eq!(app.mail().count(ADA), 1);
    }

    with(|b| b.verification_by_code())
    async fn backoff_doubles_up_to_an_hour_with_a_fifth_of_jitter(app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        app.mail().fail_next(14);

        let mut waits = Vec::new();
        for doublings in 0..14 {
            assert_eq!(deliver(&app).await, (0, 1, 0));
            let wait = app.service().outbox.next_due_in().await.unwrap().unwrap();
            let middle = Duration::from_secs((5 << doublings).min(3600));
            assert!(wait >= middle.mul_f64(0.8) && wait <= middle.mul_f64(1.2), "{doublings}: {wait:?}");
            waits.push(wait.as_secs_f64() / middle.as_secs_f64());
            app.clock.advance(wait);
        }

        assert!(waits.windows(2).any(|pair| (pair[0] - pair[1]).abs() > 0.001), "no jitter: {waits:?}");
        assert_eq!(deliver(&app).await, (1, 0, 0));
    }

    with(|b| b.verification_by_code())
    async fn failure_of_one_mail_does_not_block_the_others(app) {
        for number in 0..20 {
            app.anon().sign_up(&format!("user{number}@example.org"), PASSWORD).send().await.expect(200);
        }
        app.mail().fail_next(2);

        assert_eq!(deliver(&app).await, (18, 2, 0));

        app.clock.advance(minutes(1));
        assert_eq!(deliver(&app).await, (2, 0, 0));
    }

    with(|b| b.verification_by_code())
    async fn mail_that_is_refused_for_good_is_never_sent_by_itself(app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        app.mail().refuse_next(1);
        assert_eq!(deliver(&app).await, (0, 0, 1));

        app.clock.advance(days(2));

        assert_eq!(deliver(&app).await, (0, 0, 0));
        assert_eq!(app.mail().total(), 0);
    }

    with(|b| b.verification_by_code())
    async fn dead_letter_is_kept_and_retried_on_command(mut app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        app.mail().refuse_next(1);
        assert_eq!(deliver(&app).await, (0, 0, 1));
        app.restart().await;

        let listed = app.service().outbox.list(&ListMails::newest(None, 10)).await.unwrap().mails;
        assert_eq!((listed.len(), listed[0].email.as_typed()), (1, ADA));
        assert!(listed[0].last_error.is_some());
        app.service().outbox.retry(listed[0].id, Party::System, None).await.unwrap();

        let code = app.mail_to(ADA).await.code();
        app.anon().verify(ADA, &code).send().await.expect(200);
        assert_eq!(retry_all(&app).await, (0, 0));
    }

    with(|b| b.verification_by_code().config(|config| config.mail_retries.attempts = 3))
    async fn mail_is_dead_after_the_last_attempt(app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        app.mail().fail_next(3);

        let mut runs = Vec::new();
        for _ in 0..4 {
            runs.push(deliver(&app).await);
            app.clock.advance(hours(2));
        }

        assert_eq!(runs, [(0, 1, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)]);
        assert_eq!(retry_all(&app).await, (0, 1), "its code has expired");
        assert_eq!(deliver(&app).await, (0, 0, 0));
    }

    with(|b| b.verification_by_code())
    async fn mail_that_a_crash_left_claimed_is_sent_after_its_lease(mut app) {
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = silent.local_addr().unwrap().port();
        app.restart_with(|b| b.mails_by_smtp(port)).await;
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);

        // The worker is aborted after it claimed the mail, while it waits for the server's greeting.
        let _connection = tokio::select! {
            _ = deliver(&app) => panic!("delivered to a server that said nothing"),
            connection = silent.accept() => connection.unwrap(),
        };
        app.restart_with(|b| b.mails_into_memory()).await;

        app.clock.advance(minutes(1) - seconds(1));
        assert_eq!(deliver(&app).await, (0, 0, 0), "the lease still lives");
        app.clock.advance(seconds(1));
        assert_eq!(deliver(&app).await, (1, 0, 0));
        assert_eq!(app.mail().count(ADA), 1);
    }

    parallel with(|b| b.verification_by_code())
    async fn two_instances_send_each_mail_once(app) {
        let other = app.beside().await;
        for number in 0..30 {
            let client = if number % 2 == 0 { app.anon() } else { other.anon() };
            client.sign_up(&format!("user{number}@example.org"), PASSWORD).send().await.expect(200);
        }

        let (one, two) = tokio::join!(deliver(&app), deliver(&other));

        assert_eq!(one.0 + two.0, 30);
        let mut recipients = app.mail().recipients();
        recipients.sort_unstable();
        recipients.dedup();
        assert_eq!((app.mail().total(), recipients.len()), (30, 30));
    }

    with(|b| b.verification_by_code())
    async fn mail_to_a_deleted_account_is_not_sent(app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        let ids = json!({"userIds": [id_of(&app, ADA).await]});
        app.admin().delete("/api/auth/users").json(&ids).send().await.expect(200);

        assert_eq!(deliver(&app).await, (0, 0, 0));

        assert_eq!(app.mail().total(), 0);
    }

    with(|b| b.verification_by_link().link_reset().redirects(&["https://app.example/**"]))
    async fn no_file_holds_a_token_or_a_password(app) {
        signed_up_link(&app, ADA).await;
        reset_link(&app, ADA).await;
        let sent: Vec<String> = app.mail().all(ADA).iter().map(|mail| mail.token()).collect();
        // Writes another mail into the outbox.
        app.anon()
            .post(
                "/api/auth/email/send-reset-password",
                json!({"email": ADA, "redirectTo": "https://app.example/"}),
            )
            .send()
            .await
            .expect(202);
        let before = app.kept();
        let waiting = app.mail_to(ADA).await.token();

        assert!(holds(&before, ADA), "what is kept was read");
        assert!(!holds(&before, &waiting) && !holds(&before, PASSWORD));
        assert!(sent.iter().all(|token| !holds(&before, token)));
    }
}
