//! Helpers for sign-ins through a provider, shared by several test files.

use latchkey_testkit::answer::parameter;
use latchkey_testkit::{Answer, Client, LyingProvider, Request, Session, TestApp, Value, json};
use url::Url;

/// Page of the app to return to. Development mode allows it while the redirect list is empty.
pub(crate) const APP: &str = "http://localhost:3000/welcome?from=acme#top";
/// PKCE verifier of RFC 7636 appendix B.
pub(crate) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
/// PKCE challenge of [`VERIFIER`].
pub(crate) const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
/// PKCE verifier that does not match [`CHALLENGE`].
pub(crate) const OTHER_VERIFIER: &str = "another-verifier-that-has-43-characters-too";

/// Provider configured under the key `acme`.
pub(crate) async fn acme(app: &TestApp) -> LyingProvider {
    provider(app, "acme").await
}

/// Provider configured under this key.
pub(crate) async fn provider(app: &TestApp, key: &str) -> LyingProvider {
    let provider = LyingProvider::start(&app.clock).await;
    configure(app, &provider.custom(key)).await;
    provider
}

/// Configures a custom provider.
pub(crate) async fn configure(app: &TestApp, body: &Value) {
    app.admin().post("/api/auth/oauth/custom/configs", body.clone()).send().await.expect(200);
}

/// signInWithOAuth with a custom provider.
pub(crate) fn start(client: &Client, key: &str) -> Request {
    client
        .get(&format!("/api/auth/oauth/custom/{key}"))
        .query("redirect_uri", APP)
        .query("code_challenge", CHALLENGE)
}

/// Starts a sign-in, and returns the authorization URL.
pub(crate) async fn auth_url(client: &Client, key: &str) -> String {
    auth_url_of(&start(client, key).send().await)
}

/// Authorization URL in a response.
#[track_caller]
pub(crate) fn auth_url_of(answer: &Answer) -> String {
    let body = answer.expect(200);
    assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
    body["authUrl"].as_str().unwrap().to_owned()
}

/// Opens the provider's redirect to the callback; returns the next redirect.
pub(crate) async fn come_back(client: &Client, callback: &Url) -> Url {
    client.get(callback.as_str()).send().await.redirected()
}

/// Exchange code in a redirect; panics if the redirect has an error.
#[track_caller]
pub(crate) fn code_of(target: &Url) -> String {
    assert_eq!(parameter(target, "error"), None, "{target}");
    parameter(target, "service_code").unwrap_or_else(|| panic!("no code: {target}"))
}

/// Error in a redirect to the app's page, which must have no other parameters of the service.
#[track_caller]
pub(crate) fn error_of(target: &Url) -> String {
    assert!(target.as_str().starts_with("http://localhost:3000/welcome?from=acme&"), "{target}");
    assert_eq!(target.fragment(), Some("top"), "{target}");
    assert_eq!(parameter(target, "service_code"), None, "{target}");
    let error = parameter(target, "error").unwrap_or_else(|| panic!("no error: {target}"));
    assert!(error.contains(' ') && !error.contains(['<', '{', '/']), "not for people: {error}");
    error
}

/// Exchanges a code.
pub(crate) fn exchange(client: &Client, code: &str, verifier: &str) -> Request {
    client.post("/api/auth/oauth/exchange", json!({"code": code, "code_verifier": verifier}))
}

/// Consents at the provider; returns the exchange code.
pub(crate) async fn code(app: &TestApp, provider: &LyingProvider, key: &str) -> String {
    code_of(&consent(app, provider, key).await)
}

/// Consents at the provider; returns the final redirect.
pub(crate) async fn consent(app: &TestApp, provider: &LyingProvider, key: &str) -> Url {
    let auth_url = auth_url(&app.anon(), key).await;
    come_back(&app.anon(), &provider.consent(&auth_url)).await
}

/// Signs in through the provider, up to the exchange of the code.
pub(crate) async fn sign_in(app: &TestApp, provider: &LyingProvider, key: &str) -> Answer {
    let code = code(app, provider, key).await;
    exchange(&app.anon(), &code, VERIFIER).send().await
}

/// Signs in through the provider, and returns the tokens.
pub(crate) async fn session(app: &TestApp, provider: &LyingProvider, key: &str) -> Session {
    Session::of(&sign_in(app, provider, key).await)
}

/// Request to link an identity of this provider.
pub(crate) fn link(client: &Client, key: &str) -> Request {
    let body = json!({"redirect_uri": APP, "code_challenge": CHALLENGE});
    client.post(&format!("/api/auth/identities/{key}/link"), body)
}

/// Begins a link and consents; returns the exchange code.
pub(crate) async fn link_code(client: &Client, provider: &LyingProvider, key: &str) -> String {
    let auth_url = auth_url_of(&link(client, key).send().await);
    code_of(&come_back(client, &provider.consent(&auth_url)).await)
}

/// Providers of the caller's identities, in the order of the response.
pub(crate) async fn identities(client: &Client) -> Vec<String> {
    let body = client.get("/api/auth/identities").send().await.expect(200);
    let identities = body["identities"].as_array().unwrap().iter();
    identities.map(|identity| identity["provider"].as_str().unwrap().to_owned()).collect()
}

/// Claims of a user with a verified address.
pub(crate) fn person(sub: &str, email: &str) -> Value {
    json!({"sub": sub, "email": email, "email_verified": true, "name": "Somebody", "picture": null})
}

/// Number of users.
pub(crate) async fn user_count(app: &TestApp) -> u64 {
    let users = app.admin().get("/api/auth/users").send().await.expect(200);
    users["pagination"]["total"].as_u64().unwrap()
}
