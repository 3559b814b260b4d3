//! Passkeys for tests (WebAuthn Level 3): a browser with an authenticator in software, and the API calls about
//! passkeys. It shares no code with the service.

pub mod cbor;
mod device;
mod keys;
mod responses;

pub use device::{Device, Passkey, encoded, flags};
pub use keys::{PasskeyAlgorithm, ed25519_key, modulus_of, p256_key, rsa_key};
pub use responses::{Assertion, Creation, Statement};

use std::ops::Deref;

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::client::Client;
use crate::request::Request;
use crate::users::User;

/// WebAuthn ceremony (registration or sign-in) that a call has begun, as in the body of its response.
#[derive(Debug, Clone)]
pub struct Ceremony {
    /// Value of `ceremonyId`.
    pub id: String,
    /// Value of `options`, for the browser.
    pub options: Value,
}

impl Ceremony {
    /// Reads the ceremony from the body of a response.
    #[must_use]
    #[track_caller]
    pub fn of(body: &Value) -> Self {
        let id = body["ceremonyId"].as_str().unwrap_or_else(|| panic!("no ceremony: {body}")).to_owned();
        Self { id, options: body["options"].clone() }
    }
}

/// User with a passkey. The session is the one that the sign-up opened.
pub struct PasskeyUser {
    user: User,
    /// The passkey on the user's phone.
    pub passkey: Passkey,
    /// Id of the passkey in the API.
    pub passkey_id: String,
}

impl Deref for PasskeyUser {
    type Target = User;

    fn deref(&self) -> &User {
        &self.user
    }
}

impl TestApp {
    /// Returns a phone that syncs its passkeys, on a page of this service.
    pub fn phone(&self) -> Device {
        Device::at(self.public_url())
    }

    /// Returns a security key with a signature counter, on a page of this service.
    pub fn security_key(&self) -> Device {
        Device::security_key_at(self.public_url())
    }

    /// Signs up a user like [`TestApp::user`], and registers a passkey on a phone.
    pub async fn passkey_user(&self, name: &str) -> PasskeyUser {
        self.passkey_user_on(name, &self.phone()).await
    }

    /// Signs up a user like [`TestApp::passkey_user`], with the passkey on this device.
    pub async fn passkey_user_on(&self, name: &str, device: &Device) -> PasskeyUser {
        let user = self.user(name).await;
        let (passkey, passkey_id) = user.add_passkey(device).await;
        PasskeyUser { user, passkey, passkey_id }
    }
}

impl Client {
    /// Builds a request for WebAuthn creation options.
    pub fn creation_options(&self) -> Request {
        self.post("/api/auth/passkeys/registration-options", json!({}))
    }

    /// Begins a registration.
    pub async fn begin_passkey(&self) -> Ceremony {
        Ceremony::of(&self.creation_options().send().await.expect(200))
    }

    /// Builds the request that completes a registration.
    pub fn register_passkey(&self, ceremony_id: &str, credential: &Value) -> Request {
        self.post("/api/auth/passkeys", json!({"ceremonyId": ceremony_id, "credential": credential}))
    }

    /// Registers a passkey. Returns the passkey and its id in the API.
    pub async fn add_passkey(&self, device: &Device) -> (Passkey, String) {
        let begun = self.begin_passkey().await;
        let creation = device.create(&begun.options);
        let body = self.register_passkey(&begun.id, &creation.to_json()).send().await.expect(200);
        (creation.passkey, body["passkey"]["id"].as_str().expect("an id").to_owned())
    }

    /// Builds a request for WebAuthn request options.
    pub fn request_options(&self) -> Request {
        self.post("/api/auth/passkeys/authentication-options", json!({}))
    }

    /// Begins a sign-in by passkey.
    pub async fn begin_passkey_sign_in(&self) -> Ceremony {
        Ceremony::of(&self.request_options().send().await.expect(200))
    }

    /// Builds the request that completes a sign-in by passkey.
    pub fn end_passkey_sign_in(&self, ceremony_id: &str, credential: &Value) -> Request {
        let body = json!({"ceremonyId": ceremony_id, "credential": credential});
        self.post("/api/auth/passkeys/sign-in", body)
    }

    /// Begins a sign-in by passkey, and builds the request that completes it.
    pub async fn sign_in_by_passkey(&self, passkey: &mut Passkey) -> Request {
        let begun = self.begin_passkey_sign_in().await;
        self.end_passkey_sign_in(&begun.id, &passkey.sign(&begun.options).to_json())
    }

    /// Builds a request for the options of an answer to a challenge by passkey.
    pub fn challenge_options(&self, challenge_id: &str) -> Request {
        self.post("/api/auth/challenges/passkey-options", json!({"challengeId": challenge_id}))
    }

    /// Builds an answer to a challenge by an assertion.
    pub fn answer_by_passkey(&self, challenge_id: &str, credential: &Value) -> Request {
        let body = json!({"challengeId": challenge_id, "kind": "passkey", "credential": credential});
        self.post("/api/auth/challenges/answer", body)
    }
}
