//! Tests of extractors, errors and middleware, through a small router with all layers.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

#[path = "foundation/app.rs"]
mod app;
#[path = "foundation/bodies.rs"]
mod bodies;
#[path = "foundation/cross_origin.rs"]
mod cross_origin;
#[path = "foundation/every_answer.rs"]
mod every_answer;
#[path = "foundation/limits.rs"]
mod limits;
#[path = "foundation/logs.rs"]
mod logs;
