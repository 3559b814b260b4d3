//! The endpoints: a file's path is the path of its route. Each file has the endpoint's request, response and handlers.
//! The response structs alone define field case and time format.

pub mod auth;
pub mod dev;
pub mod health;
pub mod jwks;
pub mod openapi;
pub mod profiles;
pub mod webauthn;

use serde::Serialize;
use utoipa::ToSchema;

use crate::openapi::fields;

/// A response that contains only a message for people.
#[derive(Serialize, ToSchema)]
#[schema(as = Message)]
pub struct MessageBody {
    #[schema(schema_with = fields::message)]
    pub(crate) message: &'static str,
}
