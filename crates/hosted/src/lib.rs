//! The pages over HTTP: under `/auth` for the end users of the service, under `/console` for its operators, and in
//! development the start page.
//!
//! The path determines the file: `/auth/sign-in` is `auth/sign_in.rs`. The use cases are those of the API, in
//! `latchkey_service`; texts and layout are in `latchkey_pages`.
//!
//! | Module | Contents |
//! |---|---|
//! | `list`, `page` | the list of all pages; the type of a page |
//! | `auth`, `entrance`, `other_account` | the pages below `/auth`; the end of every way in; the notice of a session that ended by it |
//! | `console`, `common` | the console of operators, with its own list and state; what both states share |
//! | [`router`], [`hosted`], [`keys`] | the router, derived from the list; the state that all pages share; their keys |
//! | `visit`, `submission`, `fields`, `problem` | a request for a page; a form with its checks; its fields; its refusal |
//! | `flow`, `browser`, `sealed`, `form_token` | what a browser carries from page to page, and what binds it to that browser |
//! | `ceremony`, `set_up` | the forms of passkeys; secrets of new second factors |
//! | `provider` | the way to an identity provider and back |
//! | `host`, `errors`, `response`, `language` | the check of `Host`; error pages; headers; choice of the language |
//! | `assets`, `start` | style sheet, script and pictures; the start page of development |

mod assets;
mod auth;
mod browser;
mod ceremony;
mod common;
mod console;
mod entrance;
mod errors;
mod fields;
mod flow;
mod form_token;
mod host;
pub mod hosted;
pub mod keys;
mod language;
mod list;
mod other_account;
mod page;
mod problem;
mod provider;
mod response;
pub mod router;
mod sealed;
mod set_up;
mod start;
mod submission;
mod visit;

pub use console::{Console, ConsoleParts, Entry};
pub use hosted::Hosted;
pub use keys::PageKeys;
pub use router::{Routers, console_target, own_targets, page_routes, routers};
