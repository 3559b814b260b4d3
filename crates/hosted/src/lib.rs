//! The hosted pages over HTTP, for the end users of the service: under `/auth`, and in development the start page.
//!
//! The path determines the file: `/auth/sign-in` is `auth/sign_in.rs`. The use cases are those of the API, in
//! `latchkey_service`; texts and layout are in `latchkey_pages`.
//!
//! | Module | Contents |
//! |---|---|
//! | `list` | the list of all pages |
//! | `page` | the type of a page |
//! | [`router`], [`hosted`] | the router, derived from the list; the state that all pages share |
//! | `host`, `errors`, `response`, `language` | the check of `Host`; error pages; responses with their headers; choice of the language |
//! | `assets`, `start` | style sheet, script and pictures; the start page of development |

mod assets;
mod errors;
mod host;
pub mod hosted;
mod language;
mod list;
mod page;
mod response;
pub mod router;
mod start;

pub use hosted::Hosted;
pub use router::router;
