//! The HTTP interface of Latchkey.
//!
//! | Module | Contents |
//! |---|---|
//! | [`api`] | the list of all endpoints |
//! | [`endpoint`], [`endpoints`] | the type of an endpoint; the endpoints with their handlers |
//! | [`router`], [`openapi`] | the router and the `OpenAPI` document, both derived from the list |
//! | [`app`], [`settings`] | shared state and settings |
//! | [`error`] | error codes and the JSON body of error responses |
//! | [`body`], [`query`], [`path`], [`entity_tags`] | bodies, parameters and conditional headers, parsed into types |
//! | [`admin_input`] | parameters and bodies of admin calls, which refuse unknown names |
//! | [`client`], [`bearer`], [`cookies`], [`caller`] | client, credentials, authentication |
//! | [`origin`], [`cors`] | the origin policy |
//! | [`json`], [`pages`] | responses: JSON and small HTML pages |
//! | [`middleware`] | the layers around the router |
//! | [`metrics`] | metrics of requests, and their exposition |
//! | [`serve`], [`readiness_gate`] | listeners, connections, graceful stop; 503 until the database is ready |

pub mod admin_input;
pub mod api;
pub mod app;
pub mod bearer;
pub mod body;
pub mod caller;
pub mod client;
pub mod cookies;
pub mod cors;
pub mod cursor;
pub mod endpoint;
pub mod endpoints;
pub mod entity_tags;
pub mod error;
pub mod json;
pub mod metrics;
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
