//! The black-box suite: a whole service on a socket, HTTP and mail only. A file per subject, a fact per test, every
//! fact on every storage engine. How to write one, and which row of the contract is tested where: `../README.md`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
#![allow(clippy::unchecked_time_subtraction, reason = "`days(30) - seconds(1)` reads best")]
#![allow(clippy::redundant_closure_for_method_calls, reason = "`with(|b| …)` reads the same everywhere")]

#[path = "../oidc/certified.rs"]
mod certified;

mod admin_input;
mod admin_settings;
mod admin_user_changes;
mod admin_user_list;
mod admin_users;
mod anon_key;
mod audit;
mod audit_admin;
mod audit_trail;
mod change_password;
mod clocks;
mod codes;
mod contested;
mod cors;
mod csrf;
mod csrf_token;
mod email_addresses;
mod email_calls;
mod enumeration;
mod forged_tokens;
mod hostile;
mod hostile_reading;
mod hostile_values;
mod http_rules;
mod json_rules;
mod keys;
mod limits;
mod limits_mail;
mod limits_sign_in;
mod links;
mod mails;
mod oauth_accounts;
mod oauth_calls;
mod oauth_certified;
mod oauth_configs;
mod oauth_exchange;
mod oauth_flow;
mod oauth_lies;
mod oauth_links;
mod oauth_microsoft;
mod oauth_native;
mod oauth_outbound;
mod oauth_returns;
mod oauth_state;
mod openapi;
mod outbox;
mod overload;
mod passwords;
mod profile_etags;
mod profile_fields;
mod profiles;
mod query_rules;
mod races;
mod raw_http;
mod redirect_list;
mod redirects;
mod refresh;
mod refresh_channels;
mod refresh_model;
mod remembered_tokens;
mod resend;
mod reset_links;
mod reset_password;
mod round_trips;
mod routes;
mod schema;
mod search;
mod search_feed;
mod search_index;
mod search_matching;
mod search_oracle;
mod sessions;
mod set_profile;
mod sign_in;
mod sign_out;
mod sign_up;
mod sign_up_pending;
mod smtp;
mod verify_email;
