//! Tests of the real binary in a temporary folder: start, stop, refused starts, commands, and the state after a kill.
//! Responses of the service are tested in `../it`; `../README.md` explains how to write a test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::must_use_candidate, reason = "tests")]
#![allow(unreachable_pub, reason = "one crate; `pub` reads easier")]

#[path = "../oidc/certified.rs"]
mod certified;

mod backup;
mod backup_folder;
mod binary;
mod commands;
mod copy;
mod crash;
mod crash_deletion;
mod crash_email;
mod crash_pages;
mod crowd;
mod dev_mail;
mod exports;
mod faults;
mod files;
mod files_lost;
mod hints;
mod imports;
mod imports_again;
mod imports_formats;
mod imports_killed;
mod imports_stopped;
mod install;
mod instances;
mod log_fields;
mod logs;
mod metrics;
mod migrate;
mod neighbours;
mod oauth;
mod operators;
mod outbox;
mod pages;
mod postgres;
mod preflight;
mod refusals;
mod reports;
mod restore;
mod rights;
mod run_time;
mod scope;
mod secret;
mod settings;
mod signals;
mod start;
mod start_errors;
mod terminal;
mod traces;
mod upkeep;
mod waiting;
