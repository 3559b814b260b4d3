//! Responses of a browser to WebAuthn options, in the form of `toJSON()`. They are valid until a test changes a field.
//! The signature covers the data as changed.

use std::ops::{Deref, DerefMut};

use aws_lc_rs::digest::{SHA256, digest};
use serde_json::{Value, json};

use super::cbor::{bytes, map, text};
use super::device::{Device, Passkey, encoded, flags};

/// Data that both kinds of responses contain (registration and sign-in): client data and authenticator data.
#[derive(Clone)]
pub struct Statement {
    /// Client data as JSON object.
    pub client: Value,
    /// Bytes to send as client data in place of `client`.
    pub client_bytes: Option<Vec<u8>>,
    /// Relying party id whose hash is in the authenticator data.
    pub rp_id: String,
    pub flags: u8,
    pub counter: u32,
    /// Bytes appended to the authenticator data, such as extension outputs.
    pub appendix: Vec<u8>,
}

/// Response to creation options.
#[derive(Clone)]
pub struct Creation {
    /// The new passkey.
    pub passkey: Passkey,
    pub statement: Statement,
    pub aaguid: [u8; 16],
    /// Credential id in the authenticator data.
    pub attested_id: Vec<u8>,
    /// Public key in COSE form.
    pub key: Vec<u8>,
    /// Attestation: its format, and its statement in CBOR.
    pub attestation: (&'static str, Vec<u8>),
    /// Bytes to send as attestation object in place of the fields above.
    pub object: Option<Vec<u8>>,
    pub transports: Vec<&'static str>,
}

/// Response to request options.
#[derive(Clone)]
pub struct Assertion {
    /// The passkey that signs the assertion.
    pub passkey: Passkey,
    pub statement: Statement,
    pub user_handle: Option<Vec<u8>>,
    /// Bytes to send as signature in place of a valid one.
    pub signature: Option<Vec<u8>>,
}

impl Statement {
    /// Builds valid data with these flags besides those of the passkey.
    fn new(kind: &str, challenge: &str, passkey: &Passkey, flags: u8) -> Self {
        let Passkey { origin, rp_id, counter, .. } = passkey;
        Self {
            client: json!({"type": kind, "challenge": challenge, "origin": origin, "crossOrigin": false}),
            client_bytes: None,
            rp_id: rp_id.clone(),
            flags: passkey.flags | flags,
            counter: *counter,
            appendix: Vec::new(),
        }
    }

    /// Returns the first 37 bytes of the authenticator data: hash of the relying party id, flags, counter.
    fn head(&self) -> Vec<u8> {
        let hash = digest(&SHA256, self.rp_id.as_bytes());
        [hash.as_ref(), &[self.flags], &self.counter.to_be_bytes()].concat()
    }

    fn client_data(&self) -> Vec<u8> {
        self.client_bytes.clone().unwrap_or_else(|| self.client.to_string().into_bytes())
    }
}

impl Deref for Creation {
    type Target = Statement;

    fn deref(&self) -> &Statement {
        &self.statement
    }
}

impl DerefMut for Creation {
    fn deref_mut(&mut self) -> &mut Statement {
        &mut self.statement
    }
}

impl Deref for Assertion {
    type Target = Statement;

    fn deref(&self) -> &Statement {
        &self.statement
    }
}

impl DerefMut for Assertion {
    fn deref_mut(&mut self) -> &mut Statement {
        &mut self.statement
    }
}

impl Creation {
    pub(super) fn new(passkey: Passkey, device: &Device, challenge: &str) -> Self {
        Self {
            statement: Statement::new("webauthn.create", challenge, &passkey, flags::AT),
            aaguid: device.aaguid,
            attested_id: passkey.credential_id.clone(),
            key: passkey.pair.cose(),
            attestation: ("none", map(&[])),
            object: None,
            transports: device.transports.clone(),
            passkey,
        }
    }

    /// Encodes the authenticator data.
    pub fn authenticator_data(&self) -> Vec<u8> {
        let data = self.statement.head();
        if self.flags & flags::AT == 0 {
            return [data, self.appendix.clone()].concat();
        }
        let length = u16::try_from(self.attested_id.len()).unwrap().to_be_bytes();
        [&data[..], &self.aaguid, &length, &self.attested_id, &self.key, &self.appendix].concat()
    }

    /// Encodes the attestation object.
    pub fn attestation_object(&self) -> Vec<u8> {
        let (format, statement) = &self.attestation;
        self.object.clone().unwrap_or_else(|| {
            map(&[
                (text("fmt"), text(format)),
                (text("attStmt"), statement.clone()),
                (text("authData"), bytes(&self.authenticator_data())),
            ])
        })
    }

    /// Returns the response as `RegistrationResponseJSON` of WebAuthn.
    pub fn to_json(&self) -> Value {
        let client_data = self.statement.client_data();
        json!({
            "id": self.passkey.id(),
            "rawId": self.passkey.id(),
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {"credProps": {"rk": true}},
            "response": {
                "clientDataJSON": encoded(&client_data),
                "attestationObject": encoded(&self.attestation_object()),
                "authenticatorData": encoded(&self.authenticator_data()),
                "transports": self.transports,
                "publicKeyAlgorithm": -7,
                "publicKey": encoded(&self.key),
            },
        })
    }
}

impl Assertion {
    pub(super) fn new(passkey: Passkey, challenge: &str) -> Self {
        Self {
            statement: Statement::new("webauthn.get", challenge, &passkey, 0),
            user_handle: Some(passkey.user_handle.clone()),
            signature: None,
            passkey,
        }
    }

    /// Encodes the authenticator data.
    pub fn authenticator_data(&self) -> Vec<u8> {
        [self.statement.head(), self.appendix.clone()].concat()
    }

    /// Returns the response as `AuthenticationResponseJSON` of WebAuthn.
    pub fn to_json(&self) -> Value {
        let client_data = self.statement.client_data();
        let data = self.authenticator_data();
        let signature = self.signature.clone().unwrap_or_else(|| {
            let hash = digest(&SHA256, &client_data);
            self.passkey.pair.sign(&[&data, hash.as_ref()].concat())
        });
        let mut response = json!({
            "clientDataJSON": encoded(&client_data),
            "authenticatorData": encoded(&data),
            "signature": encoded(&signature),
        });
        if let Some(handle) = &self.user_handle {
            response["userHandle"] = Value::from(encoded(handle));
        }
        json!({
            "id": self.passkey.id(),
            "rawId": self.passkey.id(),
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": response,
        })
    }
}
