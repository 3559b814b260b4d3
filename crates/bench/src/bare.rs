//! Baseline: an axum server with a single route that returns a body of a requested size.

use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use axum::extract::Path;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::any;

use crate::error::{BenchError, Result};

/// Serves `/bytes/{size}` until the process is killed.
pub(crate) fn serve(port: u16) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = tokio::net::TcpListener::bind(address).await?;
        let router = Router::new().route("/bytes/{size}", any(response));
        axum::serve(listener, router).await.map_err(BenchError::other)
    })
}

async fn response(Path(size): Path<usize>) -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json; charset=utf-8")], vec![b'x'; size])
}
