//! A complete service inside a test: a real socket, real storage in a temporary folder, and control over clock,
//! randomness and mailbox. The crate is a dev-dependency only and does not use the binary.
//!
//! | Modules | Content |
//! |---|---|
//! | [`app`], [`builder`], [`instance`] | [`TestApp`]: setup, lifecycle, restart |
//! | [`storage`], [`macros`] | storage engines, and [`both_stores!`], which runs a test on each |
//! | [`client`], [`request`], [`answer`] | requests, responses and assertions |
//! | [`session`], [`users`] | tokens of a response; signed-up users |
//! | [`authenticator`], [`two_step`] | TOTP codes; users with two-step sign-in, challenges |
//! | [`passkeys`] | browser and authenticator in software; users with a passkey |
//! | [`imported`], [`exports`] | accounts with hashes from elsewhere; exports with secrets |
//! | [`mails`] | mailbox |
//! | [`provider`], [`visitor`] | misbehaving identity provider; minimal browser |
//! | [`browser`], [`console`] | browser for the hosted pages; the console of operators |
//! | [`time`], [`entropy`] | manual clock, deterministic randomness |
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::needless_pass_by_value,
    reason = "test code: a helper that cannot go on fails the test, and calls should read easily"
)]

pub mod answer;
pub mod app;
pub mod authenticator;
pub mod browser;
pub mod builder;
pub mod client;
pub mod console;
pub mod entropy;
pub mod exports;
pub mod imported;
pub mod instance;
pub mod macros;
pub mod mails;
pub mod passkeys;
pub mod provider;
pub mod record;
pub mod request;
pub mod session;
pub mod storage;
pub mod time;
pub mod two_step;
pub mod users;
pub mod visitor;

pub use answer::Answer;
pub use app::TestApp;
pub use authenticator::{Authenticator, totp_code};
pub use browser::Browser;
pub use builder::{ADMIN_KEY, ANON_KEY, PASSWORD, TestAppBuilder};
pub use client::Client;
pub use console::Listener;
pub use latchkey_service::settings::{EmailMethod, EmailSignIn};
pub use latchkey_store_suite::cluster as postgres;
pub use mails::{Mail, MailReader};
pub use passkeys::{Assertion, Ceremony, Creation, Device, Passkey, PasskeyAlgorithm, PasskeyUser};
pub use provider::LyingProvider;
pub use request::Request;
pub use serde_json::{Value, json};
pub use session::Session;
pub use storage::Storage;
pub use time::{ManualClock, days, hours, minutes, seconds};
pub use two_step::{TwoStepUser, challenge_id, recovery_codes};
pub use users::User;
