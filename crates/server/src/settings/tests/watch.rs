//! Tests of the settings of metrics and traces.

use super::super::Sources;
use super::{assert_says, development, load, problem, production};

#[test]
fn metrics_have_an_address_of_their_own() {
    assert_eq!(load(development(&[])).metrics.bind, None);
    let open = load(production(&["metrics.bind=10.0.0.1:8702"]));
    assert_eq!(open.metrics.bind, Some("10.0.0.1:8702".parse().unwrap()));
    let console = ["console.enabled=true", "console.bind=127.0.0.1:8702", "metrics.bind=127.0.0.1:8702"];
    assert_says(&problem(development(&console)), &["metrics.bind", "console.bind", "another port"]);
    assert_says(&problem(development(&["metrics.bind=0.0.0.0:8702"])), &["metrics.bind", "0.0.0.0:8702"]);
}

#[test]
fn share_of_traces_is_a_number_from_0_to_1() {
    let sample = |sources| load(sources).traces.sample;
    assert!((sample(development(&[])) - 0.01).abs() < 1e-9);
    assert!((sample(development(&["traces.sample=0.5"])) - 0.5).abs() < 1e-9);
    let file =
        |text: &str| Sources::none().with_file("latchkey.toml", format!("[traces]\nsample = {text}\n"));
    assert!((sample(file("1")) - 1.0).abs() < 1e-9);
    assert!((sample(file("0.25")) - 0.25).abs() < 1e-9);
    assert!(load(file("0.25")).to_toml().contains("\nsample = 0.25 # file"));
    for wrong in ["1.5", "-0.1", "NaN", "much"] {
        let said = problem(development(&[&format!("traces.sample={wrong}")]));
        assert_says(&said, &["traces.sample", "from 0 to 1"]);
    }
}

#[test]
fn collector_is_an_http_url_without_a_password() {
    for url in ["http://127.0.0.1:4318", "https://otel.example.com/v1/traces?team=7"] {
        assert!(load(development(&[&format!("traces.endpoint={url}")])).traces.endpoint.is_some(), "{url}");
    }
    for url in ["127.0.0.1:4318", "grpc://127.0.0.1:4317", "here"] {
        assert_says(
            &problem(development(&[&format!("traces.endpoint={url}")])),
            &["traces.endpoint", "http"],
        );
    }
    let said = problem(development(&["traces.endpoint=https://me:hunter2@otel.example.com"]));
    assert_says(&said, &["traces.endpoint", "traces.headers_file"]);
    assert!(!said.contains("hunter2"), "{said}");
}
