//! Tests of the limit of requests in flight, and of health checks under load. The limits of connections are tested in
//! `boot/crowd.rs`.

use std::time::Duration;

use latchkey_testkit::postgres::TestCluster;
use latchkey_testkit::{Storage, TestApp, both_stores, seconds};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Starts a request that stays in flight until its body is sent.
async fn hold(app: &TestApp) -> TcpStream {
    let mut stream = app.connect().await;
    let head = "POST /api/auth/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Content-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut go_on = [0; b"HTTP/1.1 100 Continue\r\n\r\n".len()];
    stream.read_exact(&mut go_on).await.unwrap();
    assert!(go_on.starts_with(b"HTTP/1.1 100 "));
    stream
}

async fn end(mut held: TcpStream) -> String {
    held.write_all(b"{}").await.unwrap();
    let mut answer = String::new();
    held.read_to_string(&mut answer).await.unwrap();
    answer
}

both_stores! {
    with(|b| b.serve(|serve| serve.max_requests = 2))
    async fn request_beyond_the_bound_is_refused_at_once_and_health_is_not(app) {
        let held = (hold(&app).await, hold(&app).await);

        for path in ["/api/auth/public-config", "/nothing", "/health/live/", "/health/readyy"] {
            let busy = app.anon().get(path).header("origin", "http://localhost:3000").send().await;
            busy.refused(503, "SERVICE_BUSY");
            assert_eq!(busy.number("retry-after"), 1);
            assert_eq!(busy.header("access-control-allow-origin"), Some("http://localhost:3000"));
        }
        for path in ["/health/live", "/health/ready", "/health/ready?now"] {
            app.anon().get(path).send().await.expect(200);
        }

        assert!(end(held.0).await.starts_with("HTTP/1.1 400 "));
        app.anon().get("/api/auth/public-config").send().await.expect(200);
        assert!(end(held.1).await.starts_with("HTTP/1.1 400 "));
    }

    with(|b| b.serve(|serve| serve.max_requests = 1))
    async fn disconnected_client_releases_its_permit(app) {
        for _ in 0..3 {
            drop(hold(&app).await);

            app.anon().get("/api/auth/public-config").send().await.expect(200);
        }
    }

    async fn readiness_is_cached_for_a_second(app) {
        for _ in 0..3 {
            app.anon().get("/health/ready").send().await.expect(200);
            app.clock.advance(Duration::from_millis(999));
            app.anon().get("/health/ready").send().await.expect(200);
            app.clock.advance(Duration::from_millis(1));
        }
    }
}

#[tokio::test]
async fn many_health_checks_cost_the_database_one_judgement_a_second() {
    let app = TestApp::builder().counting_round_trips().start().await;
    let ask = async || {
        let _ = app.round_trips(); // round trips of the start
        let asking: Vec<_> = (0..20).map(|_| tokio::spawn(app.anon().get("/health/ready").send())).collect();
        for asked in asking {
            asked.await.unwrap().expect(200);
        }
        app.round_trips()
    };

    assert_eq!(ask().await, 1);
    assert_eq!(ask().await, 0);
    app.clock.advance(seconds(1));
    assert_eq!(ask().await, 1);
}

#[tokio::test]
async fn database_that_only_reads_shows_within_a_second_and_so_does_its_return() {
    const TERMINATE: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                             WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let app = TestApp::builder().storage(Storage::Postgres).start().await;
    let (database, cluster) = (app.database().unwrap(), TestCluster::shared());
    let (name, ready) = (database.name(), || app.anon().get("/health/ready").send());
    ready().await.expect(200);

    cluster.run(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on"));
    database.run(TERMINATE);
    app.clock.advance(seconds(1));
    ready().await.refused(503, "STORAGE_UNAVAILABLE");

    cluster.run(&format!("ALTER DATABASE {name} RESET default_transaction_read_only"));
    database.run(TERMINATE);
    ready().await.refused(503, "STORAGE_UNAVAILABLE");
    app.clock.advance(seconds(1));
    ready().await.expect(200);
}
