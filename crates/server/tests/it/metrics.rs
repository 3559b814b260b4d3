//! Tests of the metrics: who may read them, their formats, what counts, and the bound of their series.

#![allow(clippy::float_cmp, clippy::cast_precision_loss, reason = "counts are whole numbers")]

use std::process::Stdio;

use latchkey_service::backups::NewestBackup;
use latchkey_testkit::{PASSWORD, both_stores, json, minutes};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::audit::events;
use crate::metrics_calls::{Metrics, assert_grown, metrics};
use crate::oauth_calls::{acme, person, sign_in};

/// Largest number of series, whatever clients do.
const MOST_SERIES: usize = 2_500;
const OPEN_METRICS: &str =
    "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";

/// Runs `promtool check metrics`, which also refuses names that break Prometheus's conventions.
async fn assert_promtool_is_content(text: &str) {
    let mut promtool = Command::new("promtool");
    let promtool = promtool.args(["check", "metrics"]).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut promtool = promtool.spawn().expect("promtool: cargo xtask prepare prometheus");
    promtool.stdin.take().unwrap().write_all(text.as_bytes()).await.unwrap();
    let output = promtool.wait_with_output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

both_stores! {
    async fn metrics_do_not_exist_for_whom_has_no_admin_key(app) {
        let ada = app.user("ada").await;
        for client in [app.anon(), app.bearing("admin_of_nothing_0123456789"), app.with_session(&ada.session)] {
            client.get("/metrics").send().await.refused(404, "NOT_FOUND");
        }
        app.anon().get("/metrics").header("x-api-key", "admin_of_nothing_0123456789").send().await.refused(404, "NOT_FOUND");
        // Another method is answered as at an unknown path, without the methods that there are.
        for request in [app.anon().post("/metrics", json!({})), app.anon().delete("/metrics")] {
            let answer = request.send().await;
            answer.refused(404, "NOT_FOUND");
            assert_eq!(answer.header("allow"), None, "{answer:?}");
        }

        metrics(&app).await;
    }

    async fn open_metrics_is_sent_to_whom_asks_for_it(app) {
        let open = app.admin().get("/metrics").header("accept", OPEN_METRICS).send().await;
        assert_eq!(
            open.header("content-type"), Some("application/openmetrics-text; version=1.0.0; charset=utf-8")
        );
        assert_eq!(open.header("vary"), Some("Accept"));
        assert!(open.text().ends_with("\n# EOF\n"), "{}", open.text());
        assert!(open.text().contains("# TYPE latchkey_sign_ins counter\n"), "{}", open.text());

        let text = metrics(&app).await.text;
        assert!(!text.contains("# EOF") && !text.contains("_created ") && !text.contains("_created{"), "{text}");
        assert!(text.contains("# TYPE latchkey_sign_ins_total counter\n"), "{text}");
    }

    async fn text_is_as_promtool_wants_it(app) {
        app.user("ada").await;
        app.run_jobs().await;

        assert_promtool_is_content(&metrics(&app).await.text).await;
    }

    async fn sign_up_and_sign_in_are_counted_apart(app) {
        let before = metrics(&app).await;

        let ada = app.user("ada").await;
        app.anon().sign_up(&ada.email, PASSWORD).send().await.refused(409, "EMAIL_EXISTS");
        app.anon().sign_in(&ada.email, PASSWORD).send().await.expect(200);
        app.anon().sign_in(&ada.email, "a wrong password").send().await.refused(401, "INVALID_CREDENTIALS");
        app.anon().refresh(&ada.session).send().await.expect(200);

        assert_grown(&before, &metrics(&app).await, &[
            (r#"latchkey_sign_ups_total{method="password",outcome="opened"}"#, 1.0),
            (r#"latchkey_sign_ups_total{method="password",outcome="refused"}"#, 1.0),
            ("latchkey_sign_ups_total", 2.0),
            (r#"latchkey_sign_ins_total{method="password",outcome="opened"}"#, 1.0),
            (r#"latchkey_sign_ins_total{method="password",outcome="refused"}"#, 1.0),
            ("latchkey_sign_ins_total", 2.0),
            (r#"latchkey_refreshes_total{outcome="succeeded"}"#, 1.0),
            ("latchkey_refreshes_total", 1.0),
            ("latchkey_hash_seconds_count", 3.0),
        ]);
    }

    async fn hash_from_elsewhere_is_timed_apart(app) {
        app.imported_user("ada", "$2b$04$cECOmfMonDnXthabEWC6ZOZK4yAntDRBxZtm6obR2jvK4RE.7uG5u").await;
        let before = metrics(&app).await;

        app.anon().sign_in("ada@example.org", PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");

        assert_grown(&before, &metrics(&app).await, &[
            (r#"latchkey_hash_seconds_count{class="elsewhere"}"#, 1.0),
            (r#"latchkey_hash_seconds_count{class="own"}"#, 1.0),
        ]);
    }

    async fn account_that_a_provider_brings_is_a_sign_up_once(app) {
        let provider = acme(&app).await;
        provider.person(person("ada", "ada@example.org"));
        let before = metrics(&app).await;

        sign_in(&app, &provider, "acme").await.expect(200);
        let first = metrics(&app).await;
        app.clock.advance(minutes(1));
        sign_in(&app, &provider, "acme").await.expect(200);

        let (up, in_) = (r#"latchkey_sign_ups_total{method="provider",outcome="opened"}"#, "latchkey_sign_ins_total");
        assert_grown(&before, &first, &[(up, 1.0), (in_, 0.0)]);
        assert_grown(&first, &metrics(&app).await, &[
            (up, 0.0),
            (r#"latchkey_sign_ins_total{method="provider",outcome="opened"}"#, 1.0),
            (r#"latchkey_provider_requests_total{provider="acme",outcome="answered"}"#, 2.0),
        ]);
    }

    with(|b| b.verification_by_code())
    async fn second_factor_is_counted_by_kind(app) {
        let ada = app.two_step_user("ada").await;
        let before = metrics(&app).await;

        let challenge = ada.challenged().await;
        app.anon().answer(&challenge, "totp", &ada.authenticator.wrong_code(0)).send().await
            .refused(401, "INVALID_SECOND_FACTOR");
        app.anon().answer(&challenge, "totp", &ada.authenticator.code()).send().await.expect(200);

        assert_grown(&before, &metrics(&app).await, &[
            (r#"latchkey_sign_ins_total{method="password",outcome="challenged"}"#, 1.0),
            (r#"latchkey_challenges_total{kind="totp",outcome="refused"}"#, 1.0),
            (r#"latchkey_challenges_total{kind="totp",outcome="succeeded"}"#, 1.0),
            ("latchkey_challenges_total", 2.0),
        ]);
    }

    with(|b| b.verification_by_code())
    async fn sent_mails_are_counted_by_template(app) {
        let before = metrics(&app).await;

        app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
        app.run_jobs().await;

        assert_grown(&before, &metrics(&app).await, &[
            (r#"latchkey_mails_total{template="verify",outcome="sent"}"#, 1.0),
            ("latchkey_mails_total", 1.0),
            (r#"latchkey_sign_ups_total{method="password",outcome="pending"}"#, 1.0),
        ]);
    }

    async fn audit_events_are_those_of_the_audit_log(app) {
        let ada = app.user("ada").await;
        app.anon().sign_in(&ada.email, "a wrong password").send().await.refused(401, "INVALID_CREDENTIALS");
        app.anon().sign_in(&ada.email, PASSWORD).send().await.expect(200);
        app.with_session(&ada.session).delete("/api/auth/sessions").send().await;
        app.admin().patch(&format!("/api/auth/users/{}", ada.id), json!({"banned": true})).send().await.expect(200);

        let written = events(&app).await;

        let found = metrics(&app).await;
        assert!(written.len() >= 4, "{written:?}");
        for event in &written {
            let kind = event["event"].as_str().unwrap();
            let number = written.iter().filter(|other| other["event"] == kind).count();
            let series = format!(r#"latchkey_audit_events_total{{kind="{kind}"}}"#);
            assert_eq!(found.value(&series), number as f64, "{kind}: {written:?}");
        }
        assert_eq!(found.sum("latchkey_audit_events_total"), written.len() as f64);
    }

    with(|b| b.limits())
    async fn refusals_are_counted_by_limit(app) {
        let before = metrics(&app).await;

        let mut limited = 0.0;
        for number in 0..35 {
            let answer = app.anon().sign_in(&format!("nobody-{number}@example.org"), PASSWORD).send().await;
            limited += if answer.status == 429 { 1.0 } else { 0.0 };
        }

        assert!(limited > 0.0);
        assert_grown(&before, &metrics(&app).await, &[
            ("latchkey_limit_refusals_total{limit=\"password sign-in, per address\"}", limited),
            ("latchkey_limit_refusals_total", limited),
            (r#"latchkey_sign_ins_total{method="password",outcome="limited"}"#, limited),
            (r#"latchkey_http_requests_total{route="/api/auth/sessions",method="POST",status="4xx"}"#, 35.0),
            (r#"latchkey_http_request_seconds_count{route="/api/auth/sessions"}"#, 35.0),
        ]);
    }

    async fn gauges_are_those_of_the_statistics(app) {
        let (ada, _) = (app.user("ada").await, app.user("bob").await);
        app.admin().patch(&format!("/api/auth/users/{}", ada.id), json!({"banned": true})).send().await.expect(200);
        assert_eq!(metrics(&app).await.sum("latchkey_users"), 0.0, "upkeep has not counted yet");

        app.run_jobs().await;

        let found = metrics(&app).await;
        for (series, value) in [
            (r#"latchkey_users{state="active"}"#, 1.0),
            (r#"latchkey_users{state="banned"}"#, 1.0),
            (r#"latchkey_users{state="pending"}"#, 0.0),
            ("latchkey_sessions_live", 1.0),
            (r#"latchkey_outbox_pending{queue="mail"}"#, 0.0),
            (r#"latchkey_outbox_oldest_seconds{queue="mail"}"#, 0.0),
            ("latchkey_search_profiles", 1.0),
            ("latchkey_signing_key_age_seconds", 0.0),
            ("latchkey_hash_queue", 0.0),
            ("latchkey_http_in_flight", 1.0),
        ] {
            assert_eq!(found.value(series), value, "{series}: {}", found.text);
        }
        let is_known = |family: &str| found.families().contains(&family);
        assert_eq!(is_known("latchkey_postgres_connections"), app.database().is_some());
        assert_eq!(is_known("latchkey_sqlite_wal_bytes"), app.database().is_none());
        assert!(!is_known("latchkey_backup_age_seconds"));
    }

    async fn every_operation_has_its_name(app) {
        app.user("ada").await;

        let found = metrics(&app).await;

        for operation in ["begin_sign_up", "create_account_and_enter"] {
            let count = found.value(&format!(r#"latchkey_store_seconds_count{{operation="{operation}"}}"#));
            assert_eq!(count, 1.0, "{operation}: {}", found.text);
        }
        assert_eq!(found.sum("latchkey_store_errors_total"), 0.0);
    }

    with(|b| b.pages())
    async fn hostile_requests_add_no_series(app) {
        let ada = app.user("ada").await;
        for path in ["/api/auth/config", "/auth/sign-in", "/health/live"] {
            app.anon().get(path).send().await;
        }
        app.anon().request("BREW", "/nowhere").send().await;
        let of_requests = |found: &Metrics| -> Vec<String> {
            let series = found.series().filter(|series| series.contains("route="));
            series.filter(|series| !series.contains("_bucket")).map(str::to_owned).collect()
        };
        let before = of_requests(&metrics(&app).await).len();

        for number in 0..300 {
            let path = format!("/{number}/api/auth/users/{number}?q={number}");
            let method = ["GET", "POST", "BREW", "PROPFIND", "M-SEARCH"][number % 5];
            app.anon().at(&format!("203.0.113.{}", number % 200)).request(method, &path).send().await;
            app.anon().get(&format!("/api/profiles/{number}")).send().await;
            app.anon().sign_in(&format!("nobody-{number}@example.org"), PASSWORD).send().await;
            app.with_session(&ada.session).request("DELETE", "/health/live").send().await;
        }

        let found = metrics(&app).await;
        let after = of_requests(&found);
        let known = ["/api/profiles/{userId}", "/api/auth/sessions", "other", "/metrics"];
        let is_known = |series: &String| known.iter().any(|route| series.contains(&format!("route=\"{route}\"")));
        let new = after.len() - before;
        assert!(new <= 16, "{new} more: {after:#?}");
        assert!(after.iter().filter(|series| is_known(series)).count() >= 5, "{after:#?}");
        for text in ["203.0.113", "nobody-", "PROPFIND", "BREW", "example.org", &ada.email, &ada.id] {
            assert!(!found.text.contains(text), "{text} is a label");
        }
        assert!(found.series().count() <= MOST_SERIES);
    }

    async fn series_have_a_bound(app) {
        let most = app.most_series();
        assert!(most <= MOST_SERIES, "{most} series are possible");
        assert!(metrics(&app).await.series().count() <= most);
    }

    async fn dashboard_and_alerts_name_metrics_that_exist(app) {
        app.user("ada").await;
        let newest = NewestBackup { created_at: app.service().now(), bytes: 1 };
        app.service().backups.remember(Some(newest));
        app.service().backups.schedule(minutes(60));
        app.run_jobs().await;
        let found = metrics(&app).await;
        let of_the_engines = ["latchkey_postgres_connections", "latchkey_sqlite_wal_bytes", "latchkey_sqlite_batch_operations"];
        // Series that appear with the first provider, refusal by a limit, or backup of the schedule.
        let later = [
            "latchkey_provider_requests_total",
            "latchkey_limit_refusals_total",
            "latchkey_backups_total",
            "latchkey_build_info",
        ];
        for file in ["grafana.json", "alerts.yaml"] {
            let path = format!("{}/../../deploy/{file}", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(&path).unwrap();
            let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let names: Vec<_> = words.filter(|word| word.starts_with("latchkey_")).collect();
            assert!(names.len() > 15, "{file}: {names:?}");
            for name in names {
                let family = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| name.strip_suffix(suffix));
                let is_there = |name: &str| found.families().contains(&name) || of_the_engines.contains(&name);
                assert!(
                    is_there(name) || family.is_some_and(is_there) || later.contains(&name),
                    "{file} names {name}: {:?}", found.families()
                );
            }
        }
    }
}
