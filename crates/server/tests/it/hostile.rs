//! Fuzz tests: thousands of requests from one seed to every route, made of inputs that are known to break services.
//! None causes a 5xx, every error has the documented form, and the log contains no part of the input.

use std::io::{self, Write};
use std::ops::RangeFrom;
use std::sync::{Arc, Mutex, OnceLock};

use latchkey_testkit::{Answer, PASSWORD, Request, TestApp, User, Value, both_stores, json};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tracing_subscriber::fmt::MakeWriter;

use crate::hostile_values::{TEXTS, VALUES};
use crate::routes::{ROUTES, Route, with_body};

/// Number of random requests.
const ROUNDS: usize = 4000;
/// Part of every secret and address in the requests. It must not appear in the log.
const MARK: &str = "m4rk3d";

both_stores! {
    async fn value_of_a_wrong_type_in_any_field_causes_no_fault(app) {
        let ada = app.user("ada").await;
        let mut turn = 0..;
        for route in with_body() {
            for field in route.fields() {
                for value in some_of(&VALUES, &mut turn) {
                    let body = json!({*field: value});
                    assert_sane(&route.request(&app, &ada).json(&body).send().await);

                    let body = filled(route, field, value.clone());
                    assert_sane(&route.request(&app, &ada).json(&body).send().await);
                }
            }
        }
        assert_still_well(&app).await;
    }

    async fn hostile_text_in_any_field_is_no_fault(app) {
        let ada = app.user("ada").await;
        let mut turn = 0..;
        for route in with_body() {
            for field in route.fields() {
                for text in some_of(&TEXTS, &mut turn) {
                    let body = filled(route, field, Value::from(text.as_str()));
                    assert_sane(&route.request(&app, &ada).json(&body).send().await);
                }
            }
        }
        assert_still_well(&app).await;
    }

    async fn hostile_text_in_any_parameter_is_no_fault(app) {
        let ada = app.user("ada").await;
        let names = ["q", "limit", "offset", "cursor", "search", "before", "token", "others", "client_type"];
        let mut turn = 0..;
        for route in ROUTES.iter() {
            for text in some_of(&TEXTS, &mut turn) {
                let request = names.iter().fold(route.request(&app, &ada), |ask, name| ask.query(name, text));
                assert_sane(&request.send().await);
                let encoded = encoded(text);
                let path = route.path.replace("{id}", &encoded).replace("{userId}", &encoded);
                assert_sane(&route.request_to(&path, &app, &ada).send().await);
            }
        }
        assert_still_well(&app).await;
    }

    async fn search_takes_every_text_as_plain_characters(app) {
        app.user("quux").await; // none of the texts, folded, begins like this
        for text in TEXTS.iter() {
            let answer = app.anon().search(text).send().await;

            assert!(matches!(answer.status, 200 | 400 | 414), "{text:?}: {answer:?}");
            if answer.status == 200 {
                assert_eq!(answer.expect(200), json!([]), "{text:?}");
            }
        }
        assert_eq!(app.anon().search("Quux").send().await.number("x-total-count"), 1);
    }

    async fn hostile_headers_are_no_fault(app) {
        let ada = app.user("ada").await;
        let names = [
            "authorization",
            "x-api-key",
            "cookie",
            "x-csrf-token",
            "origin",
            "sec-fetch-site",
            "if-match",
            "x-forwarded-for",
            "user-agent",
            "host",
            "content-type",
            "content-encoding",
            "accept",
            "range",
        ];
        let (values, mut turn) = (header_values(), 0..);
        for route in ROUTES.iter() {
            for name in names {
                for value in some_of(&values, &mut turn) {
                    let request = route.request(&app, &ada).and_header(name, value);
                    assert_sane(&request.send().await);
                }
            }
        }
        assert_still_well(&app).await;
    }

    async fn thousands_of_random_requests_cause_no_fault_and_do_not_leak_into_the_log(app) {
        let log = whole_log();
        let ada = app.user("ada").await;
        let mut random = StdRng::seed_from_u64(7);

        for _ in 0..ROUNDS {
            assert_sane(&random_request(&app, &ada, &mut random).send().await);
            app.clock.advance(latchkey_testkit::seconds(1));
        }

        let text = log.text();
        assert!(text.matches("answered").count() >= ROUNDS, "the log was not seen");
        let secrets = [
            MARK,
            PASSWORD,
            &ada.session.access_token,
            ada.session.refresh_secret(),
            "@example",
            "client_type",
        ];
        for secret in secrets {
            let line = text.lines().find(|line| line.contains(secret));
            assert_eq!(line, None, "{secret} stands in the log");
        }
        assert_still_well(&app).await;
    }
}

/// Asserts a status below 500 and the documented form of the response.
#[track_caller]
fn assert_sane(answer: &Answer) {
    answer.assert_secure();
    assert!(answer.status < 500, "a fault: {answer:?}");
    let is_page = answer.header("content-type").is_some_and(|kind| kind.starts_with("text/html"));
    if answer.status >= 400 && !is_page && !answer.body.is_empty() {
        answer.refused(answer.status, &answer.error_code());
    }
}

/// Asserts that a new user can sign up, edit the profile and be found.
async fn assert_still_well(app: &TestApp) {
    // Some hostile requests had the admin key and may have changed settings that a sign-up needs.
    let config = json!({
        "disableSignup": false,
        "requireEmailVerification": false,
        "requireUppercase": false,
        "requireNumber": false,
        "requireSpecialChar": false,
    });
    app.admin().put("/api/auth/config", config).send().await.expect(200);
    let eve = app.user("survivor").await;
    eve.patch("/api/profiles/me", json!({"bio": "unharmed"})).send().await.expect(200);
    assert_eq!(app.anon().search("unharmed").send().await.number("x-total-count"), 1);
    app.run_jobs().await;
}

/// Valid body except for one field.
fn filled(route: &Route, field: &str, value: Value) -> Value {
    let good = |name: &str| match name {
        "email" => json!("somebody@example.org"),
        "password" | "newPassword" | "currentPassword" => json!("quiet meadow 77 harbour"),
        "otp" | "code" => json!("000000"),
        "userIds" => json!([]),
        _ => Value::Null,
    };
    let mut body: serde_json::Map<_, _> = route
        .fields()
        .iter()
        .map(|name| ((*name).to_owned(), good(name)))
        .filter(|(_, value)| !value.is_null())
        .collect();
    body.insert(field.to_owned(), value);
    Value::Object(body)
}

/// Every fourth of the values, starting at another one each time, because all combinations would take minutes.
fn some_of<'a, T>(all: &'a [T], turn: &mut RangeFrom<usize>) -> impl Iterator<Item = &'a T> + use<'a, T> {
    all.iter().skip(turn.next().unwrap_or_default() % 4).step_by(4)
}

/// Beginning of a text with every byte escaped.
fn encoded(text: &str) -> String {
    let escapes: Vec<_> = text.bytes().take(900).map(|byte| format!("%{byte:02x}")).collect();
    escapes.concat()
}

/// Hostile texts that HTTP allows in a header value.
fn header_values() -> Vec<String> {
    let long =
        ["a".repeat(9000), ";".repeat(5000), "latchkey_refresh_8700=".repeat(300), "Bearer ".repeat(500)];
    let short = [
        "",
        " ",
        "null",
        "*",
        "W/\"\"",
        "\"",
        "\"\", \"\"",
        "Bearer",
        "Bearer ..",
        "Bearer eyJhbGciOiJub25lIn0.e30.",
        "Basic YTpi",
        "=;=;=",
        "latchkey_refresh_8700=",
        "latchkey_refresh_8700=%00; latchkey_refresh_8700=x",
        "application/json;;;=",
        "::1",
        "999.999.999.999",
        "127.0.0.1, , unknown, [::1]:80",
        "bytes=0-",
        "é",
        "\t",
        "' OR 1=1--",
        "%s%n",
        "{{7*7}}",
        "${jndi:ldap://x}",
        "a\tb",
        "https://evil.example",
        "cross-site",
    ];
    long.into_iter().chain(short.into_iter().map(str::to_owned)).collect()
}

/// Random request: a route, sometimes with another method, with random fields and parameters.
fn random_request(app: &TestApp, ada: &User, random: &mut StdRng) -> Request {
    let route = &ROUTES[random.random_range(0..ROUTES.len())];
    let path = match random.random_range(0..4) {
        0 => route.path.replace("{id}", &ada.id).replace("{userId}", &ada.id),
        1 => route.path.replace("{id}", MARK).replace("{userId}", MARK),
        _ => route.path_of_an_unknown_id(),
    };
    let mut request = match random.random_range(0..10) {
        0 => app.anon().request(["PUT", "POST", "PATCH", "DELETE"][random.random_range(0..4)], &path),
        1 => app.bearing(MARK).request(route.method, &path),
        _ => route.request_to(&path, app, ada),
    };
    for _ in 0..random.random_range(0..3) {
        let name = ["q", "limit", "offset", "token", "client_type", "search"][random.random_range(0..6)];
        request = request
            .query(name, &format!("{MARK}{}", pick(&TEXTS, random).chars().take(80).collect::<String>()));
    }
    request = request.header("cookie", &format!("latchkey_refresh_8700={MARK}")).header("x-csrf-token", MARK);
    if random.random_range(0..5) == 0 {
        return request.raw("application/json", random_bytes(random));
    }
    request.json(&random_body(route, random))
}

fn random_body(route: &Route, random: &mut StdRng) -> Value {
    let mut body = serde_json::Map::new();
    for field in route.fields() {
        let value = match random.random_range(0..6) {
            0 => pick(&VALUES, random).clone(),
            1 => Value::from(format!("{MARK}{}", pick(&TEXTS, random))),
            2 => Value::from(format!("{MARK}-{}@example.org", random.random_range(0..50))),
            3 => Value::from(random.random_range(0..1_000_000).to_string()),
            4 => json!({MARK: {MARK: [MARK, random.random_range(0..9)]}}),
            _ => continue,
        };
        body.insert((*field).to_owned(), value);
    }
    // Changes that would lock everyone out are replaced by harmless ones; other tests cover them.
    for (name, harmless) in [("disableSignup", json!(false)), ("passwordMinLength", json!(8))] {
        body.entry(name).and_modify(|value| *value = harmless);
    }
    Value::Object(body)
}

/// JSON with a few changed bytes.
fn random_bytes(random: &mut StdRng) -> Vec<u8> {
    let mut bytes =
        format!(r#"{{"email":"{MARK}@example.org","password":"{MARK}","x":[1,{{"y":null}}]}}"#).into_bytes();
    for _ in 0..random.random_range(1..5) {
        let at = random.random_range(0..bytes.len());
        bytes[at] = random.random();
    }
    bytes
}

fn pick<'a, T>(all: &'a [T], random: &mut StdRng) -> &'a T {
    &all[random.random_range(0..all.len())]
}

/// Captures all log lines of the process from here on. They include those of other tests, which must not leak either. A
/// log per thread would miss events, because callsites cache their level per process.
fn whole_log() -> Log {
    static LOG: OnceLock<Log> = OnceLock::new();
    let log = LOG.get_or_init(|| {
        let log = Log::default();
        let subscriber =
            tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(log.clone());
        tracing::subscriber::set_global_default(subscriber.finish()).expect("the only log of the process");
        log
    });
    log.clone()
}

/// In-memory log.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}
