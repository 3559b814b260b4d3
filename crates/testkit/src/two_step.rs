//! Users with two-step sign-in, and the API calls about challenges.

use std::ops::Deref;

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::app::TestApp;
use crate::authenticator::Authenticator;
use crate::client::Client;
use crate::request::Request;
use crate::session::Session;
use crate::time::seconds;
use crate::users::User;

/// User with two-step sign-in. The session is the one that was opened when two-step sign-in was turned on.
pub struct TwoStepUser {
    user: User,
    /// Authenticator app of the only TOTP factor.
    pub authenticator: Authenticator,
    /// Id of the TOTP factor.
    pub factor_id: String,
    /// Unused recovery codes.
    pub recovery_codes: Vec<String>,
}

impl Deref for TwoStepUser {
    type Target = User;

    fn deref(&self) -> &User {
        &self.user
    }
}

impl TwoStepUser {
    /// Signs in with the password, from the user's own client address, up to the challenge for the second
    /// factor. Returns the challenge's id.
    pub async fn challenged(&self) -> String {
        challenge_id(&self.sign_in(&self.email, &self.password).without_header("authorization").send().await)
    }
}

impl TestApp {
    /// Signs up a user like [`TestApp::user`], and turns two-step sign-in on by a TOTP factor. The settings
    /// must require verified addresses, because two-step sign-in needs one. The clock advances by 30 seconds,
    /// so that the app's next code is accepted.
    pub async fn two_step_user(&self, name: &str) -> TwoStepUser {
        self.two_step_user_on(name, "web").await
    }

    /// Signs up a user like [`TestApp::two_step_user`], with another `client_type`.
    pub async fn two_step_user_on(&self, name: &str, client_type: &str) -> TwoStepUser {
        let user = self.user_on(name, client_type).await;
        let (authenticator, factor_id) = self.begin_totp(&user).await;
        let confirm = user.confirm_totp(&factor_id, &authenticator.code()).client_type(client_type);
        let answer = confirm.send().await;
        let recovery_codes = recovery_codes(&answer.expect(200));
        self.clock.advance(seconds(30));
        TwoStepUser {
            user: user.continued_by(Session::of(&answer)),
            authenticator,
            factor_id,
            recovery_codes,
        }
    }

    /// Begins the enrolment of a TOTP factor. Returns an authenticator app with the factor's secret, and the
    /// factor's id.
    pub async fn begin_totp(&self, client: &Client) -> (Authenticator, String) {
        let begun = client.post("/api/auth/factors/totp", json!({})).send().await.expect(200);
        let text = |name: &str| begun[name].as_str().unwrap().to_owned();
        (Authenticator::new(&text("secret"), &self.clock), text("factorId"))
    }
}

impl Client {
    /// Builds the request that confirms a TOTP factor.
    pub fn confirm_totp(&self, factor_id: &str, code: &str) -> Request {
        self.post("/api/auth/factors/totp/confirm", json!({"factorId": factor_id, "code": code}))
    }

    /// Builds the request that begins a reauthentication.
    pub fn reauthenticate(&self) -> Request {
        self.post("/api/auth/reauthenticate", json!({}))
    }

    /// Builds an answer to a challenge, with a code of this kind or with the password.
    pub fn answer(&self, challenge_id: &str, kind: &str, answer: &str) -> Request {
        let field = if kind == "password" { "password" } else { "code" };
        let body = json!({"challengeId": challenge_id, "kind": kind, field: answer});
        self.post("/api/auth/challenges/answer", body)
    }
}

/// Returns the id of the challenge in a response. Asserts that the response contains no tokens of a session.
#[must_use]
#[track_caller]
pub fn challenge_id(answer: &Answer) -> String {
    let body = answer.expect(200);
    assert_eq!(body.as_object().unwrap().keys().collect::<Vec<_>>(), ["challenge"], "{answer:?}");
    assert!(answer.set_cookies().is_empty(), "{answer:?}");
    body["challenge"]["id"].as_str().unwrap_or_else(|| panic!("no id: {answer:?}")).to_owned()
}

/// Returns the recovery codes in a response.
#[must_use]
#[track_caller]
pub fn recovery_codes(body: &Value) -> Vec<String> {
    let codes = body["recoveryCodes"].as_array().unwrap_or_else(|| panic!("no recovery codes: {body}"));
    codes.iter().map(|code| code.as_str().unwrap().to_owned()).collect()
}
