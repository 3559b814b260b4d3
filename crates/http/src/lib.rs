//! The HTTP face of Latchkey: what stands under and around the endpoints.
//!
//! | Room | Holds |
//! |---|---|
//! | [`settings`] | what the layer is told from outside |
//! | [`error`] | the error catalogue and the one shape of every refusal |
//! | [`strict_json`], [`body`], [`query`], [`path`] | what requests carry, parsed at the door |
//! | [`admin_input`] | parameters and bodies of admin calls, where nothing unknown is ignored |
//! | [`client`], [`bearer`], [`cookies`] | who asks |
//! | [`origin`], [`cors`] | from which web pages |
//! | [`answer`], [`pages`] | what goes back: JSON and small HTML pages |
//! | [`edge`] | the layers around everything |
//! | [`openapi`] | the document of all of it |
//! | [`serve`], [`waiting`] | listeners, connections, graceful stop; what is answered without a database |

pub mod admin_input;
pub mod answer;
pub mod bearer;
pub mod body;
pub mod client;
pub mod cookies;
pub mod cors;
pub mod edge;
pub mod error;
pub mod origin;
pub mod pages;
pub mod path;
pub mod query;
pub mod serve;
pub mod settings;
pub mod strict_json;
pub mod waiting;

pub mod api;
pub mod app;
pub mod caller;
pub mod endpoint;
pub mod endpoints;
pub mod openapi;
pub mod router;
