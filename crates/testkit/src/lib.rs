//! A complete service inside a test: a real socket, real storage in a temporary folder, and control over clock,
//! randomness and mailbox. A dev-dependency only, independent of the binary.
//!
//! | Modules | Content |
//! |---|---|
//! | [`app`], [`builder`], [`instance`] | [`TestApp`]: setup, lifecycle, restart |
//! | [`storage`], [`macros`] | storage engines, and [`both_stores!`], which runs a test on each |
//! | [`client`], [`request`], [`answer`] | requests, responses and assertions |
//! | [`session`], [`users`] | tokens of a response; signed-up users |
//! | [`mails`] | mailbox |
//! | [`provider`], [`visitor`] | misbehaving identity provider; minimal browser |
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
pub use latchkey_service::settings::EmailMethod;
pub use latchkey_store_suite::cluster as postgres;
pub use mails::{Mail, MailReader};
pub use provider::LyingProvider;
pub use request::Request;
pub use serde_json::{Value, json};
pub use session::Session;
pub use storage::Storage;
pub use time::{ManualClock, days, hours, minutes, seconds};
pub use users::User;
