//! Tests of the limits of password guesses: per account and client address, per account over all addresses, and by the
//! hashing queue.

use std::num::NonZeroUsize;

use latchkey_testkit::{Answer, PASSWORD, TestApp, User, both_stores, days, hours, json, minutes, seconds};

use crate::email_change_calls::{moved, undo};
use crate::limits::limited;

const ADA: &str = "ada@example.org";
const HERE: &str = "203.0.113.9";
const PAIR: &str = "password sign-in, per account and address";
const ACCOUNT: &str = "password sign-in, per account over all addresses";

async fn right(app: &TestApp, ip: &str) -> Answer {
    app.anon().sign_in(ADA, PASSWORD).from_ip(ip).send().await
}

async fn wrong(app: &TestApp, email: &str, ip: &str) -> Answer {
    app.anon().sign_in(email, "a wrong password").from_ip(ip).send().await
}

async fn fail(app: &TestApp, ip: &str, times: usize) {
    for _ in 0..times {
        wrong(app, ADA, ip).await.refused(401, "INVALID_CREDENTIALS");
    }
}

/// Fails a hundred times within an hour, ten times from each of ten addresses.
async fn fail_everywhere(app: &TestApp, email: &str) {
    for number in 0..10 {
        for _ in 0..10 {
            let answer = wrong(app, email, &format!("192.0.2.{number}")).await;
            answer.refused(401, "INVALID_CREDENTIALS");
        }
    }
}

/// Ada, signed in from [`HERE`].
async fn ada_from_here(app: &TestApp) -> User {
    let ada = app.user("ada").await;
    right(app, HERE).await.expect(200);
    ada
}

both_stores! {
    with(|b| b.limits())
    async fn ten_failures_of_one_account_from_one_address_cost_time(app) {
        app.user("ada").await;
        fail(&app, HERE, 10).await;

        let waits = [limited(&wrong(&app, ADA, HERE).await, PAIR), limited(&right(&app, HERE).await, PAIR)];

        assert_eq!(waits, [30, 30]);
        app.clock.advance(seconds(30));
        right(&app, HERE).await.expect(200);
    }

    with(|b| b.limits())
    async fn delay_grows_up_to_fifteen_minutes(app) {
        app.user("ada").await;
        fail(&app, HERE, 10).await;

        let mut waits = Vec::new();
        for _ in 0..8 {
            let wait = limited(&right(&app, HERE).await, PAIR);
            waits.push(wait);
            app.clock.advance(seconds(wait));
            fail(&app, HERE, 1).await;
        }

        assert_eq!(waits, [30, 60, 120, 240, 480, 900, 900, 900]);
    }

    with(|b| b.limits())
    async fn attempt_during_the_delay_does_not_extend_it(app) {
        app.user("ada").await;
        fail(&app, HERE, 10).await;
        app.clock.advance(seconds(20));
        for _ in 0..5 {
            assert_eq!(limited(&wrong(&app, ADA, HERE).await, PAIR), 10);
        }

        app.clock.advance(seconds(10));

        right(&app, HERE).await.expect(200);
    }

    with(|b| b.limits())
    async fn failures_count_for_their_account_and_address_alone(app) {
        app.user("ada").await;
        fail(&app, HERE, 10).await;

        right(&app, "203.0.113.10").await.expect(200);
        wrong(&app, "bob@example.org", HERE).await.refused(401, "INVALID_CREDENTIALS");

        limited(&right(&app, HERE).await, PAIR);
    }

    with(|b| b.limits())
    async fn success_forgets_the_failures(app) {
        app.user("ada").await;

        for _ in 0..3 {
            fail(&app, HERE, 9).await;
            right(&app, HERE).await.expect(200);
            app.clock.advance(minutes(2));
        }

        fail(&app, HERE, 9).await;
        right(&app, HERE).await.expect(200);
    }

    with(|b| b.limits())
    async fn quarter_of_an_hour_forgets_the_failures(app) {
        app.user("ada").await;
        fail(&app, HERE, 9).await;

        app.clock.advance(minutes(15) + seconds(1));
        fail(&app, HERE, 9).await;

        right(&app, HERE).await.expect(200);
    }

    with(|b| b.limits())
    async fn unknown_account_is_counted_alike(app) {
        app.user("ada").await;
        let mut answers = Vec::new();
        for email in [ADA, "nobody@example.org"] {
            for _ in 0..10 {
                wrong(&app, email, HERE).await.refused(401, "INVALID_CREDENTIALS");
            }
            let answer = wrong(&app, email, HERE).await;
            limited(&answer, PAIR);
            answers.push((answer.text_without_id(), answer.number("retry-after")));
        }

        assert_eq!(answers[0], answers[1]);
    }

    with(|b| b.limits())
    async fn spelling_of_the_address_makes_no_other_account(app) {
        app.user("ada").await;
        for spelling in [ADA, "ADA@example.org", "ada@EXAMPLE.org"].into_iter().cycle().take(10) {
            wrong(&app, spelling, HERE).await.refused(401, "INVALID_CREDENTIALS");
        }

        limited(&right(&app, HERE).await, PAIR);
    }

    with(|b| b.limits())
    async fn hundred_failures_leave_only_the_addresses_that_the_account_knows(app) {
        ada_from_here(&app).await;
        fail_everywhere(&app, ADA).await;

        let wait = limited(&right(&app, "198.51.100.1").await, ACCOUNT);

        assert!((1..=3600).contains(&wait), "{wait}");
        right(&app, HERE).await.expect(200);
        limited(&right(&app, "198.51.100.1").await, ACCOUNT);
        app.clock.advance(seconds(wait + 1));
        right(&app, "198.51.100.1").await.expect(200);
    }

    with(|b| b.limits())
    async fn address_is_known_for_thirty_days(app) {
        ada_from_here(&app).await;
        app.clock.advance(days(30) - hours(1));
        fail_everywhere(&app, ADA).await;
        right(&app, HERE).await.expect(200);

        app.clock.advance(days(30) + hours(1));
        fail_everywhere(&app, ADA).await;

        limited(&right(&app, HERE).await, ACCOUNT);
    }

    with(|b| b.limits())
    async fn failures_of_an_unknown_account_over_all_addresses_count_alike(app) {
        ada_from_here(&app).await;
        let mut answers = Vec::new();
        for email in [ADA, "nobody@example.org"] {
            fail_everywhere(&app, email).await;
            let answer = wrong(&app, email, "198.51.100.1").await;
            limited(&answer, ACCOUNT);
            answers.push((answer.text_without_id(), answer.number("retry-after")));
            app.clock.advance(minutes(5));
        }

        assert_eq!(answers[0], answers[1]);
    }

    with(|b| b.limits())
    async fn request_without_form_costs_no_attempt(app) {
        app.user("ada").await;
        for _ in 0..12 {
            let body = json!({"email": ADA});
            let answer = app.anon().post("/api/auth/sessions", body).from_ip(HERE).send().await;
            answer.refused(400, "VALIDATION_ERROR");
        }

        fail(&app, HERE, 9).await;
        right(&app, HERE).await.expect(200);
    }

    with(|b| b.limits())
    async fn change_of_password_shares_the_limits_of_sign_in(app) {
        let ada = app.user("ada").await;
        let change = json!({"currentPassword": "a wrong password", "newPassword": "a wholly new lantern"});
        for _ in 0..10 {
            let answer = ada.post("/api/auth/password", change.clone()).from_ip(HERE).send().await;
            answer.refused(401, "INVALID_CREDENTIALS");
        }

        limited(&right(&app, HERE).await, PAIR);
        let answer = ada.post("/api/auth/password", change).from_ip(HERE).send().await;
        limited(&answer, PAIR);
    }

    with(|b| b.limits())
    async fn failures_survive_a_restart(mut app) {
        app.user("ada").await;
        fail(&app, HERE, 9).await;

        app.run_jobs().await;
        app.restart().await;

        fail(&app, HERE, 1).await;
        limited(&right(&app, HERE).await, PAIR);
    }

    parallel with(|b| b.limits())
    async fn of_twenty_concurrent_guesses_at_most_ten_are_checked(app) {
        app.user("ada").await;
        let guesses: Vec<_> = (0..20)
            .map(|_| app.anon().sign_in(ADA, "a wrong password").from_ip(HERE).send())
            .map(tokio::spawn)
            .collect();

        let mut statuses = Vec::new();
        for guess in guesses {
            statuses.push(guess.await.unwrap().status);
        }

        assert!(statuses.iter().all(|status| matches!(status, 401 | 429)), "{statuses:?}");
        assert!(statuses.iter().filter(|status| **status == 401).count() <= 10, "{statuses:?}");
        limited(&right(&app, HERE).await, PAIR);
    }

    parallel with(|b| b.config(|config| {
        // Allows one slow hash at a time, and one in the queue.
        config.hashing.memory_kib = 19_456;
        config.hashing.iterations = 60;
        config.hashing.threads = NonZeroUsize::MIN;
        config.hashing.queue = 1;
    }))
    async fn full_hash_queue_is_refused_at_once_and_reads_continue(app) {
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        for _ in 0..8 {
            let (sign_in, tell) = (app.anon().sign_in(ADA, PASSWORD).send(), tell.clone());
            tokio::spawn(async move { tell.send(sign_in.await) });
        }
        drop(tell);

        let first = told.recv().await.unwrap();
        app.anon().search("ada").send().await.expect(200);
        app.anon().get("/health/ready").send().await.expect(200);
        let is_hashing = told.len() < 7;

        first.refused(503, "SERVICE_BUSY");
        assert!(first.number("retry-after") >= 1);
        assert!(is_hashing, "the reads waited for the hashes");
        let mut statuses = vec![first.status];
        while let Some(answer) = told.recv().await {
            statuses.push(answer.status);
        }
        statuses.sort_unstable();
        assert_eq!((statuses[0], statuses[7]), (401, 503), "{statuses:?}");
    }

    with(|b| b.verification_by_code().limits())
    async fn known_addresses_survive_a_change_of_address_and_its_undo(app) {
        const NEW: &str = "countess@example.com";
        let ada = ada_from_here(&app).await;
        app.clock.advance(minutes(5));
        let token = moved(&app, &ada, NEW).await;
        fail_everywhere(&app, NEW).await;
        let sign_in = |ip: &str| app.anon().sign_in(NEW, PASSWORD).from_ip(ip).send();

        limited(&sign_in("198.51.100.1").await, ACCOUNT);
        sign_in(HERE).await.expect(200);
        ada.sign_in(NEW, PASSWORD).send().await.expect(200);

        undo(&app.anon(), &token, ADA).send().await.expect(200);
        fail_everywhere(&app, ADA).await;
        right(&app, HERE).await.refused(401, "INVALID_CREDENTIALS");
        limited(&right(&app, "198.51.100.1").await, ACCOUNT);
    }
}
