//! The calls of a sign-in through a provider, for the files that test them. Facts live there.

use latchkey_testkit::answer::parameter;
use latchkey_testkit::{Answer, Client, LyingProvider, Request, Session, TestApp, Value, json};
use url::Url;

/// The app's page that browsers come back to. While the list is empty, development allows it.
pub(crate) const APP: &str = "http://localhost:3000/welcome?from=acme#top";
/// The verifier of RFC 7636 appendix B.
pub(crate) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
/// Its challenge.
pub(crate) const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
/// Another verifier, of another challenge.
pub(crate) const OTHER_VERIFIER: &str = "another-verifier-that-has-43-characters-too";

/// A provider that the service knows under the key `acme`.
pub(crate) async fn acme(app: &TestApp) -> LyingProvider {
    provider(app, "acme").await
}

/// A provider that the service knows under this key.
pub(crate) async fn provider(app: &TestApp, key: &str) -> LyingProvider {
    let provider = LyingProvider::start(&app.clock).await;
    configure(app, &provider.custom(key)).await;
    provider
}

/// Configures a custom provider.
pub(crate) async fn configure(app: &TestApp, body: &Value) {
    app.admin().post("/api/auth/oauth/custom/configs", body.clone()).send().await.expect(200);
}

/// signInWithOAuth, for a custom provider.
pub(crate) fn start(client: &Client, key: &str) -> Request {
    client
        .get(&format!("/api/auth/oauth/custom/{key}"))
        .query("redirect_uri", APP)
        .query("code_challenge", CHALLENGE)
}

/// Where it sends the browser.
pub(crate) async fn auth_url(client: &Client, key: &str) -> String {
    auth_url_of(&start(client, key).send().await)
}

/// The same of its answer.
#[track_caller]
pub(crate) fn auth_url_of(answer: &Answer) -> String {
    let body = answer.expect(200);
    assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
    body["authUrl"].as_str().unwrap().to_owned()
}

/// The browser opens the callback that the provider sends it to: where it is sent on to.
pub(crate) async fn come_back(client: &Client, callback: &Url) -> Url {
    client.get(callback.as_str()).send().await.redirected()
}

/// The exchange code of a target; fails on one with an error.
#[track_caller]
pub(crate) fn code_of(target: &Url) -> String {
    assert_eq!(parameter(target, "error"), None, "{target}");
    parameter(target, "service_code").unwrap_or_else(|| panic!("no code: {target}"))
}

/// The error of a target, which must be the app's page with nothing else of ours in it.
#[track_caller]
pub(crate) fn error_of(target: &Url) -> String {
    assert!(target.as_str().starts_with("http://localhost:3000/welcome?from=acme&"), "{target}");
    assert_eq!(target.fragment(), Some("top"), "{target}");
    assert_eq!(parameter(target, "service_code"), None, "{target}");
    let error = parameter(target, "error").unwrap_or_else(|| panic!("no error: {target}"));
    assert!(error.contains(' ') && !error.contains(['<', '{', '/']), "not for people: {error}");
    error
}

/// The exchange.
pub(crate) fn exchange(client: &Client, code: &str, verifier: &str) -> Request {
    client.post("/api/auth/oauth/exchange", json!({"code": code, "code_verifier": verifier}))
}

/// The person consents at the provider: the exchange code that the app gets.
pub(crate) async fn code(app: &TestApp, provider: &LyingProvider, key: &str) -> String {
    code_of(&consent(app, provider, key).await)
}

/// The person consents at the provider: where the browser ends.
pub(crate) async fn consent(app: &TestApp, provider: &LyingProvider, key: &str) -> Url {
    let auth_url = auth_url(&app.anon(), key).await;
    come_back(&app.anon(), &provider.consent(&auth_url)).await
}

/// The whole way to a session.
pub(crate) async fn sign_in(app: &TestApp, provider: &LyingProvider, key: &str) -> Answer {
    let code = code(app, provider, key).await;
    exchange(&app.anon(), &code, VERIFIER).send().await
}

/// The same, to the tokens.
pub(crate) async fn session(app: &TestApp, provider: &LyingProvider, key: &str) -> Session {
    Session::of(&sign_in(app, provider, key).await)
}

/// The body that an app's link begins with.
pub(crate) fn link(client: &Client, key: &str) -> Request {
    let body = json!({"redirect_uri": APP, "code_challenge": CHALLENGE});
    client.post(&format!("/api/auth/identities/{key}/link"), body)
}

/// A signed-in caller begins to link, the person consents: the exchange code that the app gets.
pub(crate) async fn link_code(client: &Client, provider: &LyingProvider, key: &str) -> String {
    let auth_url = auth_url_of(&link(client, key).send().await);
    code_of(&come_back(client, &provider.consent(&auth_url)).await)
}

/// The providers of one's own identities, in the order of the answer.
pub(crate) async fn identities(client: &Client) -> Vec<String> {
    let body = client.get("/api/auth/identities").send().await.expect(200);
    let identities = body["identities"].as_array().unwrap().iter();
    identities.map(|identity| identity["provider"].as_str().unwrap().to_owned()).collect()
}

/// Somebody's claims, verified.
pub(crate) fn person(sub: &str, email: &str) -> Value {
    json!({"sub": sub, "email": email, "email_verified": true, "name": "Somebody", "picture": null})
}

/// How many users there are.
pub(crate) async fn user_count(app: &TestApp) -> u64 {
    let users = app.admin().get("/api/auth/users").send().await.expect(200);
    users["pagination"]["total"].as_u64().unwrap()
}
