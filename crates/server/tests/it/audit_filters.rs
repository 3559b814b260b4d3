//! Tests of the filters of the audit log, of its export as JSON lines, and of the last sign-ins of a user.

use latchkey_testkit::{Answer, PASSWORD, TestApp, User, Value, both_stores, json, seconds};

use crate::audit::events;

const AUDIT: &str = "/api/auth/audit";
const EXPORT: &str = "/api/auth/audit/export";

/// Signs in from an address, a second after the event before.
async fn sign_in(app: &TestApp, email: &str, password: &str, ip: &str) -> Answer {
    app.clock.advance(seconds(1));
    app.anon().at(ip).sign_in(email, password).send().await
}

/// Two users, each with a sign-in and a failure, a failure of nobody, and a ban by an admin.
async fn happen(app: &TestApp) -> [User; 2] {
    let users = [app.user("ada").await, app.user("eve").await];
    for (user, ip) in users.iter().zip(["203.0.113.7", "2001:db8::7"]) {
        sign_in(app, &user.email, PASSWORD, ip).await.expect(200);
        sign_in(app, &user.email, "a wrong password 1", ip).await.refused(401, "INVALID_CREDENTIALS");
    }
    sign_in(app, "nobody@example.org", PASSWORD, "203.0.113.7").await.refused(401, "INVALID_CREDENTIALS");
    app.clock.advance(seconds(1));
    let ban = app.admin().patch(&format!("/api/auth/users/{}", users[1].id), json!({"banned": true}));
    ban.send().await.expect(200);
    users
}

pub(crate) async fn found(app: &TestApp, query: &str) -> Vec<Value> {
    let page = app.admin().get(&format!("{AUDIT}?limit=100&{query}")).send().await.expect(200);
    page["data"].as_array().unwrap().clone()
}

fn lines(answer: &Answer) -> Vec<Value> {
    answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

both_stores! {
    async fn each_filter_shows_the_events_that_meet_it(app) {
        let [ada, eve] = happen(&app).await;
        let all = events(&app).await;
        let ban = all[0].clone();
        let at = |event: &Value| event["at"].as_str().unwrap().to_owned();

        for (query, meets) in [
            (format!("userId={}", ada.id), Box::new(|event: &Value| event["userId"] == ada.id) as Box<dyn Fn(&Value) -> bool>),
            ("event=sign_in_failed".to_owned(), Box::new(|event| event["event"] == "sign_in_failed")),
            ("actor=admin".to_owned(), Box::new(|event| event["actor"] == "admin")),
            ("actor=user".to_owned(), Box::new(|event| event["actor"] == "user")),
            ("ip=203.0.113.7".to_owned(), Box::new(|event| event["ip"] == "203.0.113.7")),
            ("ip=2001:DB8:0:0::7".to_owned(), Box::new(|event| event["ip"] == "2001:db8::7")),
            (format!("from={}", at(&ban)), Box::new(|event| event["id"] == ban["id"])),
            (format!("to={}", at(&ban)), Box::new(|event| event["id"] != ban["id"])),
            (
                format!("userId={}&event=sign_in_failed&ip=2001:db8::7&from=2026-03-01&to=2027-01-01", eve.id),
                Box::new(|event| event["userId"] == eve.id && event["event"] == "sign_in_failed"),
            ),
        ] {
            let wanted: Vec<_> = all.iter().filter(|event| meets(event)).cloned().collect();
            assert!(!wanted.is_empty() && wanted.len() < all.len(), "{query}");

            assert_eq!(found(&app, &query).await, wanted, "{query}");
        }
    }

    async fn filter_that_nothing_meets_is_an_empty_last_page(app) {
        let [ada, _] = happen(&app).await;
        for query in [
            format!("operatorId={}", ada.id),
            "actor=operator".to_owned(),
            "ip=198.51.100.1".to_owned(),
            "to=2020-01-01".to_owned(),
            "event=sign_in_failed&actor=admin".to_owned(),
        ] {
            let page = app.admin().get(&format!("{AUDIT}?{query}")).send().await.expect(200);

            assert_eq!(page, json!({"data": [], "pagination": {"limit": 20}}), "{query}");
        }
    }

    async fn filtered_pages_walk_every_event_once(app) {
        happen(&app).await;
        for query in ["event=sign_in_failed", "ip=203.0.113.7", "actor=user", "actor=user&event=sign_in"] {
            let wanted = found(&app, query).await;
            let (mut walked, mut before) = (Vec::new(), String::new());
            loop {
                let page = app.admin().get(&format!("{AUDIT}?{query}&limit=1{before}")).send().await.expect(200);
                walked.extend(page["data"].as_array().unwrap().clone());
                let Some(next) = page["pagination"]["nextBefore"].as_str() else { break };
                before = format!("&before={next}");
            }
            assert_eq!(walked, wanted, "{query}");
        }
    }

    async fn failures_without_an_account_stay_anonymous(app) {
        happen(&app).await;

        let failures = found(&app, "event=sign_in_failed&ip=203.0.113.7").await;

        let users: Vec<_> = failures.iter().map(|event| event["userId"].is_null()).collect();
        assert_eq!(users, [true, false]);
        assert!(!failures[0].to_string().contains("nobody@"), "{failures:?}");
    }

    async fn unknown_values_of_filters_are_refused(app) {
        for (query, field) in [
            ("userId=ada", "userId"),
            ("event=signin", "event"),
            ("event=", "event"),
            ("actor=root", "actor"),
            ("operatorId=1", "operatorId"),
            ("ip=203.0.113", "ip"),
            ("ip=203.0.113.0/24", "ip"),
            ("from=yesterday", "from"),
            ("to=2026-02-30", "to"),
            ("to=2026-03-01T12:00:00+01:00", "to"),
            ("user=x", "user"),
        ] {
            for path in [AUDIT, EXPORT] {
                let refusal = app.admin().get(&format!("{path}?{query}")).send().await;

                assert_eq!(refusal.refused(400, "VALIDATION_ERROR")["field"], field, "{query}");
            }
        }
    }

    async fn export_has_the_filtered_events_one_a_line(app) {
        happen(&app).await;
        for query in ["", "event=sign_in_failed", "ip=203.0.113.7&actor=user"] {
            let export = app.admin().get(&format!("{EXPORT}?{query}")).send().await;

            assert_eq!(export.status, 200, "{export:?}");
            assert_eq!(export.header("content-type"), Some("application/x-ndjson"));
            assert_eq!(export.header("content-disposition"), Some("attachment; filename=\"audit.jsonl\""));
            assert_eq!(export.header("cache-control"), Some("no-store"));
            assert_eq!(lines(&export), found(&app, query).await, "{query}");
            assert!(export.text().ends_with('\n'));
        }
    }

    async fn export_is_longer_than_any_page(app) {
        for _ in 0..1203 {
            app.bearing("a-wrong-admin-key").get(AUDIT).send().await.refused(401, "ADMIN_UNAUTHORIZED");
        }

        let export = lines(&app.admin().get(EXPORT).send().await);

        assert_eq!(export.len(), 1203);
        let ids: Vec<_> = export.iter().map(|event| event["id"].as_str().unwrap()).collect();
        assert!(ids.is_sorted_by(|a, b| a > b));
        let rest = lines(&app.admin().get(&format!("{EXPORT}?before={}", ids[1000])).send().await);
        assert_eq!(rest, export[1001..]);
    }

    async fn export_of_nothing_is_empty(app) {
        let export = app.admin().get(&format!("{EXPORT}?to=2020-01-01")).send().await;

        assert_eq!((export.status, export.text()), (200, ""));
        app.anon().get(EXPORT).send().await.refused(401, "ADMIN_UNAUTHORIZED");
        app.admin().get(&format!("{EXPORT}?limit=5")).send().await.refused(400, "VALIDATION_ERROR");
    }

    async fn last_sign_ins_and_failures_of_a_user_are_listed_apart(app) {
        let [ada, eve] = happen(&app).await;
        sign_in(&app, &ada.email, "a wrong password 2", "198.51.100.1").await.refused(401, "INVALID_CREDENTIALS");
        let path = format!("/api/auth/users/{}/sign-ins", ada.id);

        let listed = app.admin().get(&path).send().await.expect(200);

        let named = |name: &str| {
            let events = listed[name].as_array().unwrap().iter();
            events.map(|event| (event["event"].as_str().unwrap(), event["ip"].as_str().unwrap())).collect::<Vec<_>>()
        };
        assert_eq!(named("signIns"), [("sign_in", "203.0.113.7")]);
        assert_eq!(named("failures"), [("sign_in_failed", "198.51.100.1"), ("sign_in_failed", "203.0.113.7")]);
        assert!(!listed.to_string().contains(&eve.id));
        let newest = app.admin().get(&format!("{path}?limit=1")).send().await.expect(200);
        assert_eq!(newest["failures"].as_array().unwrap()[..], listed["failures"].as_array().unwrap()[..1]);
    }

    async fn sign_ins_of_an_unknown_user_are_not_found(app) {
        let nobody = "/api/auth/users/00000000-0000-7000-8000-000000000000/sign-ins";
        app.admin().get(nobody).send().await.refused(404, "USER_NOT_FOUND");
        app.admin().get(&format!("{nobody}?limit=101")).send().await.refused(400, "VALIDATION_ERROR");
        app.anon().get(nobody).send().await.refused(401, "ADMIN_UNAUTHORIZED");
    }
}
