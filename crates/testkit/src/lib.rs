//! A whole service inside a test: a real socket, real storage in a temporary folder, and everything that a test wants
//! to hold in its hand: the clock, randomness, the mailbox. A dev-dependency only; it knows nothing of the binary.
//!
//! | Room | Holds |
//! |---|---|
//! | [`app`], [`builder`], [`instance`] | [`TestApp`]: how it is put together, runs, restarts |
//! | [`storage`], [`macros`] | the engines, and [`both_stores!`], which runs a fact on each of them |
//! | [`client`], [`request`], [`answer`] | requests as a test writes them, and what it asserts of answers |
//! | [`session`], [`users`] | the tokens of an answer; users that are signed up and in |
//! | [`mails`] | the mailbox |
//! | [`provider`], [`visitor`] | an identity provider that lies when told to; somebody with a browser |
//! | [`time`], [`entropy`] | the clock that stands still, the randomness that repeats |
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
pub mod builder;
pub mod client;
pub mod entropy;
pub mod instance;
pub mod macros;
pub mod mails;
pub mod provider;
mod record;
pub mod request;
pub mod session;
pub mod storage;
pub mod time;
pub mod users;
pub mod visitor;

pub use answer::Answer;
pub use app::TestApp;
pub use builder::{ADMIN_KEY, ANON_KEY, PASSWORD, TestAppBuilder};
pub use client::Client;
pub use latchkey_service::settings::{EmailMethod, SettingKey};
pub use latchkey_store_suite::cluster as postgres;
pub use mails::{Mail, MailReader};
pub use provider::LyingProvider;
pub use request::Request;
pub use serde_json::{Value, json};
pub use session::Session;
pub use storage::Storage;
pub use time::{ManualClock, days, hours, minutes, seconds};
pub use users::User;
