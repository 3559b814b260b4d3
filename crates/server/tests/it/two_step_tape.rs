//! Comparison of responses with those that were recorded before there were second factors, in `two_step_unchanged.txt`.
//! Ids, tokens, mailed codes and ports are replaced in both.

use latchkey_testkit::record::stable;
use latchkey_testkit::{Answer, Request, TestApp, Value, seconds};

use crate::routes::{ROUTES, Route};
use crate::two_step_calls::claims;

const RECORDED: &str = include_str!("two_step_unchanged.txt");
/// Begin of the paths of calls that are newer than the recording.
const NEWER: [&str; 28] = [
    "/.well-known/webauthn",
    "/api/auth/account",
    "/api/auth/anonymous",
    "/api/auth/audit/export",
    "/api/auth/challenges/",
    "/api/auth/email/change",
    "/api/auth/email/send-otp",
    "/api/auth/email/sign-in-link",
    "/api/auth/events",
    "/api/auth/export",
    "/api/auth/factors/",
    "/api/auth/import",
    "/api/auth/invitation",
    "/api/auth/mails",
    "/api/auth/passkeys",
    "/api/auth/reauthenticate",
    "/api/auth/stats",
    "/api/auth/undo",
    "/api/auth/users/{id}/factors",
    "/api/auth/users/{id}/identities",
    "/api/auth/users/{id}/limits",
    "/api/auth/users/{id}/mails",
    "/api/auth/users/{id}/passkeys",
    "/api/auth/users/{id}/password",
    "/api/auth/users/{id}/send-",
    "/api/auth/users/{id}/sessions/{sessionId}",
    "/api/auth/users/{id}/sign-ins",
    "/api/auth/users/{id}/sign-in-state",
];
/// Headers that the recording leaves out.
const USUAL: [(&str, &str); 7] = [
    ("cache-control", "no-store"),
    ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
    ("content-type", "application/json; charset=utf-8"),
    ("referrer-policy", "no-referrer"),
    ("vary", "Origin"),
    ("x-content-type-options", "nosniff"),
    ("x-request-id", "<id>"),
];
/// Responses that have gained keys.
const GAINING: [&str; 3] = ["GET /api/auth/public-config", "GET /api/auth/config", "PUT /api/auth/config"];
/// Response that describes the calls, and so has gained theirs.
const DOCUMENT: &str = "GET /openapi.json";

/// Calls of the service that are as old as the recording.
pub(crate) fn recorded_routes() -> impl Iterator<Item = &'static Route> {
    let is_newer = |route: &&Route| {
        NEWER.iter().any(|begin| route.path.starts_with(begin))
            || ["PATCH /api/auth/sessions/{id}", "GET /api/auth/users/{id}/sessions"]
                .contains(&name_of(route).as_str())
    };
    ROUTES.iter().filter(|route| route.is_of_the_document()).filter(move |route| !is_newer(route))
}

pub(crate) fn name_of(route: &Route) -> String {
    format!("{} {}", route.method, route.path)
}

/// True if the recording has a response of this call with a status below 400.
pub(crate) fn has_success(call: &str) -> bool {
    let begin = format!("\n## {call}\n");
    let statuses = RECORDED.match_indices(&begin).map(|(at, begin)| &RECORDED[at + begin.len()..]);
    statuses.map(|rest| rest.as_bytes()[0]).any(|first| matches!(first, b'2' | b'3'))
}

/// Responses of one test, in order.
pub(crate) struct Tape<'a> {
    app: &'a TestApp,
    /// Responses of the same test in the recording: the call and what follows it.
    recorded: Vec<(&'static str, &'static str)>,
    taken: usize,
}

impl<'a> Tape<'a> {
    /// Tape of the test with this name.
    pub(crate) fn new(app: &'a TestApp, name: &str) -> Self {
        let of_test = RECORDED.split("\n# ").find_map(|test| test.strip_prefix(name)?.strip_prefix('\n'));
        let entries = of_test.unwrap_or_default().split("\n## ").skip(1);
        let recorded = entries.map(|entry| entry.split_once('\n').unwrap()).collect();
        Self { app, recorded, taken: 0 }
    }

    /// Sends a request a second after the one before, and compares its response with the next one of the recording.
    pub(crate) async fn take(&mut self, call: &str, request: Request) -> Answer {
        self.app.clock.advance(seconds(1));
        let answer = request.send().await;
        let (recorded_call, recorded) = self.recorded.get(self.taken).copied().unwrap_or_default();
        self.taken += 1;
        let recorded = recorded.trim_end();
        assert_eq!(call, recorded_call, "the recording has another call here: {recorded}");
        let told = told(call, &answer, recorded);
        assert_eq!(told, recorded, "{call} is answered otherwise than before: {answer:?}");
        answer
    }

    /// Asserts that the recording has no further response.
    pub(crate) fn end(self) {
        assert_eq!(self.taken, self.recorded.len(), "the recording has more");
    }
}

/// Status, unusual headers, missing usual ones, body, and the claims of the access token. The body of a page for people
/// is left out.
fn told(call: &str, answer: &Answer, recorded: &str) -> String {
    let is_page = answer.header("content-type").is_some_and(|kind| kind.starts_with("text/html"));
    let is_told = |name: &str| match name {
        "content-length" | "date" => false,
        "etag" => call != DOCUMENT,
        "content-security-policy" => !is_page, // has the hash of the page's style
        _ => true,
    };
    let headers = answer.headers.iter().filter(|(name, _)| is_told(name.as_str()));
    let headers = headers.map(|(name, value)| (name.as_str(), stable(value.as_bytes())));
    let unusual = headers.filter(|(name, value)| !USUAL.contains(&(name, value)));
    let mut told: Vec<_> = unusual.map(|(name, value)| format!("{name}: {value}")).collect();
    told.sort_unstable();
    told.insert(0, answer.status.to_string());
    let missing = USUAL.iter().filter(|(name, _)| answer.header(name).is_none());
    told.extend(missing.map(|(name, _)| format!("-{name}")));
    if call != DOCUMENT && !is_page {
        told.push(body_of(call, answer, recorded));
    }
    if let Some(token) = json_of(answer)["accessToken"].as_str() {
        told.push(format!("claims {}", stable(claims(token).to_string().as_bytes())));
    }
    told.join("\n").trim_end().to_owned()
}

fn body_of(call: &str, answer: &Answer, recorded: &str) -> String {
    let mut body = json_of(answer);
    if GAINING.contains(&call)
        && let Some(keys) = body.as_object_mut()
    {
        let recorded: Value =
            recorded.lines().last().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
        keys.retain(|key, _| recorded.get(key).is_some());
        return stable(body.to_string().as_bytes());
    }
    if call == "GET /api/auth/audit" && answer.status == 200 {
        for event in
            body["data"].as_array_mut().unwrap().iter_mut().filter(|event| event["event"] == "sign_in")
        {
            event["details"].as_object_mut().unwrap().remove("amr"); // added by the contract of second factors
        }
        return stable(body.to_string().as_bytes());
    }
    stable(&answer.body).trim().to_owned()
}

fn json_of(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body).unwrap_or_default()
}
