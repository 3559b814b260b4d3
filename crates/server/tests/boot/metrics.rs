//! Tests of the listener of the metrics: it answers nothing else, and it answers before the database is there.

use latchkey_testkit::Client;
use latchkey_testkit::postgres::TestCluster;

use crate::binary::{Binary, Running, eventually};

/// Client of the listener that the banner names.
fn listener(running: &Running) -> Client {
    let url = running.line("Metrics");
    let address =
        url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/metrics")).expect("an address");
    Client::outside(address.parse().unwrap(), &format!("http://{address}"))
}

#[tokio::test]
async fn own_listener_answers_the_metrics_alone_and_without_a_key() {
    let running = Binary::new().set("metrics.bind=127.0.0.1:0").serve().await;
    let metrics = listener(&running);
    running.anon().get("/health/ready").send().await.expect(200);

    let answer = metrics.get("/metrics").send().await;

    assert_eq!(answer.status, 200, "{answer:?}");
    let text = answer.text();
    let version = format!("latchkey_build_info{{version=\"{}\"", env!("CARGO_PKG_VERSION"));
    for series in [
        version.as_str(),
        "\nprocess_cpu_seconds_total ",
        "\nprocess_resident_memory_bytes ",
        "\nprocess_open_fds ",
        "\nprocess_max_fds ",
        "\nprocess_start_time_seconds ",
        "\nlatchkey_http_requests_total{route=\"/health/ready\",method=\"GET\",status=\"2xx\"} 1\n",
        "\nlatchkey_signing_key_age_seconds ",
    ] {
        assert!(text.contains(series), "{series:?} is missing in {text}");
    }
    for path in ["/", "/health/live", "/api/profiles/me", "/metrics/", "/console"] {
        metrics.get(path).send().await.refused(404, "NOT_FOUND");
    }
    metrics.post("/metrics", latchkey_testkit::json!({})).send().await.refused(405, "METHOD_NOT_ALLOWED");
    for method in ["GET", "HEAD", "POST", "OPTIONS"] {
        let answer = running.anon().request(method, "/metrics").send().await;
        assert_eq!(answer.status, 404, "a stranger learns nothing by {method}: {answer:?}");
    }
    running.stop().await.good();
}

#[tokio::test]
async fn without_the_setting_there_is_no_listener() {
    let running = Binary::new().serve().await;

    assert!(!running.banner.contains("Metrics"), "{}", running.banner);
    running.stop().await.good();
}

/// Waits for the age of the newest backup, in seconds.
async fn backup_age(running: &Running) -> f64 {
    let metrics = listener(running);
    eventually("the age of the backup", async || {
        let answer = metrics.get("/metrics").send().await;
        let line = answer.text().lines().find_map(|line| line.strip_prefix("latchkey_backup_age_seconds "));
        line.and_then(|age| age.parse().ok())
    })
    .await
}

#[tokio::test]
async fn backup_by_the_schedule_has_an_age() {
    let binary = Binary::new().set("metrics.bind=127.0.0.1:0").set("backup.every=1h");

    let running = binary.serve().await;

    assert!(backup_age(&running).await < 60.0);
    let text = listener(&running).get("/metrics").send().await.text().to_owned();
    assert!(text.contains("\nlatchkey_backups_total{outcome=\"made\"} 1\n"), "{text}");
    running.stop().await.good();
}

#[tokio::test]
async fn backup_in_the_folder_has_an_age_without_a_schedule() {
    let binary = Binary::new().set("metrics.bind=127.0.0.1:0");
    binary.serve().await.stop().await.good();
    binary.run(&["backup", "--out", "latchkey-data/backups/"]).await.good();

    let running = binary.serve().await;

    assert!(backup_age(&running).await < 60.0);
    running.stop().await.good();
}

#[tokio::test]
async fn metrics_are_there_before_the_database_is() {
    let cluster = TestCluster::start(&[]).unwrap_or_else(|error| panic!("{error}"));
    let database = cluster.bare_database();
    cluster.halt();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let binary = Binary::new().on(&database).set(&format!("metrics.bind={free}"));
    let metrics = Client::outside(free, &format!("http://{free}"));

    let starting = binary.start();
    let text = eventually("the metrics are there", async || {
        let answer = metrics.get("/metrics").try_send().await.ok()?;
        Some(answer.text().to_owned())
    })
    .await;

    assert!(text.contains("latchkey_build_info{") && !text.contains("latchkey_store_seconds"), "{text}");
    cluster.resume();
    let running = starting.ready().await;
    let text = metrics.get("/metrics").send().await.text().to_owned();
    assert!(text.contains("latchkey_store_seconds_count{"), "{text}");
    running.stop().await.good();
}

#[tokio::test]
async fn address_of_another_listener_is_refused() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();

    let output = Binary::new().set(&format!("metrics.bind={address}")).run(&[]).await;

    output.refused(&["metrics.bind", &address.to_string()]);
    let same = Binary::bare().set("server.bind=127.0.0.1:8700").set("metrics.bind=127.0.0.1:8700");
    same.run(&[]).await.refused(&["metrics.bind", "server.bind", "another port"]);
}
