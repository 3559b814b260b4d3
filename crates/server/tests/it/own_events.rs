//! Tests of the security events of one's own account.

use latchkey_testkit::{
    Client, PASSWORD, Session, TestApp, User, Value, both_stores, days, json, minutes, seconds,
};

use crate::audit::probe;
use crate::described::assert_successes_are_described;
use crate::two_step_calls::keys;

/// The caller's events, newest first.
async fn events(client: &Client) -> Vec<Value> {
    let body = client.get("/api/auth/events").query("limit", "100").send().await.expect(200);
    body["events"].as_array().unwrap().clone()
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["kind"].as_str().unwrap()).collect()
}

/// Signs in with a wrong password this many times, a second apart.
async fn fail(app: &TestApp, user: &User, times: usize) {
    for _ in 0..times {
        app.clock.advance(seconds(1));
        probe(app.anon())
            .sign_in(&user.email, "a wrong password")
            .send()
            .await
            .refused(401, "INVALID_CREDENTIALS");
    }
}

both_stores! {
    async fn user_sees_what_happened_to_the_account(app) {
        let ada = app.user("ada").await;
        fail(&app, &ada, 1).await;
        app.clock.advance(seconds(1));
        let answer = probe(app.anon())
            .with_header("user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
            .sign_in(&ada.email, PASSWORD)
            .send()
            .await;
        let session = Session::of(&answer);

        let body = app.with_session(&session).get("/api/auth/events").send().await.expect(200);

        assert_eq!(keys(&body), ["events", "nextBefore"]);
        assert_eq!(body["nextBefore"], Value::Null);
        let events = body["events"].as_array().unwrap();
        let expected = json!({
            "id": events[0]["id"], "at": "2026-03-02T10:00:02.000Z", "kind": "sign_in", "ip": "203.0.113.7",
            "device": "Firefox on Linux", "current": true, "details": {"amr": ["pwd"]},
        });
        assert_eq!(events[0], expected);
        assert_eq!(kinds(events), ["sign_in", "sign_in_failed", "sign_up"]);
        assert_eq!((&events[1]["current"], &events[1]["device"]), (&json!(false), &json!("Unknown device")));
        assert_eq!(events[1]["details"]["reason"], "wrong password");
        let again = app.with_session(&session).get("/api/auth/events");
        assert_successes_are_described(&app, [("GET /api/auth/events", again)]).await;
    }

    async fn events_need_a_session(app) {
        app.anon().get("/api/auth/events").send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.admin().get("/api/auth/events").send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn nobody_sees_the_events_of_another(app) {
        let (ada, eve) = (app.user("ada").await, app.user("eve").await);
        fail(&app, &ada, 1).await;
        let foreign = events(&ada).await[0]["id"].as_str().unwrap().to_owned();

        let own = events(&eve).await;

        assert_eq!(kinds(&own), ["sign_up"]);
        let before = |id: &str| eve.get("/api/auth/events").query("before", id);
        before(&foreign).send().await.refused_for("VALIDATION_ERROR", "before", &["not_allowed"]);
    }

    async fn admin_is_named_without_address_and_details(app) {
        let ada = app.user("ada").await;
        let path = format!("/api/auth/users/{}", ada.id);
        for change in [json!({"emailVerified": true}), json!({"metadata": {"plan": "pro"}})] {
            app.clock.advance(seconds(1));
            probe(app.admin()).patch(&path, change).send().await.expect(200);
        }

        let events = events(&ada).await;

        for event in &events[..2] {
            let expected = json!({
                "id": event["id"], "at": event["at"], "kind": "user_updated", "ip": null, "device": null,
                "current": false, "details": {"by": "admin"},
            });
            assert_eq!(*event, expected);
        }
        let text = serde_json::to_string(&events).unwrap();
        assert!(!text.contains("203.0.113.7") && !text.contains("Probe"), "{text}");
    }

    with(|b| b.verification_by_code())
    async fn no_event_shows_an_address_of_mail_or_of_another_person(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let bob = (*bob).clone().at("203.0.113.7");
        crate::email_change_calls::change(&bob, &ada.email).send().await.expect(202);
        crate::email_change_calls::change(&ada, "bob@example.org").send().await.expect(202);
        let token = crate::email_change_calls::moved(&app, &ada, "countess@example.com").await;
        crate::email_change_calls::change(&bob, &ada.email).send().await.expect(202);
        probe(app.admin()).patch(&format!("/api/auth/users/{}", ada.id), json!({"email": "third@example.com"}))
            .send().await.expect(200);
        app.run_jobs().await;
        crate::email_change_calls::undo(&bob, &token, &ada.email).send().await.refused(400, "INVALID_CODE");

        let (of_ada, of_bob) = (events(&ada).await, events(&bob).await);

        assert!(kinds(&of_ada).contains(&"email_changed") && kinds(&of_bob).contains(&"email_change_started"));
        for (events, strange) in [(&of_ada, "203.0.113.7"), (&of_bob, "198.18.")] {
            let text = serde_json::to_string(&events[..events.len() - 2]).unwrap();
            for part in ["@", "example", "countess", strange] {
                assert!(!text.contains(part), "{part}: {text}");
            }
        }
    }

    with(|b| b.limits())
    async fn requests_of_others_with_the_address_are_not_shown(app) {
        let ada = app.user("ada").await;
        probe(app.anon()).sign_up(&ada.email, "another fine password").send().await;
        for _ in 0..2 {
            let body = json!({"email": ada.email});
            probe(app.anon()).post("/api/auth/email/send-reset-password", body).send().await;
        }
        app.run_jobs().await;

        assert_eq!(kinds(&events(&ada).await), ["sign_up"]);
    }

    async fn events_come_in_pages(app) {
        let ada = app.user("ada").await;
        fail(&app, &ada, 4).await;
        let all = events(&ada).await;
        let page = |before: Option<&str>| {
            let request = ada.get("/api/auth/events").query("limit", "2");
            match before {
                Some(before) => request.query("before", before),
                None => request,
            }
        };

        let first = page(None).send().await.expect(200);
        let second = page(first["nextBefore"].as_str()).send().await.expect(200);
        let third = page(second["nextBefore"].as_str()).send().await.expect(200);

        assert_eq!(third["nextBefore"], Value::Null);
        let pages = [&first, &second, &third].map(|page| page["events"].as_array().unwrap().clone());
        assert_eq!(pages.concat(), all);
        assert_eq!(pages.map(|page| page.len()), [2, 2, 1]);
    }

    async fn unknown_event_and_bad_limit_are_refused(app) {
        let ada = app.user("ada").await;
        let ask = |name: &str, value: &str| ada.get("/api/auth/events").query(name, value);

        ask("before", crate::routes::NOBODY).send().await.refused_for("VALIDATION_ERROR", "before", &["not_allowed"]);
        ask("before", "yesterday").send().await.refused_for("VALIDATION_ERROR", "before", &["invalid_format"]);
        ask("limit", "0").send().await.refused_for("VALIDATION_ERROR", "limit", &["out_of_range"]);
        ask("limit", "1000").send().await.expect(200);
    }

    async fn event_is_shown_for_ninety_days(app) {
        let ada = app.user("ada").await;
        app.clock.advance(days(89));
        let late = app.with_session(&ada.sign_in_again().await);
        assert_eq!(kinds(&events(&late).await), ["sign_in", "sign_up"]);

        app.clock.advance(days(1));

        let late = app.with_session(&ada.sign_in_again().await);
        assert_eq!(kinds(&events(&late).await), ["sign_in", "sign_in"]);
    }

    with(|b| b.verification_by_code())
    async fn second_factors_are_among_the_events_without_a_secret(app) {
        let ada = app.two_step_user("ada").await;
        let challenge = ada.challenged().await;
        app.clock.advance(minutes(1));
        let wrong = ada.authenticator.wrong_code(1);
        app.anon().answer(&challenge, "totp", &wrong).send().await.refused(401, "INVALID_SECOND_FACTOR");

        let events = events(&ada).await;

        assert_eq!(kinds(&events)[..2], ["second_factor_failed", "sign_in_challenged"]);
        assert!(kinds(&events).contains(&"two_step_on"), "{events:#?}");
        let text = serde_json::to_string(&events).unwrap();
        for secret in ada.recovery_codes.iter().chain([&challenge, &wrong, &ada.email]) {
            assert!(!text.contains(secret.as_str()), "{secret} in {text}");
        }
    }

    async fn acts_of_the_session_are_current(app) {
        let ada = app.user("ada").await;
        ada.add_passkey(&app.phone()).await;
        let acme = crate::oauth_calls::acme(&app).await;
        acme.person(crate::oauth_calls::person("ada at home", &ada.email));
        let code = crate::oauth_calls::link_code(&ada, &acme, "acme").await;
        crate::oauth_calls::exchange(&ada, &code, crate::oauth_calls::VERIFIER).send().await.expect(200);
        ada.delete("/api/auth/identities/acme").send().await.expect(200);

        let list = events(&ada).await;

        for kind in ["passkey_added", "identity_linked", "identity_unlinked"] {
            let event = list.iter().find(|event| event["kind"] == kind).unwrap_or_else(|| panic!("{list:#?}"));
            assert_eq!(event["current"], true, "{event}");
            let audited = crate::audit::last(&app, kind).await;
            assert!(audited["sessionId"].is_string(), "{audited}");
        }
    }
}
