//! `GET /api/profiles/search`: searches profiles by name, username and bio.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use http::{HeaderName, StatusCode};
use latchkey_domain::reason::Reason;
use latchkey_domain::search::{SearchQuery, SearchQueryError};
use latchkey_service::refusal::MISSING_QUERY;

use super::PublicProfileBody;
use crate::app::App;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::error::{ApiError, Result, codes};
use crate::json::Json;
use crate::openapi::shapes::PublicProfiles;
use crate::openapi::{headers, parameters};
use crate::query::{Query, page_of};

const TOTAL_COUNT: HeaderName = HeaderName::from_static("x-total-count");
const PAGE: HeaderName = HeaderName::from_static("x-page");
const PAGE_SIZE: HeaderName = HeaderName::from_static("x-page-size");

pub const SEARCH: Endpoint = Endpoint::get("/api/profiles/search", |method| on(method, get))
    .named("searchProfiles", "Search profiles")
    .about(
        "By name, username and bio, without regard to case and accents. Whole names and usernames come first, then \
         what begins with the text, then the rest; among equals the newest first.",
    )
    .access(Access::Public)
    .parameters(&[parameters::search_text, parameters::limit, parameters::offset])
    .responds_with::<PublicProfiles>(
        StatusCode::OK,
        "A page of profiles; empty beyond the last match.",
        &[headers::X_TOTAL_COUNT, headers::X_PAGE, headers::X_PAGE_SIZE],
    )
    .errors(&[&codes::MISSING_QUERY, &codes::TOO_MANY_REQUESTS]);

pub async fn get(State(app): State<App>, client: ClientInfo, query: Query) -> Result<Response> {
    let text = query.optional("q")?.unwrap_or_default();
    let search = SearchQuery::parse(&text).map_err(refusal)?;
    let page = page_of(query.optional("limit")?.as_deref(), query.optional("offset")?.as_deref())?;

    let hits = app.service.search.find(&search, page, &client.to_domain()).await?;
    let headers = [
        (TOTAL_COUNT, hits.total.to_string()),
        (PAGE, page.number().to_string()),
        (PAGE_SIZE, page.limit().to_string()),
    ];
    let profiles: Vec<_> = hits.profiles.into_iter().map(PublicProfileBody::from).collect();
    Ok((headers, Json(profiles)).into_response())
}

fn refusal(error: SearchQueryError) -> ApiError {
    match error {
        SearchQueryError::Missing => (&MISSING_QUERY).into(),
        SearchQueryError::TooLong => ApiError::validation("q", &error.to_string()).reason(Reason::TooLong),
    }
}
