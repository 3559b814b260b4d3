//! Comparison of responses with the `OpenAPI` document that the service serves.

use latchkey_testkit::{Answer, Request, TestApp, Value};

use crate::schema::{misfits, resolve};

/// Sends the requests in their order, each with its operation (`GET /path`), and asserts that each succeeds with a
/// described response.
pub(crate) async fn assert_successes_are_described(
    app: &TestApp,
    requests: impl IntoIterator<Item = (&'static str, Request)>,
) {
    let document = app.anon().get("/openapi.json").send().await.expect(200);
    for (operation, request) in requests {
        assert_success_is_described(&document, operation, request).await;
    }
}

/// Sends a request, and asserts that it succeeds with a described response.
pub(crate) async fn assert_success_is_described(document: &Value, operation: &str, request: Request) {
    let answer = request.send().await;

    assert!(answer.status < 400, "{operation}: {answer:?}");
    assert_described(document, operation, &answer);
}

/// Asserts that status, body and headers are described.
#[track_caller]
pub(crate) fn assert_described(document: &Value, name: &str, answer: &Answer) {
    let described = operation(document, name)["responses"].get(answer.status.to_string());
    let described = described.unwrap_or_else(|| panic!("{name} is not said to answer this: {answer:?}"));
    let described = resolve(document, described);
    for (header, is) in described["headers"].as_object().into_iter().flatten() {
        let is_optional = resolve(document, is)["required"] != true;
        assert!(is_optional || answer.header(header).is_some(), "{name} has no {header}: {answer:?}");
    }
    let kind = answer.header("content-type").and_then(|kind| kind.split(';').next()).unwrap_or_default();
    if kind.is_empty() {
        return assert_eq!(described.get("content"), None, "{name} has no body: {answer:?}");
    }
    let content = &described["content"][kind];
    assert!(content.is_object(), "{name} is not said to answer in {kind}: {answer:?}");
    if kind == "application/json" {
        let misfits = misfits(document, &content["schema"], &answer.json());
        assert_eq!(misfits, Vec::<String>::new(), "{name}: {answer:?}");
    }
}

/// The operation of this name (`GET /path`).
pub(crate) fn operation<'a>(document: &'a Value, name: &str) -> &'a Value {
    let (method, path) = name.split_once(' ').unwrap();
    let operation = &document["paths"][path][method.to_lowercase()];
    assert!(operation.is_object(), "{name} is not described");
    operation
}
