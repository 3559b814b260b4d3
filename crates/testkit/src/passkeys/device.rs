//! A user's device (browser and authenticator) that creates passkeys and signs in with them.

use std::sync::atomic::{AtomicU64, Ordering};

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use super::keys::{Pair, PasskeyAlgorithm};
use super::responses::{Assertion, Creation};

/// Flags of authenticator data (WebAuthn section 6.1).
pub mod flags {
    /// User present.
    pub const UP: u8 = 0x01;
    /// User verified.
    pub const UV: u8 = 0x04;
    /// Backup eligible: the passkey may be synced.
    pub const BE: u8 = 0x08;
    /// Backed up: the passkey is synced.
    pub const BS: u8 = 0x10;
    /// Attested credential data follows.
    pub const AT: u8 = 0x40;
    /// Extension outputs follow.
    pub const ED: u8 = 0x80;
}

/// Browser and authenticator of a user: by default, a phone that syncs its passkeys and has no signature
/// counter.
#[derive(Debug, Clone)]
pub struct Device {
    pub algorithm: PasskeyAlgorithm,
    /// Origin of the page that the browser shows.
    pub origin: String,
    /// Flags UP, UV, BE and BS of all assertions and registrations.
    pub flags: u8,
    /// Signature counter of new passkeys; 0 if the device has none.
    pub counter: u32,
    pub aaguid: [u8; 16],
    pub transports: Vec<&'static str>,
    /// Length of new credential ids in bytes.
    pub id_length: usize,
}

/// A passkey on a device.
#[derive(Clone)]
pub struct Passkey {
    /// Credential id.
    pub credential_id: Vec<u8>,
    pub rp_id: String,
    pub user_handle: Vec<u8>,
    pub origin: String,
    /// Flags UP, UV, BE and BS of its assertions.
    pub flags: u8,
    /// Signature counter of the last assertion; 0 if there is no counter.
    pub counter: u32,
    pub(super) pair: Pair,
}

impl Device {
    /// Creates a phone that syncs its passkeys and shows a page of this origin.
    pub fn at(origin: &str) -> Self {
        Self {
            algorithm: PasskeyAlgorithm::Es256,
            origin: origin.to_owned(),
            flags: flags::UP | flags::UV | flags::BE | flags::BS,
            counter: 0,
            aaguid: [0; 16],
            transports: vec!["hybrid", "internal"],
            id_length: 32,
        }
    }

    /// Creates a USB security key for pages of this origin. Its passkeys cannot be synced and have a signature
    /// counter.
    pub fn security_key_at(origin: &str) -> Self {
        let (flags, transports) = (flags::UP | flags::UV, vec!["usb"]);
        Self { flags, counter: 1, transports, ..Self::at(origin) }
    }

    /// Returns the same device with another signature algorithm.
    #[must_use]
    pub fn with(self, algorithm: PasskeyAlgorithm) -> Self {
        Self { algorithm, ..self }
    }

    /// Creates a passkey by creation options. The response is valid until a test changes its fields.
    #[track_caller]
    pub fn create(&self, options: &Value) -> Creation {
        let passkey = Passkey {
            credential_id: new_credential_id(self.id_length),
            rp_id: text(&options["rp"]["id"]),
            user_handle: decoded(&options["user"]["id"]),
            origin: self.origin.clone(),
            flags: self.flags,
            counter: self.counter,
            pair: Pair::generate(self.algorithm),
        };
        Creation::new(passkey, self, &text(&options["challenge"]))
    }
}

impl Passkey {
    /// Returns the credential id in base64url.
    pub fn id(&self) -> String {
        encoded(&self.credential_id)
    }

    /// Signs an assertion by request options. The response is valid until a test changes its fields. A signature
    /// counter increases.
    #[track_caller]
    pub fn sign(&mut self, options: &Value) -> Assertion {
        if self.counter > 0 {
            self.counter += 1;
        }
        Assertion::new(self.clone(), &text(&options["challenge"]))
    }
}

/// Encodes bytes in base64url.
pub fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

#[track_caller]
fn decoded(value: &Value) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text(value)).expect("base64url without padding")
}

#[track_caller]
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text in the options: {value}")).to_owned()
}

/// Returns the bytes of a credential id that is unique in this process.
fn new_credential_id(length: usize) -> Vec<u8> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let hash = digest(&SHA256, &number.to_be_bytes());
    hash.as_ref().iter().copied().cycle().take(length).collect()
}
