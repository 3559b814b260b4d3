//! Helpers for the calls of the email flows, shared by several test files.

use latchkey_testkit::{Client, Request, TestApp, json};

/// Redirect target.
pub(crate) const TARGET: &str = "https://app.example/done";
/// Password that differs from the default one of `testkit`.
pub(crate) const NEW_PASSWORD: &str = "a wholly new lantern";

/// signUp with a redirect target.
pub(crate) fn sign_up_to(client: &Client, email: &str, target: &str) -> Request {
    let body = json!({"email": email, "password": latchkey_testkit::PASSWORD, "redirectTo": target});
    client.post("/api/auth/users", body)
}

/// resendVerificationEmail.
pub(crate) fn resend(client: &Client, email: &str) -> Request {
    client.post("/api/auth/email/send-verification", json!({"email": email}))
}

/// resendVerificationEmail with a redirect target.
pub(crate) fn resend_to(client: &Client, email: &str, target: &str) -> Request {
    client.post("/api/auth/email/send-verification", json!({"email": email, "redirectTo": target}))
}

/// verifyEmail with the token of a link, without an address (older variant of the call).
pub(crate) fn verify_token(client: &Client, token: &str) -> Request {
    client.post("/api/auth/email/verify", json!({"otp": token}))
}

/// sendResetPasswordEmail.
pub(crate) fn send_reset(client: &Client, email: &str) -> Request {
    client.post("/api/auth/email/send-reset-password", json!({"email": email}))
}

/// sendResetPasswordEmail with a redirect target.
pub(crate) fn send_reset_to(client: &Client, email: &str, target: &str) -> Request {
    client.post("/api/auth/email/send-reset-password", json!({"email": email, "redirectTo": target}))
}

/// exchangeResetPasswordToken.
pub(crate) fn exchange(client: &Client, email: &str, code: &str) -> Request {
    let body = json!({"email": email, "code": code});
    client.post("/api/auth/email/exchange-reset-password-token", body)
}

pub(crate) fn reset(client: &Client, otp: &str, new_password: &str) -> Request {
    client.post("/api/auth/email/reset-password", json!({"newPassword": new_password, "otp": otp}))
}

/// signInWithOtp.
pub(crate) fn send_otp(client: &Client, email: &str) -> Request {
    client.post("/api/auth/email/send-otp", json!({"email": email}))
}

/// verifyOtp.
pub(crate) fn sign_in_by_code(client: &Client, email: &str, otp: &str) -> Request {
    client.post("/api/auth/sessions", json!({"method": "otp", "email": email, "otp": otp}))
}

/// signInWithOtp for a mail with a link to [`TARGET`], which needs the verifier `oauth_calls::VERIFIER`.
pub(crate) fn send_sign_in_link(client: &Client, email: &str) -> Request {
    let body = json!({"email": email, "redirectTo": TARGET, "code_challenge": crate::oauth_calls::CHALLENGE});
    client.post("/api/auth/email/send-otp", body)
}

/// Sign-in by the token of a link.
pub(crate) fn sign_in_by_link(client: &Client, token: &str, verifier: &str) -> Request {
    client.post("/api/auth/sessions", json!({"method": "link", "token": token, "code_verifier": verifier}))
}

/// Requests a sign-in code.
pub(crate) async fn sign_in_code(app: &TestApp, email: &str) -> String {
    send_otp(&app.anon(), email).send().await.expect(202);
    app.mail_to(email).await.code()
}

/// Requests a reset code and exchanges it.
pub(crate) async fn reset_token(app: &TestApp, email: &str) -> String {
    let code = reset_code(app, email).await;
    let body = exchange(&app.anon(), email, &code).send().await.expect(200);
    body["token"].as_str().unwrap().to_owned()
}

/// Requests a reset code.
pub(crate) async fn reset_code(app: &TestApp, email: &str) -> String {
    send_reset(&app.anon(), email).send().await.expect(202);
    app.mail_to(email).await.code()
}

/// Requests a reset link to [`TARGET`].
pub(crate) async fn reset_link(app: &TestApp, email: &str) -> String {
    send_reset_to(&app.anon(), email, TARGET).send().await.expect(202);
    app.mail_to(email).await.link()
}

/// Signs up with a link to [`TARGET`]; returns the link.
pub(crate) async fn signed_up_link(app: &TestApp, email: &str) -> String {
    sign_up_to(&app.anon(), email, TARGET).send().await.expect(200);
    app.mail_to(email).await.link()
}

/// Signs up with a code; returns it.
pub(crate) async fn signed_up_code(app: &TestApp, email: &str) -> String {
    app.anon().sign_up(email, latchkey_testkit::PASSWORD).send().await.expect(200);
    app.mail_to(email).await.code()
}

/// Id of the user with this address, from the admin API.
pub(crate) async fn id_of(app: &TestApp, email: &str) -> String {
    let found = app.admin().get("/api/auth/users").query("search", email).send().await.expect(200);
    found["data"][0]["id"].as_str().unwrap().to_owned()
}

/// Changes the user with this address as an admin.
pub(crate) async fn change_user(app: &TestApp, email: &str, change: latchkey_testkit::Value) {
    let id = id_of(app, email).await;
    app.admin().patch(&format!("/api/auth/users/{id}"), change).send().await.expect(200);
}

/// A code that differs from this one.
pub(crate) fn other_than(code: &str) -> &'static str {
    if code == "000000" { "111111" } else { "000000" }
}
