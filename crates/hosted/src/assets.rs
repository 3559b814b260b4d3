//! `GET /assets/{digest}/{file}`: style sheet, script, pictures and font. The digest of their contents is in the path, so
//! browsers keep them for a year.

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use latchkey_http::entity_tags::EntityTags;
use latchkey_pages::Assets;

use crate::errors::PageError;
use crate::hosted::Hosted;

pub(crate) const PATH: &str = "/assets/{digest}/{file}";

/// A state that has the files. Pages and console have the same ones.
pub(crate) trait HasAssets: Clone + Send + Sync + 'static {
    fn assets(&self) -> &Assets;
}

impl HasAssets for Hosted {
    fn assets(&self) -> &Assets {
        self.pages.assets()
    }
}

/// Builds the route of the files. They are no secret, so any `Host` gets them.
pub(crate) fn routes<S: HasAssets>() -> Router<S> {
    Router::new().route(PATH, get(send::<S>))
}

const CORP: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

async fn send<S: HasAssets>(
    State(state): State<S>,
    Path((digest, file)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let Some(asset) = state.assets().find(&digest, &file) else { return Err(PageError::not_found()) };
    let tag = format!("\"{digest}\"");
    let is_known = EntityTags::of(&headers, &IF_NONE_MATCH).is_some_and(|known| known.have_weakly(&tag));
    let tag = HeaderValue::try_from(tag).map_err(PageError::internal)?;
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(CONTENT_TYPE, asset.content_type)], Body::from(asset.bytes.to_vec())).into_response()
    };
    let headers = response.headers_mut();
    headers.extend([
        (CACHE_CONTROL, FOREVER),
        (ETAG, tag),
        (CORP, HeaderValue::from_static("same-origin")),
        (REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    ]);
    if let Some(policy) = asset.policy {
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    }
    Ok(response)
}
