//! Tests over a raw socket: malformed requests, and unusual HTTP versions and framings.

use latchkey_testkit::{PASSWORD, Value, both_stores};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

both_stores! {
    async fn invalid_http_is_refused(app) {
        for request in [
            "GET /\u{1} HTTP/1.1\r\nHost: x\r\n\r\n",
            "\u{1}\u{2}\u{3}\r\n\r\n",
            "GET / HTTP/1.1\r\nBad Name: x\r\n\r\n",
            "GET / HTTP/1.1\r\nX-Bad: a\u{0}b\r\n\r\n",
            "GET / HTTP/9.9\r\nHost: x\r\n\r\n",
            "GET /\r\n\r\n",
            "GET  / HTTP/1.1\r\n\r\n",
            "POST /api/auth/logout HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
            "POST /api/auth/logout HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
            "POST /api/auth/logout HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n{}",
        ] {
            Raw::of(&app.raw(request.as_bytes()).await).assert_bare(400);
        }
    }

    async fn address_and_headers_far_over_the_limits_are_refused(app) {
        let address =
            format!("GET /{} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "a".repeat(100_000));
        let headers =
            format!("GET / HTTP/1.1\r\nHost: x\r\n{}Connection: close\r\n\r\n", "X-Many: 1\r\n".repeat(3000));

        Raw::of(&app.raw(address.as_bytes()).await).assert_bare(414);
        Raw::of(&app.raw(headers.as_bytes()).await).assert_bare(431);
    }

    async fn http_1_0_is_answered_and_closed(app) {
        let answer = Raw::of(&app.raw(b"GET /health/live HTTP/1.0\r\n\r\n").await);

        assert!(answer.head.starts_with("HTTP/1.0 200 "), "{}", answer.head);
        assert_eq!(answer.json()["status"], "live");
    }

    async fn pipelined_requests_are_answered_in_order(app) {
        let requests = "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\nGET /nothing HTTP/1.1\r\nHost: x\r\n\r\n\
                        GET /health/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

        let answers = app.raw(requests.as_bytes()).await;

        let statuses: Vec<_> =
            answers.match_indices("HTTP/1.1 ").map(|(at, _)| &answers[at + 9..at + 12]).collect();
        assert_eq!(statuses, ["200", "404", "200"], "{answers}");
    }

    async fn half_closed_connection_gets_its_responses(app) {
        app.user("ada").await;
        let body = format!(r#"{{"email": "ada@example.org", "password": "{PASSWORD}"}}"#);
        let post = format!(
            "POST /api/auth/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let get = "GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n";

        for requests in [get.to_owned(), post.clone(), format!("{get}{post}{get}")] {
            let mut stream = app.connect().await;
            stream.write_all(requests.as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
            let mut answers = String::new();
            stream.read_to_string(&mut answers).await.unwrap();

            let wanted = requests.matches(" HTTP/1.1\r\n").count();
            assert_eq!(answers.matches("HTTP/1.1 200 ").count(), wanted, "{requests}\n{answers}");
        }
    }

    async fn half_closed_connection_with_an_incomplete_request_is_refused(app) {
        let head = "POST /api/auth/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
        for request in ["GET / HT", &format!("{head}Content-Length: 100\r\n\r\n{{")] {
            let mut stream = app.connect().await;
            stream.write_all(request.as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();

            assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400 "), "{request}: {answer}");
        }
    }

    async fn chunked_body_is_read(app) {
        app.user("ada").await;
        let body = format!(r#"{{"email": "ada@example.org", "password": "{PASSWORD}"}}"#);
        let (one, other) = body.split_at(17);
        let chunks = format!(
            "{:x}\r\n{one}\r\n{:x};ext=1\r\n{other}\r\n0\r\nX-Trailer: 1\r\n\r\n",
            one.len(),
            other.len()
        );

        let answer = Raw::of(&app.raw(chunked("/api/auth/sessions", &chunks).as_bytes()).await);

        assert!(answer.head.starts_with("HTTP/1.1 200 "), "{}", answer.head);
    }

    async fn chunked_body_over_the_limit_is_refused(app) {
        let chunk = format!("1000\r\n{}\r\n", "a".repeat(0x1000));

        let answer = app
            .raw(chunked("/api/auth/sessions", &format!("{}0\r\n\r\n", chunk.repeat(20))).as_bytes())
            .await;

        Raw::of(&answer).assert_refused(413, "PAYLOAD_TOO_LARGE");
    }

    async fn chunked_body_that_is_broken_is_refused(app) {
        for chunks in ["zz\r\n{}\r\n0\r\n\r\n", "2\r\n{}0\r\n\r\n", "ffffffffffffffffff\r\n{}\r\n"] {
            let answer = app.raw(chunked("/api/auth/sessions", chunks).as_bytes()).await;

            Raw::of(&answer).assert_refused(400, "VALIDATION_ERROR");
        }
    }

    async fn length_beside_chunks_smuggles_no_second_request(app) {
        let request = "POST /api/auth/logout HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
                       Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n\
                       GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

        let answers = app.raw(request.as_bytes()).await;

        // If both Content-Length and Transfer-Encoding are sent, only the chunks count, and the connection is closed
        // (RFC 9112 section 6.1, request smuggling).
        assert_eq!(answers.matches("HTTP/1.1 ").count(), 1, "{answers}");
        assert!(answers.starts_with("HTTP/1.1 200 ") && answers.contains("connection: close"), "{answers}");
    }

    async fn body_that_is_announced_too_large_is_refused_before_it_comes(app) {
        let request = "POST /api/auth/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
                       Content-Length: 99999999999\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n";

        let answer = app.raw(request.as_bytes()).await;

        Raw::of(&answer).assert_refused(413, "PAYLOAD_TOO_LARGE");
    }

    with(|b| b.http(|http| http.body_timeout = std::time::Duration::from_millis(50)))
    async fn body_that_does_not_come_is_refused(app) {
        let request = "POST /api/auth/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
                       Content-Length: 100\r\n\r\n{";

        let answer = app.raw(request.as_bytes()).await;

        Raw::of(&answer).assert_refused(408, "REQUEST_TIMEOUT");
    }

    async fn host_header_never_appears_in_a_response(app) {
        let request = "GET /openapi.json HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\n\
                       Connection: close\r\n\r\n";

        let answer = app.raw(request.as_bytes()).await;

        assert!(answer.starts_with("HTTP/1.1 200 ") && !answer.contains("evil.example"));
    }

    async fn absolute_address_leads_to_the_same_route(app) {
        let request =
            "GET http://localhost:8700/health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

        let answer = Raw::of(&app.raw(request.as_bytes()).await);

        assert_eq!(answer.json()["status"], "live");
    }
}

fn chunked(path: &str, chunks: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\
         Connection: close\r\n\r\n{chunks}"
    )
}

/// Response as read from the socket.
struct Raw {
    head: String,
    body: String,
}

impl Raw {
    #[track_caller]
    fn of(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
        Self { head: head.to_owned(), body: body.to_owned() }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {}\n{}", self.head, self.body))
    }

    /// Asserts the response of the HTTP parser itself: a status without a body, and without the name of the server.
    #[track_caller]
    fn assert_bare(&self, status: u16) {
        assert!(
            self.head.starts_with(&format!("HTTP/1.1 {status} ")) && self.body.is_empty(),
            "{}",
            self.head
        );
        assert_eq!(self.header("server"), None);
    }

    #[track_caller]
    fn assert_refused(&self, status: u16, code: &str) {
        assert!(self.head.contains(&format!(" {status} ")), "{}\n{}", self.head, self.body);
        let body = self.json();
        assert_eq!((&body["error"], &body["statusCode"]), (&Value::from(code), &Value::from(status)));
        assert_eq!(self.header("content-type"), Some("application/json; charset=utf-8"));
        assert_eq!(self.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(self.header("cache-control"), Some("no-store"));
    }
}
