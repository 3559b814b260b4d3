//! Helpers for the calls of passkeys, shared by several test files.

use latchkey_testkit::{Answer, Client, Passkey, Request, Session, TestApp, TestAppBuilder, Value, json};

use crate::two_step_calls::claims;

/// List of the caller's passkeys.
pub(crate) async fn passkeys(client: &Client) -> Value {
    client.get("/api/auth/passkeys").send().await.expect(200)
}

/// Number of the caller's passkeys.
pub(crate) async fn passkey_count(client: &Client) -> usize {
    passkeys(client).await["passkeys"].as_array().unwrap().len()
}

/// Signs in by passkey.
pub(crate) async fn sign_in(client: &Client, passkey: &mut Passkey) -> Answer {
    client.sign_in_by_passkey(passkey).await.send().await
}

/// Session opened by a passkey.
pub(crate) async fn session(client: &Client, passkey: &mut Passkey) -> Session {
    Session::of(&sign_in(client, passkey).await)
}

/// Removes a passkey of the caller.
pub(crate) fn remove(client: &Client, id: &str) -> Request {
    client.delete(&format!("/api/auth/passkeys/{id}"))
}

/// Switches the setting `passkeys.enabled`.
pub(crate) async fn enable(app: &TestApp, is_enabled: bool) {
    app.admin().put("/api/auth/config", json!({"passkeys": is_enabled})).send().await.expect(200);
}

/// Providers of the caller, as the user shows them.
pub(crate) async fn providers(client: &Client) -> Value {
    client.get("/api/auth/sessions/current").send().await.expect(200)["user"]["providers"].clone()
}

/// Authentication methods of an access token, sorted, and its level.
pub(crate) fn shown(session: &Session) -> (Vec<String>, Value) {
    let claims = claims(&session.access_token);
    let methods = claims["amr"].as_array().unwrap().iter().map(|method| method.as_str().unwrap().to_owned());
    let mut methods: Vec<_> = methods.collect();
    methods.sort();
    (methods, claims["aal"].clone())
}

/// Passkeys of an account without a password: only its identity of a provider and its passkeys let its owner in.
pub(crate) fn required(builder: TestAppBuilder) -> TestAppBuilder {
    use latchkey_domain::challenge::SecondFactorPolicy::Required;
    builder.verification_by_code().settings(|settings| settings.second_factor = Required)
}

/// Session of a user of the provider `acme`, who has neither a password nor a verified address.
pub(crate) async fn passwordless(app: &TestApp) -> Session {
    let acme = crate::oauth_calls::acme(app).await;
    acme.person(
        json!({"sub": "ada at home", "email": "ada@example.org", "email_verified": false, "name": "Ada"}),
    );
    crate::oauth_calls::session(app, &acme, "acme").await
}
