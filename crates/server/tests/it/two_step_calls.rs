//! Helpers for the calls of two-step sign-in, shared by several test files.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use latchkey_testkit::{Answer, Client, Session, TestApp, TwoStepUser, Value, challenge_id, seconds};

/// Claims of an access token.
pub(crate) fn claims(token: &str) -> Value {
    let claims = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap()
}

/// Keys of a JSON object, sorted.
pub(crate) fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Body of GET /api/auth/account.
pub(crate) async fn account(client: &Client) -> Value {
    client.get("/api/auth/account").send().await.expect(200)
}

/// Number of the live sessions of the caller.
pub(crate) async fn session_count(client: &Client) -> usize {
    let body = client.get("/api/auth/sessions").send().await.expect(200);
    body["sessions"].as_array().unwrap().len()
}

/// Signs in with the current code of the app from the user's address, and waits for the next code.
pub(crate) async fn signed_in(app: &TestApp, user: &TwoStepUser) -> Session {
    let challenge = user.challenged().await;
    let answer = user.answer(&challenge, "totp", &user.authenticator.code());
    let session = Session::of(&answer.without_header("authorization").send().await);
    app.clock.advance(seconds(30));
    session
}

/// Signs in by password from another address, up to the challenge.
pub(crate) async fn challenged_from(app: &TestApp, user: &TwoStepUser, ip: &str) -> String {
    challenge_id(&app.anon().sign_in(&user.email, &user.password).from_ip(ip).send().await)
}

/// Steps up by the current code of the app, and waits for the next code; the new access token.
pub(crate) async fn stepped_up(app: &TestApp, user: &TwoStepUser, client: &Client) -> String {
    let challenge = challenge_id(&client.reauthenticate().send().await);
    let body = client.answer(&challenge, "totp", &user.authenticator.code()).send().await.expect(200);
    app.clock.advance(seconds(30));
    body["accessToken"].as_str().unwrap().to_owned()
}

/// Answers a challenge wrongly this many times.
pub(crate) async fn fail(client: &Client, user: &TwoStepUser, challenge: &str, times: usize) {
    for number in 0..times {
        wrong(client, user, challenge, number).await.refused(401, "INVALID_SECOND_FACTOR");
    }
}

/// Answers a challenge with a wrong code.
pub(crate) async fn wrong(client: &Client, user: &TwoStepUser, challenge: &str, number: usize) -> Answer {
    client.answer(challenge, "totp", &user.authenticator.wrong_code(number)).send().await
}

/// Turns a setting of the operator for second factors: `off`, `optional` or `required`.
pub(crate) async fn set_policy(app: &TestApp, policy: &str) {
    let body = latchkey_testkit::json!({"secondFactor": policy});
    app.admin().put("/api/auth/config", body).send().await.expect(200);
}
