//! Tests of the statistics for an admin.

use latchkey_domain::operator::Role;
use latchkey_testkit::{PASSWORD, TestApp, Value, both_stores, days, json, minutes, seconds};

use crate::operators::grant;

const STATS: &str = "/api/auth/stats";

async fn stats(app: &TestApp) -> Value {
    app.admin().get(STATS).send().await.expect(200)
}

/// Statistics that are counted anew.
async fn renewed(app: &TestApp) -> Value {
    app.clock.advance(minutes(1));
    app.run_jobs().await;
    stats(app).await
}

fn last_day(stats: &Value) -> &Value {
    stats["series"].as_array().unwrap().last().unwrap()
}

both_stores! {
    async fn accounts_and_sessions_are_counted_by_their_state(app) {
        let (ada, eve) = (app.user("ada").await, app.user("eve").await);
        let verified = json!({"email": "bob@example.org", "password": PASSWORD, "autoConfirm": true});
        app.admin().post("/api/auth/users", verified).send().await.expect(200);
        app.admin().patch(&format!("/api/auth/users/{}", eve.id), json!({"banned": true})).send().await.expect(200);
        app.anon().sign_in(&ada.email, PASSWORD).send().await.expect(200);

        let found = renewed(&app).await;

        assert_eq!(found["users"], json!({"total": 3, "verified": 1, "pending": 0, "banned": 1, "operators": 0}));
        assert_eq!(found["sessions"], json!({"live": 2}), "those of ada");
        assert_eq!(found["active"], json!({"day": 2, "week": 2, "month": 2}));
        assert_eq!(found["passwords"], json!({"argon2id": 3}));
        assert_eq!(found["providers"], json!({}));
        assert_eq!(found["mails"], json!({"queued": 0, "dead": 0, "oldestSeconds": 0}));
    }

    with(|b| b.verification_by_code())
    async fn verified_accounts_are_those_of_the_list_with_this_state(app) {
        let (_ada, eve) = (app.user("ada").await, app.user("eve").await);
        let _bob = crate::deletion_calls::deleted(&app, "bob").await;
        app.admin().patch(&format!("/api/auth/users/{}", eve.id), json!({"banned": true})).send().await.expect(200);

        let found = renewed(&app).await;
        let listed = app.admin().get("/api/auth/users?state=verified").send().await.expect(200);

        assert_eq!((&found["users"]["verified"], &listed["pagination"]["total"]), (&json!(1), &json!(1)), "{found}");
    }

    with(|b| b.verification_by_code())
    async fn operators_are_counted(app) {
        let (ada, _) = (app.user("ada").await, app.user("eve").await);
        let _ = grant(&app, &ada, Role::Viewer).await;

        assert_eq!(renewed(&app).await["users"]["operators"], 1);
    }

    with(|b| b.verification_by_code())
    async fn accounts_with_second_factors_are_counted(app) {
        app.two_step_user("two").await;
        app.passkey_user("key").await;
        app.user("ada").await;

        assert_eq!(renewed(&app).await["factors"], json!({"twoStep": 1, "passkeys": 1}));
    }

    async fn account_out_of_use_is_no_longer_active(app) {
        app.user("ada").await;

        app.clock.advance(days(2));
        assert_eq!(renewed(&app).await["active"], json!({"day": 0, "week": 1, "month": 1}));
        app.clock.advance(days(29));
        assert_eq!(renewed(&app).await["active"], json!({"day": 0, "week": 0, "month": 0}));
    }

    with(|b| b.verification_by_code())
    async fn pending_sign_up_and_its_waiting_mail_are_counted(app) {
        app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
        app.clock.advance(seconds(90));

        let found = stats(&app).await;

        assert_eq!(found["users"], json!({"total": 1, "verified": 0, "pending": 1, "banned": 0, "operators": 0}));
        assert_eq!(found["mails"], json!({"queued": 1, "dead": 0, "oldestSeconds": 90}));
    }

    async fn events_are_counted_by_day(app) {
        let ada = app.user("ada").await;
        app.anon().sign_in(&ada.email, PASSWORD).send().await.expect(200);
        renewed(&app).await;
        app.clock.advance(days(2));
        for password in ["a wrong one", "another one", PASSWORD] {
            app.anon().sign_in(&ada.email, password).send().await;
        }

        renewed(&app).await;
        let found = app.admin().get(STATS).query("days", "4").send().await.expect(200);

        let day = |day: &str, [sign_ups, sign_ins, failures]: [u32; 3]| {
            json!({"day": day, "signUps": sign_ups, "signIns": sign_ins, "failures": failures, "resets": 0})
        };
        let expected = json!([
            day("2026-03-01", [0, 0, 0]), day("2026-03-02", [1, 1, 0]), day("2026-03-03", [0, 0, 0]),
            day("2026-03-04", [0, 1, 2]),
        ]);
        assert_eq!(found["series"], expected);
    }

    async fn day_is_counted_to_its_end(app) {
        let ada = app.user("ada").await;
        renewed(&app).await;
        app.anon().sign_in(&ada.email, PASSWORD).send().await.expect(200);
        app.clock.advance(days(1));

        let found = renewed(&app).await;

        assert_eq!(found["series"][28]["signIns"], 1, "{}", found["series"]);
        assert_eq!(last_day(&found)["signIns"], 0);
    }

    async fn statistics_say_when_they_were_counted(app) {
        assert_eq!(stats(&app).await["asOf"], "2026-03-02T10:00:00.000Z", "the first reader counts");
        app.user("ada").await;
        app.clock.advance(seconds(30));
        app.run_jobs().await;
        let same = stats(&app).await;
        assert_eq!((&same["asOf"], &same["users"]["total"]), (&json!("2026-03-02T10:00:00.000Z"), &json!(0)));

        let later = renewed(&app).await;

        assert_eq!((&later["asOf"], &later["users"]["total"]), (&json!("2026-03-02T10:01:30.000Z"), &json!(1)));
    }

    async fn database_is_described(app) {
        let database = stats(&app).await["database"].clone();

        let engine = if app.database().is_some() { "postgresql" } else { "sqlite" };
        assert_eq!(database["engine"], engine);
        assert!(database["bytes"].as_u64().unwrap() > 10_000, "{database}");
        assert!(database["migration"].as_u64().unwrap() >= 25, "{database}");
    }

    async fn number_of_days_is_1_to_90(app) {
        for days in ["0", "91", "-1", "+3", "x", ""] {
            let answer = app.admin().get(STATS).query("days", days).send().await;
            assert_eq!(answer.refused(400, "VALIDATION_ERROR")["field"], "days");
        }
        for (days, length) in [("1", 1), ("90", 90)] {
            let found = app.admin().get(STATS).query("days", days).send().await.expect(200);
            assert_eq!(found["series"].as_array().unwrap().len(), length);
        }
    }
}
