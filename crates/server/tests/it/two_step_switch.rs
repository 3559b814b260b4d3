//! Tests of two-step sign-in on and off, recovery codes, the account's overview, and the operator's switch.

use latchkey_testkit::{Client, Request, Session, both_stores, json};

use crate::described::assert_successes_are_described;
use crate::two_step_calls::{account, keys, session_count, set_policy, signed_in};

fn set(client: &Client, enabled: bool) -> Request {
    client.post("/api/auth/factors/two-step", json!({"enabled": enabled}))
}

fn replace(client: &Client) -> Request {
    client.post("/api/auth/factors/recovery-codes", json!({}))
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn account_shows_factors_level_and_freshness(app) {
        let ada = app.two_step_user("ada").await;
        let listed = ada.get("/api/auth/sessions/current").send().await.expect(200);

        let account = account(&ada).await;

        let expected = json!({
            "user": listed["user"], "hasPassword": true, "twoStep": true,
            "totp": [{
                "id": ada.factor_id, "name": "Authenticator app", "createdAt": "2026-03-02T10:00:00.000Z",
                "lastUsedAt": account["totp"][0]["lastUsedAt"],
            }],
            "passkeyCount": 0, "recoveryCodesLeft": 10, "level": 2, "authTime": "2026-03-02T10:00:00.000Z",
            "freshUntil": "2026-03-02T10:10:00.000Z", "reauthenticateWith": ["totp", "recovery_code"],
            "locale": null, "emailChange": null,
        });
        assert_eq!(account, expected);
        let _ = signed_in(&app, &ada).await;
        let used = crate::two_step_calls::account(&ada).await["totp"][0]["lastUsedAt"].clone();
        assert_eq!(used, "2026-03-02T10:00:30.000Z");
    }

    async fn account_without_factors_has_the_same_keys(app) {
        let ada = app.user("ada").await;

        let account = account(&ada).await;

        let listed = ada.get("/api/auth/sessions/current").send().await.expect(200);
        let expected = json!({
            "user": listed["user"], "hasPassword": true, "twoStep": false, "totp": [], "passkeyCount": 0,
            "recoveryCodesLeft": 0, "level": 1, "authTime": "2026-03-02T10:00:00.000Z", "freshUntil": "2026-03-02T10:10:00.000Z",
            "reauthenticateWith": ["password"], "locale": null, "emailChange": null,
        });
        assert_eq!(account, expected);
        app.anon().get("/api/auth/account").send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    with(|b| b.verification_by_code())
    async fn turning_off_removes_apps_and_codes_and_keeps_the_sessions(app) {
        let ada = app.two_step_user("ada").await;
        let other = app.with_session(&signed_in(&app, &ada).await);

        let body = set(&ada, false).send().await.expect(200);

        assert_eq!(keys(&body), ["message"]);
        let account = account(&ada).await;
        assert_eq!(
            (&account["twoStep"], &account["totp"], &account["recoveryCodesLeft"]),
            (&json!(false), &json!([]), &json!(0))
        );
        assert_eq!(session_count(&other).await, 2);
        let again = Session::of(&app.anon().sign_in(&ada.email, &ada.password).send().await);
        assert_eq!(crate::two_step_calls::claims(&again.access_token).get("aal"), None);
    }

    with(|b| b.verification_by_code())
    async fn turning_on_needs_a_factor(app) {
        let ada = app.user("ada").await;
        app.begin_totp(&ada).await;

        set(&ada, true).send().await.refused(409, "LAST_SECOND_FACTOR");
    }

    with(|b| b.verification_by_code())
    async fn as_it_is_already_is_a_message_and_changes_nothing(app) {
        let (ada, bob) = (app.two_step_user("ada").await, app.user("bob").await);
        let challenge = ada.challenged().await;

        let (on, off) = (set(&ada, true).send().await.expect(200), set(&bob, false).send().await.expect(200));

        assert_eq!((keys(&on), keys(&off)), (vec!["message"], vec!["message"]));
        let _ = Session::of(&app.anon().answer(&challenge, "totp", &ada.authenticator.code()).send().await);
        set(&ada, true).json(&json!({"enabled": null})).send().await.refused(400, "VALIDATION_ERROR");
        set(&ada, true).json(&json!({})).send().await.refused(400, "VALIDATION_ERROR");
    }

    with(|b| b.verification_by_code())
    async fn new_recovery_codes_replace_the_old_ones(app) {
        let ada = app.two_step_user("ada").await;

        let body = replace(&ada).send().await.expect(200);

        assert_eq!(keys(&body), ["recoveryCodes"]);
        let new = latchkey_testkit::recovery_codes(&body);
        assert!(new.len() == 10 && new.iter().all(|code| !ada.recovery_codes.contains(code)), "{new:?}");
        let challenge = ada.challenged().await;
        let old = app.anon().answer(&challenge, "recovery_code", &ada.recovery_codes[0]).send().await;
        old.refused(401, "INVALID_SECOND_FACTOR");
        let _ = Session::of(&app.anon().answer(&challenge, "recovery_code", &new[9]).send().await);
    }

    with(|b| b.verification_by_code())
    async fn recovery_codes_are_for_two_step_alone(app) {
        let ada = app.user("ada").await;

        replace(&ada).send().await.refused(409, "LAST_SECOND_FACTOR");
    }

    with(|b| b.verification_by_code())
    async fn operators_off_refuses_enrolment_and_still_asks_those_who_have_it(app) {
        let (ada, bob) = (app.two_step_user("ada").await, app.user("bob").await);
        let (phone, id) = app.begin_totp(&bob).await;
        set_policy(&app, "off").await;

        bob.post("/api/auth/factors/totp", json!({})).send().await.refused(403, "FEATURE_DISABLED");
        set(&bob, true).send().await.refused(403, "FEATURE_DISABLED");
        bob.confirm_totp(&id, &phone.code()).send().await.refused(403, "FEATURE_DISABLED");

        let session = signed_in(&app, &ada).await;
        let client = app.with_session(&session);
        assert_eq!(account(&client).await["twoStep"], true);
        replace(&client).send().await.expect(200);
        set(&client, false).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn factors_survive_a_restart_and_another_instance(mut app) {
        let ada = app.two_step_user("ada").await;
        let beside = app.beside().await;
        let challenge = ada.challenged().await;

        let answer = beside.anon().answer(&challenge, "totp", &ada.authenticator.code()).send().await;

        let _ = Session::of(&answer);
        app.clock.advance(latchkey_testkit::seconds(30));
        let challenge = ada.challenged().await;
        app.restart().await;
        let _ = Session::of(&app.anon().answer(&challenge, "totp", &ada.authenticator.code()).send().await);
    }

    with(|b| b.verification_by_code())
    async fn responses_are_described(app) {
        let (ada, bob) = (app.two_step_user("ada").await, app.user("bob").await);
        let requests = [
            ("GET /api/auth/account", ada.get("/api/auth/account")),
            ("POST /api/auth/factors/recovery-codes", replace(&ada)),
            ("POST /api/auth/factors/two-step", set(&bob, false)),
            ("POST /api/auth/factors/two-step", set(&ada, false)),
        ];

        assert_successes_are_described(&app, requests).await;
    }
}
