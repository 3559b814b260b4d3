//! Tests of rate limits per client address, and of the client address behind proxies. Password guesses are in
//! `limits_sign_in`, mails in `limits_mail`.

use latchkey_testkit::{Answer, TestApp, both_stores, json, minutes, seconds};

use crate::email_calls::{NEW_PASSWORD, exchange, resend, reset, send_reset};

/// Asserts a 429 by this limit, and returns `Retry-After` in seconds.
#[track_caller]
pub(crate) fn limited(answer: &Answer, limit: &str) -> u64 {
    let refusal = answer.refused(429, "TOO_MANY_REQUESTS");
    assert!(refusal["message"].as_str().unwrap().contains(limit), "another limit: {refusal}");
    let wait = answer.number("retry-after");
    assert!(wait > 0, "{answer:?}");
    wait
}

const SIGN_IN: &str = "password sign-in, per address";

/// Signs in with an unknown address through proxies that send this `X-Forwarded-For`.
async fn sign_in_from(app: &TestApp, forwarded_for: &str) -> Answer {
    let email = app.unique_email("nobody");
    app.anon().sign_in(&email, "a wrong password").from_ip(forwarded_for).send().await
}

/// Uses up the sign-in limit of a client address.
async fn spend(app: &TestApp, forwarded_for: &str) {
    for _ in 0..30 {
        sign_in_from(app, forwarded_for).await.refused(401, "INVALID_CREDENTIALS");
    }
}

both_stores! {
    with(|b| b.limits())
    async fn sign_ins_of_one_address_are_thirty_in_five_minutes(app) {
        spend(&app, "203.0.113.9").await;

        let wait = limited(&sign_in_from(&app, "203.0.113.9").await, SIGN_IN);

        assert_eq!(wait, 10);
        app.clock.advance(seconds(wait));
        sign_in_from(&app, "203.0.113.9").await.refused(401, "INVALID_CREDENTIALS");
        limited(&sign_in_from(&app, "203.0.113.9").await, SIGN_IN);
        app.clock.advance(minutes(5));
        spend(&app, "203.0.113.9").await;
    }

    with(|b| b.limits())
    async fn sign_ups_of_one_address_are_twenty_an_hour(app) {
        for _ in 0..20 {
            app.anon().sign_up(&app.unique_email("ada"), NEW_PASSWORD).send().await.expect(200);
        }

        let refused = app.anon().sign_up(&app.unique_email("ada"), NEW_PASSWORD).send().await;

        assert_eq!(limited(&refused, "sign-up, per address"), 180);
        app.anon().sign_up("bob@example.org", NEW_PASSWORD).from_ip("203.0.113.9").send().await.expect(200);
        app.clock.advance(minutes(3));
        app.anon().sign_up("cleo@example.org", NEW_PASSWORD).send().await.expect(200);
    }

    with(|b| b.limits())
    async fn mails_of_one_address_are_twenty_an_hour(app) {
        for number in 0..10 {
            resend(&app.anon(), &format!("a{number}@example.org")).send().await.expect(202);
            send_reset(&app.anon(), &format!("b{number}@example.org")).send().await.expect(202);
        }

        for request in [resend(&app.anon(), "c@example.org"), send_reset(&app.anon(), "c@example.org")] {
            assert_eq!(limited(&request.send().await, "mails, per address"), 180);
        }

        resend(&app.anon(), "c@example.org").from_ip("203.0.113.9").send().await.expect(202);
        app.clock.advance(minutes(3));
        resend(&app.anon(), "d@example.org").send().await.expect(202);
    }

    with(|b| b.verification_by_code().limits())
    async fn sign_ups_that_mail_count_as_mails_of_their_address(app) {
        for number in 0..20 {
            resend(&app.anon(), &format!("a{number}@example.org")).send().await.expect(202);
        }

        let refused = app.anon().sign_up("ada@example.org", NEW_PASSWORD).send().await;

        limited(&refused, "mails, per address");
        assert_eq!(app.admin().get("/api/auth/users").send().await.expect(200)["pagination"]["total"], 0);
    }

    with(|b| b.limits())
    async fn verifications_of_one_address_are_thirty_in_fifteen_minutes_of_every_kind(app) {
        let token = "0".repeat(64);
        let link = |path: &str| app.anon().get(&format!("/api/auth/email/{path}?token={token}"));
        for _ in 0..6 {
            app.anon().verify("ada@example.org", "123456").send().await.refused(400, "INVALID_CODE");
            exchange(&app.anon(), "bob@example.org", "123456").send().await.refused(400, "INVALID_CODE");
            reset(&app.anon(), &token, NEW_PASSWORD).send().await.refused(400, "INVALID_CODE");
            link("verify-link").send().await.page(400);
            link("reset-password-link").send().await.page(400);
        }

        for request in [
            app.anon().verify("ada@example.org", "123456"),
            app.anon().verify("ada@example.org", &token),
            exchange(&app.anon(), "bob@example.org", "123456"),
            reset(&app.anon(), &token, NEW_PASSWORD),
            link("verify-link"),
            link("reset-password-link"),
        ] {
            assert_eq!(limited(&request.send().await, "code and link verification, per address"), 30);
        }

        link("verify-link").from_ip("203.0.113.9").send().await.page(400);
        app.clock.advance(seconds(30));
        link("verify-link").send().await.page(400);
    }

    with(|b| b.verification_by_code().limits())
    async fn attempt_beyond_the_limit_of_an_address_does_not_count_on_the_code(app) {
        let code = crate::email_calls::signed_up_code(&app, "ada@example.org").await;
        for _ in 0..30 {
            app.anon().verify("bob@example.org", "123456").send().await.refused(400, "INVALID_CODE");
        }
        for _ in 0..10 {
            limited(&app.anon().verify("ada@example.org", "999999").send().await, "code and link");
        }

        app.anon().verify("ada@example.org", &code).from_ip("203.0.113.9").send().await.expect(200);
    }

    with(|b| b.limits())
    async fn refreshes_of_one_address_are_three_hundred_in_five_minutes(app) {
        let refresh = || {
            let body = json!({"refreshToken": "A".repeat(86)});
            app.anon().post("/api/auth/refresh", body).client_type("server")
        };
        for _ in 0..300 {
            refresh().send().await.refused(401, "AUTH_UNAUTHORIZED");
        }

        assert_eq!(limited(&refresh().send().await, "refresh, per address"), 1);

        refresh().from_ip("203.0.113.9").send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.clock.advance(seconds(1));
        refresh().send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    with(|b| b.limits())
    async fn searches_and_public_profiles_of_one_address_are_six_hundred_a_minute(app) {
        let unknown = "00000000-0000-7000-8000-000000000000";
        let profile = || app.anon().get(&format!("/api/profiles/{unknown}"));
        let flat = || app.anon().get(&format!("/api/auth/profiles/{unknown}"));
        for _ in 0..200 {
            app.anon().search("ada").send().await.expect(200);
            profile().send().await.refused(404, "USER_NOT_FOUND");
            flat().send().await.refused(404, "USER_NOT_FOUND");
        }

        for request in [app.anon().search("ada"), profile(), flat()] {
            assert_eq!(limited(&request.send().await, "search and public profile, per address"), 1);
        }

        app.anon().search("ada").from_ip("203.0.113.9").send().await.expect(200);
        app.clock.advance(seconds(1));
        app.anon().search("ada").send().await.expect(200);
    }

    with(|b| b.limits())
    async fn refused_admin_keys_of_one_address_are_limited(app) {
        let with_key = |key: &str| app.bearing(key).get("/api/auth/users").from_ip("203.0.113.9");
        for _ in 0..10 {
            with_key("a-wrong-key").send().await.refused(401, "ADMIN_UNAUTHORIZED");
        }

        limited(&with_key("a-wrong-key").send().await, "admin key, per address");

        app.admin().get("/api/auth/users").send().await.expect(200);
    }

    async fn limits_can_be_switched_off(app) {
        for _ in 0..40 {
            sign_in_from(&app, "203.0.113.9").await.refused(401, "INVALID_CREDENTIALS");
            app.anon()
                .sign_in("ada@example.org", "a wrong password")
                .send()
                .await
                .refused(401, "INVALID_CREDENTIALS");
            resend(&app.anon(), "ada@example.org").send().await.expect(202);
        }
    }

    with(|b| b.limits())
    async fn address_is_the_rightmost_hop_that_no_trusted_proxy_wrote(app) {
        spend(&app, "203.0.113.9").await;

        limited(&sign_in_from(&app, "198.51.100.1, 203.0.113.9").await, SIGN_IN);
        limited(&sign_in_from(&app, "198.51.100.1, 203.0.113.9, 127.0.0.1").await, SIGN_IN);

        sign_in_from(&app, "203.0.113.9, 198.51.100.1").await.refused(401, "INVALID_CREDENTIALS");
    }

    with(|b| b.limits().http(|http| http.trusted_proxies.clear()))
    async fn forwarded_address_of_an_untrusted_peer_is_ignored(app) {
        for number in 0..30 {
            sign_in_from(&app, &format!("203.0.113.{number}")).await.refused(401, "INVALID_CREDENTIALS");
        }

        limited(&sign_in_from(&app, "203.0.113.99").await, SIGN_IN);
    }

    with(|b| b.limits())
    async fn other_forwarding_headers_are_ignored(app) {
        spend(&app, "203.0.113.9").await;
        let forged =
            app.anon().with_header("forwarded", "for=198.51.100.1").with_header("x-real-ip", "198.51.100.1");

        let answer =
            forged.sign_in("ada@example.org", "a wrong password").from_ip("203.0.113.9").send().await;

        limited(&answer, SIGN_IN);
    }

    with(|b| b.limits())
    async fn ipv6_counts_by_its_64(app) {
        spend(&app, "2001:db8:1:2::1").await;

        limited(&sign_in_from(&app, "2001:db8:1:2:ffff:ffff:ffff:ffff").await, SIGN_IN);

        sign_in_from(&app, "2001:db8:1:3::1").await.refused(401, "INVALID_CREDENTIALS");
    }

    with(|b| b.limits())
    async fn ipv4_in_ipv6_is_unmapped(app) {
        spend(&app, "::ffff:203.0.113.9").await;

        limited(&sign_in_from(&app, "203.0.113.9").await, SIGN_IN);

        sign_in_from(&app, "::ffff:203.0.113.10").await.refused(401, "INVALID_CREDENTIALS");
    }

    with(|b| b.limits())
    async fn used_limits_survive_a_restart_and_apply_on_other_instances(mut app) {
        spend(&app, "203.0.113.9").await;
        let other = app.beside().await;
        limited(&sign_in_from(&other, "203.0.113.9").await, SIGN_IN);
        drop(other);

        app.run_jobs().await;
        app.restart().await;

        limited(&sign_in_from(&app, "203.0.113.9").await, SIGN_IN);
    }

    parallel with(|b| b.limits())
    async fn of_forty_sign_ins_at_once_thirty_pass(app) {
        let sign_ins: Vec<_> = (0..40)
            .map(|_| app.anon().sign_in(&app.unique_email("nobody"), "a wrong password").send())
            .map(tokio::spawn)
            .collect();

        let mut statuses = Vec::new();
        for sign_in in sign_ins {
            statuses.push(sign_in.await.unwrap().status);
        }

        statuses.sort_unstable();
        assert_eq!(statuses, [vec![401; 30], vec![429; 10]].concat());
    }
}
