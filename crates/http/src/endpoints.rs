//! The endpoints: a file's path is the path of its route. Each holds its request, its response and its handlers;
//! field case and time format live in the response structs alone.

pub mod auth;
pub mod dev;
pub mod health;
pub mod home;
pub mod jwks;
pub mod openapi;
pub mod profiles;
