//! What holds on every route: error shape, methods, content types, malformed and oversized requests, headers.

use latchkey_testkit::{both_stores, json};

both_stores! {
    async fn request_that_is_no_http_is_refused(app) {
        let answer = app.raw(b"GET /\x01 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await;

        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    }

    async fn unknown_path_and_wrong_method_have_the_shape_of_every_error(app) {
        let unknown = app.anon().get("/api/nothing").send().await;
        let wrong = app.anon().post("/api/profiles/search", json!({})).send().await;

        unknown.refused(404, "NOT_FOUND");
        wrong.refused(405, "METHOD_NOT_ALLOWED");
    }

    with(|b| b.mode_production())
    async fn production_insists_on_https_and_has_no_inbox(app) {
        let inbox = app.anon().get("/dev/mail").send().await;
        let session = app.user("ada").await.session;

        inbox.refused(404, "NOT_FOUND");
        assert!(session.cookie.is_some_and(|cookie| cookie.starts_with("__Secure-latchkey_refresh=")));
    }
}
