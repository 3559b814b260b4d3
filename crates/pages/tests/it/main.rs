//! Facts about the rendered pages.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail by panic")]

mod budgets;
mod console;
mod escaping;
mod languages;
mod markup;
mod preview;
mod support;
mod templates;
