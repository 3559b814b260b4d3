//! Hosted pages over HTTP, for the people whose accounts these are: under `/auth`, and in development the start page.
//!
//! A path leads to its file: `/auth/sign-in` is `auth/sign_in.rs`. Use cases are those of the service, as in the API;
//! texts and layout are those of `latchkey_pages`.
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
