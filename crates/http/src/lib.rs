//! The HTTP interface of Latchkey.
//!
//! | Module | Holds |
//! |---|---|
//! | [`api`] | the list of all endpoints |
//! | [`endpoint`], [`endpoints`] | the form of an endpoint; each with its handler |
//! | [`router`], [`openapi`] | the router and the document, made of the list |
//! | [`app`], [`settings`] | shared state and settings |
//! | [`error`] | the error catalogue and the one shape of every error response |
//! | [`strict_json`], [`body`], [`query`], [`path`] | bodies and parameters, parsed into types |
//! | [`admin_input`] | parameters and bodies of admin calls, where nothing unknown is ignored |
//! | [`client`], [`bearer`], [`cookies`], [`caller`] | client, credentials, authentication |
//! | [`origin`], [`cors`] | the origin policy |
//! | [`json`], [`pages`] | responses: JSON and small HTML pages |
//! | [`middleware`] | the layers around the router |
//! | [`serve`], [`readiness_gate`] | listeners, connections, graceful stop; 503 until the database is there |

pub mod admin_input;
pub mod api;
pub mod app;
pub mod bearer;
pub mod body;
pub mod caller;
pub mod client;
pub mod cookies;
pub mod cors;
pub mod endpoint;
pub mod endpoints;
pub mod error;
pub mod json;
pub mod middleware;
pub mod openapi;
pub mod origin;
pub mod pages;
pub mod path;
pub mod query;
pub mod readiness_gate;
pub mod router;
pub mod serve;
pub mod settings;
pub mod strict_json;
