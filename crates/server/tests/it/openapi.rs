//! Tests that `/openapi.json` matches the service: its routes, and the status codes, bodies and headers of real
//! responses.

use std::collections::BTreeSet;

use latchkey_testkit::{Client, PASSWORD, Request, TestApp, User, Value, both_stores, json};

use crate::described::{assert_described, assert_success_is_described, operation};
use crate::routes::{NOBODY, ROUTES, Route, Takes, Who, plain_reads, with_body};
use crate::schema::resolve;

both_stores! {
    async fn document_has_every_route_and_no_other(app) {
        let document = app.anon().get("/openapi.json").send().await.expect(200);

        let described: BTreeSet<_> = operations(&document).collect();
        let is_for_people = |route: &&Route| !route.is_of_the_document();
        let served = ROUTES.iter().filter(|route| !is_for_people(route));
        let served: BTreeSet<_> = served.map(|route| format!("{} {}", route.method, route.path)).collect();
        assert_eq!(described, served);
    }

    async fn every_endpoint_of_the_list_is_served(app) {
        let ada = app.user("ada").await;
        for route in ROUTES.iter().filter(|route| route.is_of_the_document()) {
            let answer = route.request(&app, &ada).send().await;

            let is_routed = answer.status != 405 && !answer.text().contains("There is nothing at this path.");
            assert!(is_routed, "{} {}: {answer:?}", route.method, route.path);
        }
    }

    async fn document_is_the_same_in_production(app) {
        let here = app.anon().get("/openapi.json").send().await;
        let production = latchkey_testkit::TestApp::builder().mode_production().start().await;

        let there = production.anon().get("/openapi.json").send().await;

        assert_eq!(here.body, there.body);
        assert_eq!(here.expect(200)["openapi"].as_str().map(|version| &version[..4]), Some("3.1."));
    }

    async fn request_of_every_described_field_is_a_real_field(app) {
        let document = app.anon().get("/openapi.json").send().await.expect(200);
        for route in with_body().filter(|route| matches!(route.takes, Takes::Json(_))) {
            let described = described_fields(&document, route);

            let known: BTreeSet<_> = route.fields().iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(described, known, "{} {}", route.method, route.path);
        }
    }

    async fn successful_responses_match_the_document(app) {
        let document = app.anon().get("/openapi.json").send().await.expect(200);
        let ada = app.user("ada").await;
        for route in plain_reads(&document) {
            let operation = format!("GET {}", route.path);
            assert_success_is_described(&document, &operation, route.request(&app, &ada)).await;
        }
        for (operation, request) in good_requests(&app, &ada).await {
            assert_success_is_described(&document, operation, request).await;
        }
    }

    async fn refusals_match_the_document(app) {
        let document = app.anon().get("/openapi.json").send().await.expect(200);
        let ada = app.user("ada").await;
        for route in ROUTES.iter().filter(|route| route.is_of_the_document()) {
            let name = format!("{} {}", route.method, route.path);
            let path = route.path_of_an_unknown_id();
            let broken = |body: &str| route.request(&app, &ada).raw("application/json", body.to_owned());
            let refusals = [
                app.anon().request(route.method, &path).send().await,
                app.bearing("anon_nothing").request(route.method, &path).send().await,
                ada.request(route.method, &path).send().await,
                route
                    .request(&app, &ada)
                    .query("limit", "x")
                    .query("others", "x")
                    .query("before", "x")
                    .send()
                    .await,
                broken("{").send().await,
                broken(&format!("\"{}\"", "a".repeat(300_000))).send().await,
                broken("{}").header("content-type", "text/plain").send().await,
                route.request(&app, &ada).header("x-large", &"a".repeat(40_000)).send().await,
                route.request(&app, &ada).query("x", &"a".repeat(9000)).send().await,
            ];

            for answer in refusals {
                assert_described(&document, &name, &answer);
            }
        }
    }

    async fn described_protection_is_real(app) {
        let document = app.anon().get("/openapi.json").send().await.expect(200);
        for route in ROUTES.iter().filter(|route| route.is_of_the_document()) {
            let security =
                operation(&document, &format!("{} {}", route.method, route.path))["security"].to_string();

            let answer = app.anon().request(route.method, &route.path_of_an_unknown_id()).send().await;

            assert_eq!(security.contains("{}"), route.who == Who::Anybody, "{}: {security}", route.path);
            match route.who {
                Who::Anybody => assert_ne!(answer.error_code(), "ADMIN_UNAUTHORIZED", "{answer:?}"),
                Who::User => drop(answer.refused(401, "AUTH_UNAUTHORIZED")),
                Who::Admin => drop(answer.refused(401, "ADMIN_UNAUTHORIZED")),
            }
        }
    }
}

/// Method and path of every operation in the document, such as `GET /health/live`.
fn operations(document: &Value) -> impl Iterator<Item = String> {
    let paths = document["paths"].as_object().unwrap();
    paths.iter().flat_map(|(path, item)| {
        item.as_object().unwrap().keys().map(move |method| format!("{} {path}", method.to_uppercase()))
    })
}

/// Names of all fields that the schema of a route's request body describes.
fn described_fields(document: &Value, route: &Route) -> BTreeSet<String> {
    let operation = operation(document, &format!("{} {}", route.method, route.path));
    let mut fields = BTreeSet::new();
    let mut open = vec![&operation["requestBody"]["content"]["application/json"]["schema"]];
    while let Some(schema) = open.pop() {
        let schema = resolve(document, schema);
        fields.extend(schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()));
        open.extend(
            ["allOf", "anyOf", "oneOf"]
                .iter()
                .flat_map(|word| schema[*word].as_array().into_iter().flatten()),
        );
    }
    fields
}

/// Successful requests besides [`plain_reads`], in an order that works. Those of other capabilities are in the files of their tests, with
/// [`crate::described::assert_successes_are_described`].
async fn good_requests(app: &TestApp, ada: &User) -> Vec<(&'static str, Request)> {
    let bob = app.user("bob").await;
    let mut requests = requests_of_anybody(&app.anon(), ada);
    requests.extend(requests_about_sessions(app, &bob).await);
    requests.extend(requests_of_an_owner(ada));
    requests.extend(requests_of_an_admin(&app.admin(), &bob.id));
    requests.push(("POST /api/auth/logout", app.anon().sign_out(&ada.session)));
    requests
}

fn requests_of_anybody(anon: &Client, ada: &User) -> Vec<(&'static str, Request)> {
    let mail = |email: &str| json!({"email": email});
    let (verification, reset) = ("/api/auth/email/send-verification", "/api/auth/email/send-reset-password");
    vec![
        ("POST /api/auth/users", anon.sign_up("eve@example.org", PASSWORD)),
        ("POST /api/auth/users", anon.sign_up("mallory@example.org", PASSWORD).client_type("server")),
        ("POST /api/auth/sessions", anon.sign_in(&ada.email, PASSWORD)),
        ("POST /api/auth/sessions", anon.sign_in(&ada.email, PASSWORD).client_type("mobile")),
        ("GET /api/profiles/search", anon.search("a")),
        ("GET /api/profiles/{userId}", anon.get(&format!("/api/profiles/{}", ada.id))),
        ("GET /api/auth/profiles/{userId}", anon.get(&format!("/api/auth/profiles/{}", ada.id))),
        ("POST /api/auth/email/send-verification", anon.post(verification, mail(&ada.email))),
        ("POST /api/auth/email/send-reset-password", anon.post(reset, mail("nobody@example.org"))),
    ]
}

async fn requests_about_sessions(app: &TestApp, bob: &User) -> Vec<(&'static str, Request)> {
    let other = bob.sign_in_again().await;
    let listed = bob.get("/api/auth/sessions").send().await.expect(200);
    let is_other = |session: &&Value| session["current"] == false;
    let id = listed["sessions"].as_array().unwrap().iter().find(is_other).unwrap()["id"].as_str().unwrap();
    vec![
        ("POST /api/auth/refresh", app.anon().refresh(&other)),
        ("DELETE /api/auth/sessions/{id}", bob.delete(&format!("/api/auth/sessions/{id}"))),
        ("DELETE /api/auth/sessions", bob.delete("/api/auth/sessions?others=true")),
    ]
}

fn requests_of_an_owner(ada: &User) -> Vec<(&'static str, Request)> {
    let profile = json!({"name": "Ada", "username": "ada", "avatar_url": "https://a.example/a", "bio": "b"});
    let mut own = profile.clone();
    own["metadata"] = json!({"theme": {"dark": [1, null]}});
    let mut flat = profile;
    flat["colour"] = json!({"nested": [true]});
    let passwords = json!({"currentPassword": PASSWORD, "newPassword": "quiet meadow 77 harbour"});
    vec![
        ("PATCH /api/profiles/me", ada.patch("/api/profiles/me", own)),
        ("PATCH /api/auth/profiles/current", ada.patch("/api/auth/profiles/current", flat)),
        ("POST /api/auth/password", ada.post("/api/auth/password", passwords)),
    ]
}

fn requests_of_an_admin(admin: &Client, id: &str) -> Vec<(&'static str, Request)> {
    let user = |rest: &str| format!("/api/auth/users/{id}{rest}");
    let change = json!({"banned": false, "metadata": {"plan": 1}});
    vec![
        ("POST /api/auth/users", admin.sign_up("trent@example.org", PASSWORD)),
        ("GET /api/auth/users/{id}", admin.get(&user(""))),
        ("PATCH /api/auth/users/{id}", admin.patch(&user(""), change)),
        ("DELETE /api/auth/users/{id}/sessions", admin.delete(&user("/sessions"))),
        ("DELETE /api/auth/users/{id}/profile", admin.delete(&user("/profile"))),
        ("DELETE /api/auth/users", admin.delete("/api/auth/users").json(&json!({"userIds": [id, NOBODY]}))),
        ("PUT /api/auth/config", admin.put("/api/auth/config", json!({"passwordMinLength": 9}))),
    ]
}
